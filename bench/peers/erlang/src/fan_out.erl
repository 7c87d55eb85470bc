%% One message with a payload to all: `fan-out`. The payload is a reference-counted binary, which is not copied.
-module(fan_out).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"fan-out", "erlang", 1, "a reference-counted binary to every process; each tells the sender that it has it"}].

run(_, _, #{receivers := Receivers, rounds := Rounds, size := Size}) ->
    Payload = << <<(Index rem 251)>> || Index <- lists:seq(0, Size - 1) >>,
    Last = (Size - 1) rem 251,
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            Processes = [spawn_link(fun() -> hold(Main, Last, 0) end) || _ <- lists:seq(1, Receivers)],
            ok = deal(Processes, Receivers, Rounds, Payload),
            [Process ! sum || Process <- Processes],
            kit:gather(sum, Receivers)
        end),
    #{elapsed => Elapsed, operations => Receivers * Rounds, result => Result}.

deal(_, _, 0, _) -> ok;
deal(Processes, Receivers, Rounds, Payload) ->
    [Process ! {payload, Payload} || Process <- Processes],
    received(Receivers),
    deal(Processes, Receivers, Rounds - 1, Payload).

received(0) -> ok;
received(Left) -> receive received -> received(Left - 1) end.

%% A first or last byte that is wrong ends the process, and so the run.
hold(Main, Last, Sum) ->
    receive
        {payload, Payload} ->
            0 = binary:first(Payload),
            Last = binary:last(Payload),
            Main ! received,
            hold(Main, Last, Sum + byte_size(Payload));
        sum ->
            Main ! {sum, Sum}
    end.
