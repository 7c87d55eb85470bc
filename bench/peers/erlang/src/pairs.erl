%% Pairs: `pingpong-grouped-*` (one message each) and `pingpong-bulk-*` (many in flight).
-module(pairs).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"pingpong-grouped-" ++ Size, "erlang", 1, "pairs of processes, one message each; no groups"}
     || Size <- ["100", "1000", "10000"]]
        ++ [{"pingpong-bulk-" ++ Size, "erlang", 1, "pairs of processes, each side sends a flight of messages"}
            || Size <- ["100", "1000", "10000"]].

run("pingpong-grouped-" ++ _, _, #{pairs := Pairs, hops := Hops}) ->
    play(Pairs, 1, 0, Hops);
run("pingpong-bulk-" ++ _, _, #{pairs := Pairs, flight := Flight, hops := Hops}) ->
    play(Pairs, Flight, Flight, Hops).

play(Pairs, LeftFlight, RightFlight, Hops) ->
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            [begin
                 Left = spawn_link(fun() -> receive {other, Other} -> serve(Other, LeftFlight, Hops, Main) end end),
                 Right = spawn_link(fun() -> serve(Left, RightFlight, Hops, Main) end),
                 Left ! {other, Right}
             end || _ <- lists:seq(1, Pairs)],
            kit:gather(hops, Pairs * (LeftFlight + RightFlight))
        end),
    #{elapsed => Elapsed, operations => Pairs * (LeftFlight + RightFlight) * Hops, result => Result}.

serve(Other, Flight, Hops, Main) ->
    [Other ! {ball, 1} || _ <- lists:seq(1, Flight)],
    play_back(Other, Hops, Main).

%% A ball carries the hops that it has made.
play_back(Other, Hops, Main) ->
    receive
        {ball, Made} when Made < Hops ->
            Other ! {ball, Made + 1},
            play_back(Other, Hops, Main);
        {ball, Made} ->
            Main ! {hops, Made},
            play_back(Other, Hops, Main)
    end.
