%% Savina's Cigarette Smokers.
-module(smokers).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"cigarette-smokers", "erlang", 1, "an arbiter, and a process a smoker"}].

run(_, _, #{smokers := Smokers, rounds := Rounds}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            spawn_link(fun() -> Main ! {told, arbiter(Smokers, Rounds)} end),
            kit:gather(told, 1)
        end),
    #{elapsed => Elapsed, operations => Rounds, result => Result}.

arbiter(Smokers, Rounds) ->
    Self = self(),
    All = list_to_tuple([spawn_link(fun() -> smoker(Self) end) || _ <- lists:seq(1, Smokers)]),
    Told = rounds(All, Rounds, 74755, 0),
    [Smoker ! stop || Smoker <- tuple_to_list(All)],
    Told.

rounds(_, 0, _, Told) -> Told;
rounds(All, Rounds, Random, Told) ->
    {Index, Random1} = kit:below(tuple_size(All), Random),
    {Time, Random2} = kit:below(1000, Random1),
    element(Index + 1, All) ! {start_smoking, Time + 10},
    receive {started, Taken} -> rounds(All, Rounds - 1, Random2, Told + Taken) end.

smoker(Arbiter) ->
    receive
        {start_smoking, Time} ->
            Arbiter ! {started, Time},
            kit:spin(Time),
            smoker(Arbiter);
        stop ->
            ok
    end.
