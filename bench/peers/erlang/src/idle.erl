%% A million idle processes: `spawn`.
-module(idle).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"spawn", "erlang", 1, "processes that wait with a number as state"},
     {"spawn", "erlang-hibernate", 1, "the same, which hibernate: their heap shrinks to what they hold"}].

run(_, Implementation, #{actors := Actors}) ->
    Before = resident(),
    {Elapsed, Processes} =
        program:timed(fun() ->
            case Implementation of
                "erlang" -> [spawn(fun() -> hold(State) end) || State <- lists:seq(1, Actors)];
                "erlang-hibernate" -> [spawn(fun() -> hibernate(State) end) || State <- lists:seq(1, Actors)]
            end
        end),
    settle(),
    After = resident(),
    %% That all live is shown outside of the clock.
    Result = lists:sum([begin Process ! {are_you_there, self()}, receive {here, _} -> 1 end end
                        || Process <- Processes]),
    #{elapsed => Elapsed, operations => Actors, result => Result, bytes_each => (After - Before) / Actors}.

hold(State) ->
    receive
        {are_you_there, From} ->
            From ! {here, State},
            hold(State)
    end.

hibernate(State) -> erlang:hibernate(erlang, apply, [fun() -> hold(State) end, []]).

%% Waits until every process has come to its `receive`.
settle() ->
    case erlang:statistics(total_run_queue_lengths) of
        0 -> timer:sleep(100);
        _ -> timer:sleep(10), settle()
    end.

resident() ->
    erlang:garbage_collect(),
    {ok, Status} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Status, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.
