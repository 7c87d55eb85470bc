%% Savina's Radix Sort and Quicksort.
-module(sorting).
-behaviour(program).
-export([programs/0, run/3]).

-define(BITS, 60).

programs() ->
    [{"radix-sort", "erlang", 1, "a process a bit"},
     {"quicksort", "erlang", 1, "a process a part, as lists, which are copied between processes"}].

run("radix-sort", _, #{values := Values, seed := Seed}) ->
    measure(Values, fun() ->
        Main = self(),
        Last = kit:spawn_inbox(fun() -> Main ! {sum, weigh(1, 0)} end),
        First = lists:foldr(fun(Bit, Next) -> kit:spawn_inbox(fun() -> radix(1 bsl Bit, Next, []) end) end,
                            Last, lists:seq(0, ?BITS - 1)),
        spawn_link(fun() -> draw(First, Values, Seed) end),
        kit:gather(sum, 1)
    end);
run("quicksort", _, #{values := Values, threshold := Threshold, seed := Seed}) ->
    {List, _} = lists:mapfoldl(fun(_, State) -> Next = kit:r64(State), {Next bsr 4, Next} end,
                               Seed, lists:seq(1, Values)),
    measure(Values, fun() -> weigh_list(sort(List, Threshold), 1, 0) end).

measure(Operations, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => Operations, result => Result}.

draw(First, 0, _) -> First ! finish;
draw(First, Values, State) ->
    Next = kit:r64(State),
    First ! Next bsr 4,
    draw(First, Values - 1, Next).

radix(Mask, Next, Kept) ->
    receive
        finish ->
            [Next ! Value || Value <- lists:reverse(Kept)],
            Next ! finish;
        Value when Value band Mask =:= 0 ->
            Next ! Value,
            radix(Mask, Next, Kept);
        Value ->
            radix(Mask, Next, [Value | Kept])
    end.

weigh(Weight, Sum) ->
    receive
        finish -> Sum;
        Value -> weigh(Weight + 1, Sum + Weight * Value)
    end.

weigh_list([], _, Sum) -> Sum;
weigh_list([Value | Rest], Weight, Sum) -> weigh_list(Rest, Weight + 1, Sum + Weight * Value).

%% The children sort beside each other, each in a process of its own.
sort(List, Threshold) ->
    Length = length(List),
    if
        Length =< Threshold ->
            lists:sort(List);
        true ->
            Pivot = lists:nth(Length div 2 + 1, List),
            {Less, Equal, Greater} = part(List, Pivot, [], [], []),
            Left = start(Less, Threshold),
            Right = start(Greater, Threshold),
            sorted(Left) ++ Equal ++ sorted(Right)
    end.

part([], _, Less, Equal, Greater) -> {Less, Equal, Greater};
part([Value | Rest], Pivot, Less, Equal, Greater) when Value < Pivot ->
    part(Rest, Pivot, [Value | Less], Equal, Greater);
part([Value | Rest], Pivot, Less, Equal, Greater) when Value > Pivot ->
    part(Rest, Pivot, Less, Equal, [Value | Greater]);
part([Value | Rest], Pivot, Less, Equal, Greater) ->
    part(Rest, Pivot, Less, [Value | Equal], Greater).

start(List, Threshold) ->
    Parent = self(),
    Reference = make_ref(),
    spawn_link(fun() -> Parent ! {Reference, sort(List, Threshold)} end),
    Reference.

sorted(Reference) -> receive {Reference, List} -> List end.
