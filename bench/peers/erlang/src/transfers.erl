%% Transfers that check both accounts, by the actor protocol: `reasonable-banking`, and `busy-banking` with work in each.
-module(transfers).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{Workload, "erlang", 1, "processes for accounts, tellers and each transfer's manager; acquire, vote, commit"}
     || Workload <- ["reasonable-banking", "busy-banking"]].

run(_, _, #{accounts := Accounts, transfers := Transfers, tellers := Tellers, start := Start} = Parameters) ->
    Work = maps:get(work, Parameters, 0),
    Share = kit:share(Transfers, Tellers),
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            All = list_to_tuple([spawn_link(fun() -> account(Start, Work) end) || _ <- lists:seq(1, Accounts)]),
            [spawn_link(fun() -> teller(All, Share(Index), Index + 1, Main) end) || Index <- lists:seq(0, Tellers - 1)],
            Transfers = kit:gather(completed, Transfers),
            [Account ! {balance, Main} || Account <- tuple_to_list(All)],
            kit:gather(balance, Accounts)
        end),
    #{elapsed => Elapsed, operations => Transfers, result => Result}.

%% Both accounts are acquired in the order of their numbers, which keeps tellers from locking each other.
teller(_, 0, _, _) -> ok;
teller(All, Transfers, Random, Main) ->
    Accounts = tuple_size(All),
    {From, Random1} = kit:below(Accounts, Random),
    {Drawn, Random2} = kit:below(Accounts, Random1),
    {Amount, Random3} = kit:below(1000, Random2),
    To = if Drawn =:= From -> (Drawn + 1) rem Accounts; true -> Drawn end,
    Source = element(From + 1, All),
    Destination = element(To + 1, All),
    Manager = spawn_link(fun() -> manager(Source, Destination, Amount, Main) end),
    acquire(element(min(From, To) + 1, All), Manager),
    acquire(element(max(From, To) + 1, All), Manager),
    Manager ! acquired,
    teller(All, Transfers - 1, Random3, Main).

acquire(Account, Manager) ->
    Reference = make_ref(),
    Account ! {acquire, Manager, Reference, self()},
    receive {Reference, acquired} -> ok end.

manager(Source, Destination, Amount, Main) ->
    receive acquired -> ok end,
    Source ! {debit, self(), Amount},
    Destination ! {credit, self(), Amount},
    Decision = case {vote(Source), vote(Destination)} of
                   {yes, yes} -> commit;
                   _ -> abort
               end,
    Source ! {Decision, self()},
    Destination ! {Decision, self()},
    receive {completed, Source} -> ok end,
    receive {completed, Destination} -> ok end,
    Main ! {completed, 1}.

vote(Account) -> receive {vote, Account, Vote} -> Vote end.

%% An account that is acquired hears its manager alone; who else wants it waits in the mailbox.
account(Balance, Work) ->
    receive
        {acquire, Manager, Reference, Teller} ->
            Teller ! {Reference, acquired},
            account(acquired(Manager, Balance, Work), Work);
        {balance, From} ->
            From ! {balance, Balance}
    end.

acquired(Manager, Balance, Work) ->
    receive
        {debit, Manager, Amount} when Amount =< Balance ->
            Manager ! {vote, self(), yes},
            decided(Manager, Balance, Balance - Amount, Work);
        {debit, Manager, _} ->
            Manager ! {vote, self(), no},
            decided(Manager, Balance, Balance, Work);
        {credit, Manager, Amount} ->
            Manager ! {vote, self(), yes},
            decided(Manager, Balance, Balance + Amount, 0)
    end.

decided(Manager, Before, After, Work) ->
    Balance = receive
                  {commit, Manager} -> After;
                  {abort, Manager} -> Before
              end,
    %% The work of a transfer is done once, where the money comes from.
    Work > 0 andalso kit:busy(Work),
    Manager ! {completed, self()},
    Balance.
