%% A tree of ten children each: `skynet` (all live until the clock stops) and `skynet-stop` (all have ended by then).
-module(skynet).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"skynet", "erlang", 1, "a process a node, which sends its sum to its parent and waits"},
     {"skynet-stop", "erlang", 1, "a process a node, which its parent monitors: its exit brings the sum"}].

run("skynet", _, #{leaves := Leaves}) ->
    Main = self(),
    measure(Leaves, fun() ->
        spawn(fun() -> living(Main, 0, Leaves) end),
        kit:gather(sum, 1)
    end);
run("skynet-stop", _, #{leaves := Leaves}) ->
    measure(Leaves, fun() ->
        {_, Monitor} = spawn_monitor(fun() -> ending(0, Leaves) end),
        ended([Monitor], 0)
    end).

measure(Leaves, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => nodes_below(Leaves), result => Result}.

nodes_below(1) -> 1;
nodes_below(Leaves) -> Leaves + nodes_below(Leaves div 10).

living(Parent, Number, 1) ->
    Parent ! {sum, Number},
    wait();
living(Parent, Number, Leaves) ->
    Self = self(),
    Size = Leaves div 10,
    [spawn(fun() -> living(Self, First, Size) end) || First <- lists:seq(Number, Number + Leaves - 1, Size)],
    Parent ! {sum, kit:gather(sum, 10)},
    wait().

wait() -> receive stop -> ok end.

%% An exit with the sum as its reason is the answer and the news of the end in one.
ending(Number, 1) -> exit({sum, Number});
ending(Number, Leaves) ->
    Size = Leaves div 10,
    Children = [spawn_monitor(fun() -> ending(First, Size) end)
                || First <- lists:seq(Number, Number + Leaves - 1, Size)],
    exit({sum, ended([Monitor || {_, Monitor} <- Children], 0)}).

ended([], Sum) -> Sum;
ended([Monitor | Rest], Sum) ->
    receive {'DOWN', Monitor, process, _, {sum, Number}} -> ended(Rest, Sum + Number) end.
