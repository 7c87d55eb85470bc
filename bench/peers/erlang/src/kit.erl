%% The random numbers, the work, and the few ways of waiting that all programs share.
-module(kit).
-export([r16/1, below/2, r64/1, wrap/1, bits/1, spin/1, busy/1, sleep/1, gather/2, spawn_inbox/1, share/2]).

%% R16: the next number, which is the next state as well. A draw is one of `below(n)`, with the state after it.
r16(State) -> (State * 1309 + 13849) band 16#FFFF.

below(Limit, State) ->
    Next = r16(State),
    {Next rem Limit, Next}.

%% R64: the next state; the number is the state without its lowest four bits.
r64(State) -> (State * 6364136223846793005 + 1442695040888963407) band 16#FFFFFFFFFFFFFFFF.

%% As an unsigned number of 64 bits.
wrap(Number) -> Number band 16#FFFFFFFFFFFFFFFF.

bits(Float) ->
    <<Bits:64>> = <<Float/float>>,
    Bits.

%% A word of 64 bits would be a bignum, so the state is kept as two halves.
spin(Steps) -> spin(Steps, 16#2545F491, 16#4F6CDD1D).

spin(0, High, Low) -> {High, Low};
spin(Steps, High, Low) ->
    High1 = High bxor (((High bsl 13) bor (Low bsr 19)) band 16#FFFFFFFF),
    Low1 = Low bxor ((Low bsl 13) band 16#FFFFFFFF),
    Low2 = Low1 bxor (((Low1 bsr 7) bor (High1 bsl 25)) band 16#FFFFFFFF),
    High2 = High1 bxor (High1 bsr 7),
    High3 = High2 bxor (((High2 bsl 17) bor (Low2 bsr 15)) band 16#FFFFFFFF),
    Low3 = Low2 bxor ((Low2 bsl 17) band 16#FFFFFFFF),
    spin(Steps - 1, High3, Low3).

busy(Microseconds) when Microseconds < 100 -> busy_until(erlang:monotonic_time(nanosecond) + Microseconds * 1000);
busy(Microseconds) ->
    End = erlang:monotonic_time(nanosecond) + Microseconds * 1000,
    busy_until(End, lists:seq(1, 1000), lists:seq(1, 1000)).

busy_until(End) ->
    case erlang:monotonic_time(nanosecond) of
        Now when Now < End -> busy_until(End);
        _ -> ok
    end.

%% A process gives way after 4000 calls, and then the same time would count for many that are busy on one scheduler. A
%% comparison is not a call: that of two lists keeps the scheduler for about 2 us.
busy_until(End, One, Other) when One =:= Other ->
    case erlang:monotonic_time(nanosecond) of
        Now when Now < End -> busy_until(End, One, Other);
        _ -> ok
    end.

%% Timers of the machine go by the millisecond: for less, a process gives way until its time has come.
sleep(Microseconds) -> sleep_until(erlang:monotonic_time(nanosecond) + Microseconds * 1000).

sleep_until(End) ->
    erlang:yield(),
    case erlang:monotonic_time(nanosecond) of
        Now when Now < End -> sleep_until(End);
        _ -> ok
    end.

%% The sum of as many answers `{Tag, Number}`.
gather(Tag, Count) -> gather(Tag, Count, 0).

gather(_, 0, Sum) -> Sum;
gather(Tag, Count, Sum) ->
    receive {Tag, Number} -> gather(Tag, Count - 1, Sum + Number) end.

%% For an actor that many others write to: senders then neither wait for its heap nor for each other, and its garbage
%% collection need not look at what waits.
spawn_inbox(Body) -> spawn_opt(Body, [link, {message_queue_data, off_heap}]).

%% The size of part `Index` (from 0) when `Whole` is dealt to `Parts`.
share(Whole, Parts) ->
    fun(Index) -> Whole div Parts + (if Index < Whole rem Parts -> 1; true -> 0 end) end.
