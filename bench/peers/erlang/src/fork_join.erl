%% Processes that are made, work and end: Savina's Fibonacci and Fork-Join.
-module(fork_join).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"fibonacci", "erlang", 1, "a process a call"},
     {"fork-join-create", "erlang", 1, "a process a task"},
     {"fork-join-throughput", "erlang", 1, "messages in turn to a few processes"}].

run("fibonacci", _, #{n := Number}) ->
    Main = self(),
    measure(1, fun() ->
        spawn(fun() -> fibonacci(Number, Main) end),
        kit:gather(fibonacci, 1)
    end);
run("fork-join-create", _, #{workers_n := Workers}) ->
    Main = self(),
    measure(Workers, fun() ->
        [spawn(fun() -> receive {compute, Angle} -> Main ! {counted, compute(Angle)} end end) ! {compute, 37.2}
         || _ <- lists:seq(1, Workers)],
        kit:gather(counted, Workers)
    end);
run("fork-join-throughput", _, #{actors := Actors, messages := Messages}) ->
    Main = self(),
    measure(Actors * Messages, fun() ->
        Processes = [kit:spawn_inbox(fun() -> Main ! {handled, handle(Messages, 0)} end)
                     || _ <- lists:seq(1, Actors)],
        [[Process ! {compute, Number, 37.2} || Process <- Processes] || Number <- lists:seq(1, Messages)],
        kit:gather(handled, Actors)
    end).

measure(Operations, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => Operations, result => Result}.

fibonacci(Number, Parent) when Number =< 2 -> Parent ! {fibonacci, 1};
fibonacci(Number, Parent) ->
    Self = self(),
    spawn(fun() -> fibonacci(Number - 1, Self) end),
    spawn(fun() -> fibonacci(Number - 2, Self) end),
    Parent ! {fibonacci, kit:gather(fibonacci, 2)}.

handle(0, Handled) -> Handled;
handle(Left, Handled) ->
    receive {compute, _, Angle} -> handle(Left - 1, Handled + compute(Angle)) end.

%% The angle comes by message: of a constant, the compiler would compute the sine.
compute(Angle) ->
    Sine = math:sin(Angle),
    if Sine * Sine > 0.0 -> 1; true -> 0 end.
