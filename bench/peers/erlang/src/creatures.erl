%% Many that meet through one: Savina's Chameneos and Dining Philosophers.
-module(creatures).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"chameneos", "erlang", 1, "a process a creature, and the mall"},
     {"dining-philosophers", "erlang", 1, "a process a philosopher; the arbiter holds the forks as bits of a number"}].

run("chameneos", _, #{creatures := Creatures, meetings := Meetings}) ->
    measure(Meetings, fun() ->
        Main = self(),
        Mall = spawn_link(fun() -> mall(Meetings), Main ! {counts, close(Creatures, 0)} end),
        [spawn_link(fun() -> creature(Mall, Index rem 3) end) || Index <- lists:seq(0, Creatures - 1)],
        kit:gather(counts, 1)
    end);
run("dining-philosophers", _, #{philosophers := Philosophers, rounds := Rounds}) ->
    measure(Philosophers * Rounds, fun() ->
        Main = self(),
        Arbiter = spawn_link(fun() -> Main ! {meals, arbiter(0, Philosophers, 0)} end),
        [begin
             Forks = (1 bsl Seat) bor (1 bsl ((Seat + 1) rem Philosophers)),
             spawn_link(fun() -> philosopher(Arbiter, Forks, Rounds, 0) end)
         end || Seat <- lists:seq(0, Philosophers - 1)],
        kit:gather(meals, 1)
    end).

measure(Operations, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => Operations, result => Result}.

%% The second to come is passed on to the first.
mall(0) -> ok;
mall(Meetings) ->
    receive
        {meet, First, _} ->
            receive {meet, Second, Colour} -> First ! {meet, Second, Colour} end,
            mall(Meetings - 1)
    end.

close(0, Sum) -> Sum;
close(Creatures, Sum) ->
    receive
        {meet, Creature, _} ->
            Creature ! exit,
            close(Creatures, Sum);
        {count, Count} ->
            close(Creatures - 1, Sum + Count)
    end.

creature(Mall, Colour) ->
    Mall ! {meet, self(), Colour},
    creature(Mall, Colour, 0).

creature(Mall, Colour, Count) ->
    receive
        {meet, Other, Theirs} ->
            Next = complement(Colour, Theirs),
            Other ! {change, Next},
            Mall ! {meet, self(), Next},
            creature(Mall, Next, Count + 1);
        {change, Next} ->
            Mall ! {meet, self(), Next},
            creature(Mall, Next, Count + 1);
        exit ->
            Mall ! {count, Count}
    end.

complement(Colour, Colour) -> Colour;
complement(One, Other) -> 3 - One - Other.

arbiter(_, 0, Meals) -> Meals;
arbiter(Taken, Left, Meals) ->
    receive
        {hungry, From, Forks} when Taken band Forks =:= 0 ->
            From ! eat,
            arbiter(Taken bor Forks, Left, Meals);
        {hungry, From, _} ->
            From ! denied,
            arbiter(Taken, Left, Meals);
        {done, Forks} ->
            arbiter(Taken bxor Forks, Left, Meals);
        {exit, Eaten} ->
            arbiter(Taken, Left - 1, Meals + Eaten)
    end.

philosopher(Arbiter, _, Rounds, Rounds) -> Arbiter ! {exit, Rounds};
philosopher(Arbiter, Forks, Rounds, Eaten) ->
    Arbiter ! {hungry, self(), Forks},
    receive
        eat ->
            Arbiter ! {done, Forks},
            philosopher(Arbiter, Forks, Rounds, Eaten + 1);
        denied ->
            philosopher(Arbiter, Forks, Rounds, Eaten)
    end.
