%% Rings with a token each: `ring-nfold-*`. The machine has no groups: its schedulers decide where a ring runs.
-module(rings).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"ring-nfold-" ++ Size, "erlang", 1, "rings of processes, one token each; the schedulers place them"}
     || Size <- ["100", "1000", "10000"]].

run(_, _, #{rings := Rings, nodes := Nodes, hops := Hops}) ->
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            [spawn_link(fun() -> head(Nodes, Hops, Main) end) || _ <- lists:seq(1, Rings)],
            kit:gather(hops, Rings)
        end),
    #{elapsed => Elapsed, operations => Rings * Hops, result => Result}.

%% The first node of a ring makes the others, and starts the token, which carries the hops that it has made.
head(Nodes, Hops, Main) ->
    Self = self(),
    Next = lists:foldl(fun(_, Next) -> spawn_link(fun() -> node(Next, Hops, Main) end) end, Self, lists:seq(2, Nodes)),
    Self ! {token, 0},
    node(Next, Hops, Main).

node(Next, Hops, Main) ->
    receive
        {token, Made} when Made < Hops ->
            Next ! {token, Made + 1},
            node(Next, Hops, Main);
        {token, Made} ->
            Main ! {hops, Made}
    end.
