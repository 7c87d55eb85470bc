%% Savina's Banking.
-module(tellers).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"banking", "erlang", 1, "a process an account, which waits for its deposit's answer by reference"}].

run(_, _, #{accounts := Accounts, transactions := Transactions}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            spawn_link(fun() -> Main ! {balances, teller(Accounts, Transactions)} end),
            kit:gather(balances, 1)
        end),
    #{elapsed => Elapsed, operations => Transactions, result => Result}.

teller(Accounts, Transactions) ->
    All = list_to_tuple([spawn_link(fun() -> account(0) end) || _ <- lists:seq(1, Accounts)]),
    send(All, Transactions, 74755),
    Transactions = kit:gather(transferred, Transactions),
    [element(Index, All) ! {balance, self(), Index} || Index <- lists:seq(1, Accounts)],
    kit:gather(balance, Accounts).

send(_, 0, _) -> ok;
send(All, Transactions, Random) ->
    Accounts = tuple_size(All),
    {Source, Random1} = kit:below(Accounts * 8 div 10, Random),
    {Drawn, Random2} = kit:below(Accounts - Source, Random1),
    {Amount, Random3} = kit:below(1000, Random2),
    Destination = Source + max(Drawn, 1),
    element(Source + 1, All) ! {transfer, Amount + 1, element(Destination + 1, All), self()},
    send(All, Transactions - 1, Random3).

account(Balance) ->
    receive
        {transfer, Amount, Destination, Teller} ->
            Reference = make_ref(),
            Destination ! {deposit, Amount, Reference, self()},
            %% Money goes to higher numbers only, so waiting for this answer alone cannot lock.
            receive {Reference, deposited} -> ok end,
            Teller ! {transferred, 1},
            account(Balance - Amount);
        {deposit, Amount, Reference, From} ->
            From ! {Reference, deposited},
            account(Balance + Amount);
        {balance, Teller, Weight} ->
            Teller ! {balance, Weight * Balance},
            account(Balance)
    end.
