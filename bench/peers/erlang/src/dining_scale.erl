%% Philosophers that hold both forks while they eat: `dining-scale`.
-module(dining_scale).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"dining-scale", "erlang", 1, "a process a philosopher and a fork; the fork of the lower number is taken first"}].

run(_, _, #{philosophers := Philosophers, meals := Meals, work := Work}) ->
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            Forks = list_to_tuple([spawn_link(fun fork/0) || _ <- lists:seq(1, Philosophers)]),
            [begin
                 Right = Left rem Philosophers + 1,
                 First = element(min(Left, Right), Forks),
                 Second = element(max(Left, Right), Forks),
                 spawn_link(fun() -> Main ! {meals, eat(First, Second, Meals, Work, 0)} end)
             end || Left <- lists:seq(1, Philosophers)],
            kit:gather(meals, Philosophers)
        end),
    #{elapsed => Elapsed, operations => Philosophers * Meals, result => Result}.

eat(_, _, Meals, _, Meals) -> Meals;
eat(First, Second, Meals, Work, Eaten) ->
    take(First),
    take(Second),
    kit:busy(Work),
    First ! {put_down, self()},
    Second ! {put_down, self()},
    eat(First, Second, Meals, Work, Eaten + 1).

take(Fork) ->
    Fork ! {take, self()},
    receive {taken, Fork} -> ok end.

%% Who asks for a fork in use waits in its mailbox.
fork() ->
    receive
        {take, Philosopher} ->
            Philosopher ! {taken, self()},
            receive {put_down, Philosopher} -> fork() end
    end.
