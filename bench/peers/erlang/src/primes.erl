%% Savina's Sieve of Eratosthenes.
-module(primes).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"sieve", "erlang", 1, "a process a filter, its primes in a list"}].

run(_, _, #{limit := Limit, buffer := Buffer}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            First = kit:spawn_inbox(fun() -> filter([2], 1, Buffer, Main) end),
            spawn_link(fun() -> produce(First, 3, Limit) end),
            kit:gather(primes, 1)
        end),
    #{elapsed => Elapsed, operations => Limit, result => Result}.

produce(First, Number, Limit) when Number < Limit ->
    First ! Number,
    produce(First, Number + 2, Limit);
produce(First, _, _) ->
    First ! {finish, 0}.

%% While it has room: what no prime divides is kept.
filter(Primes, Buffer, Buffer, Main) -> full(Primes, Buffer, none, Main);
filter(Primes, Length, Buffer, Main) ->
    receive
        {finish, Sum} ->
            Main ! {primes, Sum + Length};
        Number ->
            case divides(Primes, Number) of
                true -> filter(Primes, Length, Buffer, Main);
                false -> filter(Primes ++ [Number], Length + 1, Buffer, Main)
            end
    end.

full(Primes, Length, Next, Main) ->
    receive
        {finish, Sum} when Next =:= none ->
            Main ! {primes, Sum + Length};
        {finish, Sum} ->
            Next ! {finish, Sum + Length};
        Number ->
            case divides(Primes, Number) of
                true ->
                    full(Primes, Length, Next, Main);
                false when Next =:= none ->
                    full(Primes, Length, kit:spawn_inbox(fun() -> filter([Number], 1, Length, Main) end), Main);
                false ->
                    Next ! Number,
                    full(Primes, Length, Next, Main)
            end
    end.

divides([Prime | Primes], Number) -> Number rem Prime =:= 0 orelse divides(Primes, Number);
divides([], _) -> false.
