%% Savina's Trapezoidal Approximation.
-module(numeric).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"trapezoid", "erlang", 1, "a process a part of the interval"}].

run(_, _, #{pieces := Pieces, workers_n := Workers, left := Left, right := Right}) ->
    Share = kit:share(Pieces, Workers),
    Width = (Right - Left) / Pieces,
    {Elapsed, Area} =
        program:timed(fun() ->
            Main = self(),
            [begin
                 Start = Left + Index * Width * Pieces / Workers,
                 spawn_link(fun() -> Main ! {area, area(0, Share(Index), Start, Width, 0.0)} end)
             end || Index <- lists:seq(0, Workers - 1)],
            kit:gather(area, Workers)
        end),
    #{elapsed => Elapsed, operations => Pieces, result => round(Area * 1000000)}.

area(Pieces, Pieces, _, _, Area) -> Area;
area(Index, Pieces, Start, Width, Area) ->
    Left = Start + Index * Width,
    area(Index + 1, Pieces, Start, Width, Area + (f(Left) + f(Left + Width)) / 2 * Width).

f(X) -> 1 / (X + 1) * math:sqrt(1 + math:exp(math:sqrt(2 * X))) * math:sin(X * X * X - 1).
