%% Rings that are torn down and built again beside number crunching: `mixed`.
-module(mixed).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"mixed", "erlang", 1, "a process each for masters, links, workers and the collector"}].

run(_, _, #{rings := Rings, links := Links, token := Token, rebuilds := Rebuilds, number := Number}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Collector = self(),
            [spawn_link(fun() ->
                 Worker = spawn_link(fun() -> factorise(Collector) end),
                 master(Rebuilds, Links, Token, Number, Worker, Collector)
             end) || _ <- lists:seq(1, Rings)],
            Rings = kit:gather(rebuilt, Rings),
            kit:gather(factors, Rings * Rebuilds)
        end),
    #{elapsed => Elapsed, operations => Rings * Rebuilds * (Token + 1) * (Links + 1), result => Result}.

master(0, _, _, _, _, Collector) -> Collector ! {rebuilt, 1};
master(Rebuilds, Links, Token, Number, Worker, Collector) ->
    Self = self(),
    First = lists:foldl(fun(_, Next) -> spawn_link(fun() -> link_of_ring(Next) end) end, Self, lists:seq(1, Links)),
    Worker ! {factorise, Number},
    First ! {token, Token},
    turn(First),
    master(Rebuilds - 1, Links, Token, Number, Worker, Collector).

turn(First) ->
    receive
        {token, 0} ->
            ok;
        {token, Left} ->
            First ! {token, Left - 1},
            turn(First)
    end.

link_of_ring(Next) ->
    receive
        {token, 0} = Token ->
            Next ! Token;
        {token, _} = Token ->
            Next ! Token,
            link_of_ring(Next)
    end.

factorise(Collector) ->
    receive
        {factorise, Number} ->
            Collector ! {factors, sum_of_factors(Number, 2, 0)},
            factorise(Collector)
    end.

sum_of_factors(Number, Divisor, Sum) when Divisor * Divisor > Number ->
    if Number > 1 -> Sum + Number; true -> Sum end;
sum_of_factors(Number, Divisor, Sum) when Number rem Divisor =:= 0 ->
    sum_of_factors(Number div Divisor, Divisor, Sum + Divisor);
sum_of_factors(Number, 2, Sum) -> sum_of_factors(Number, 3, Sum);
sum_of_factors(Number, Divisor, Sum) -> sum_of_factors(Number, Divisor + 2, Sum).
