%% One message to and fro, or round and round: `ask-latency`, and Savina's Ping Pong and Thread Ring.
-module(passing).
-behaviour(program).
-behaviour(gen_server).
-export([programs/0, run/3]).
-export([init/1, handle_call/3, handle_cast/2]).

programs() ->
    [{"ask-latency", "erlang", 1, "a process asks another with a reference, which comes back with the answer"},
     {"ask-latency", "erlang-gen", 1, "a process asks a gen_server with gen_server:call"},
     {"ping-pong", "erlang", 1, "ping sends, pong answers"},
     {"thread-ring", "erlang", 1, "a ring of processes, one token"}].

run("ask-latency", "erlang", #{asks := Asks}) ->
    answers(Asks, fun() ->
        Server = spawn_link(fun server/0),
        ask(Server, Asks, 0)
    end);
run("ask-latency", "erlang-gen", #{asks := Asks}) ->
    answers(Asks, fun() ->
        {ok, Server} = gen_server:start_link(?MODULE, [], []),
        call(Server, Asks, 0)
    end);
run("ping-pong", _, #{messages := Messages}) ->
    Main = self(),
    answers(Messages, fun() ->
        Pong = spawn_link(fun pong/0),
        spawn_link(fun() -> Main ! {pongs, ping(Pong, Messages, 0)} end),
        kit:gather(pongs, 1)
    end);
run("thread-ring", _, #{actors := Actors, hops := Hops}) ->
    Main = self(),
    answers(Hops, fun() ->
        Head = spawn_link(fun() -> receive {next, Next} -> link_of_ring(Next, Main, Hops) end end),
        Last = lists:foldl(fun(_, Next) -> spawn_link(fun() -> link_of_ring(Next, Main, Hops) end) end,
                           Head, lists:seq(2, Actors)),
        Head ! {next, Last},
        Head ! {token, 0},
        kit:gather(hops, 1)
    end).

answers(Operations, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => Operations, result => Result}.

ask(_, 0, Answers) -> Answers;
ask(Server, Asks, Answers) ->
    Reference = make_ref(),
    Server ! {ask, Reference, self()},
    receive {Reference, answer} -> ask(Server, Asks - 1, Answers + 1) end.

server() ->
    receive
        {ask, Reference, From} ->
            From ! {Reference, answer},
            server()
    end.

call(_, 0, Answers) -> Answers;
call(Server, Asks, Answers) ->
    answer = gen_server:call(Server, ask, infinity),
    call(Server, Asks - 1, Answers + 1).

init([]) -> {ok, none}.

handle_call(ask, _, State) -> {reply, answer, State}.

handle_cast(_, State) -> {noreply, State}.

ping(_, 0, Pongs) -> Pongs;
ping(Pong, Messages, Pongs) ->
    Pong ! {ping, self()},
    receive pong -> ping(Pong, Messages - 1, Pongs + 1) end.

pong() ->
    receive
        {ping, From} ->
            From ! pong,
            pong()
    end.

%% The token carries the hops that it has made.
link_of_ring(Next, Main, Hops) ->
    receive
        {token, Made} when Made < Hops ->
            Next ! {token, Made + 1},
            link_of_ring(Next, Main, Hops);
        {token, Made} ->
            Main ! {hops, Made}
    end.
