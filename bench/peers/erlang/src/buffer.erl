%% Savina's Bounded Buffer.
-module(buffer).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"bounded-buffer", "erlang", 1, "a process a producer and consumer, and the manager with the queue"}].

run(_, _, #{producers := Producers, consumers := Consumers, items := Items, buffer := Buffer, cost := Cost}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            spawn_link(fun() -> Main ! {consumed, manager(Producers, Consumers, Items, Buffer, Cost)} end),
            kit:gather(consumed, 1)
        end),
    #{elapsed => Elapsed, operations => Producers * Items, result => Result}.

%% What the manager knows; `left` counts the items that are still to be consumed.
-record(state, {limit, queued = queue:new(), length = 0, producers = [], consumers, left, sum = 0}).

manager(Producers, Consumers, Items, Buffer, Cost) ->
    Self = self(),
    [spawn_link(fun() -> producer(Self, Number * Items, Items, Cost, 0.0) end) ! produce
     || Number <- lists:seq(0, Producers - 1)],
    Idle = [spawn_link(fun() -> consumer(Self, Cost, 0.0) end) || _ <- lists:seq(1, Consumers)],
    manage(#state{limit = max(1, Buffer - Producers), consumers = Idle, left = Producers * Items}).

manage(#state{left = 0, sum = Sum}) -> Sum;
manage(State) ->
    receive
        {item, Producer, Item} -> manage(ask_for_more(Producer, place(Item, State)));
        {last_item, Item} -> manage(place(Item, State));
        {available, Consumer, Number} ->
            #state{left = Left, sum = Sum} = State,
            manage(supply(Consumer, State#state{left = Left - 1, sum = Sum + Number}))
    end.

place(Item, #state{consumers = [Consumer | Idle]} = State) ->
    Consumer ! Item,
    State#state{consumers = Idle};
place(Item, #state{queued = Queued, length = Length} = State) ->
    State#state{queued = queue:in(Item, Queued), length = Length + 1}.

ask_for_more(Producer, #state{length = Length, limit = Limit} = State) when Length < Limit ->
    Producer ! produce,
    State;
ask_for_more(Producer, #state{producers = Idle} = State) -> State#state{producers = [Producer | Idle]}.

supply(Consumer, #state{length = 0, consumers = Idle} = State) -> State#state{consumers = [Consumer | Idle]};
supply(Consumer, #state{queued = Queued, length = Length} = State) ->
    {{value, Item}, Rest} = queue:out(Queued),
    Consumer ! Item,
    wake(State#state{queued = Rest, length = Length - 1}).

wake(#state{producers = []} = State) -> State;
wake(#state{producers = [Producer | Idle]} = State) ->
    Producer ! produce,
    State#state{producers = Idle}.

%% The last item says so: a producer without work must not stand among the idle.
producer(Manager, Number, Left, Cost, Value) ->
    receive produce -> ok end,
    Next = work(Value, Cost * 100, Cost),
    case Left of
        1 ->
            Manager ! {last_item, {item, Number, Next}};
        _ ->
            Manager ! {item, self(), {item, Number, Next}},
            producer(Manager, Number + 1, Left - 1, Cost, Next)
    end.

consumer(Manager, Cost, Sum) ->
    receive
        {item, Number, Value} ->
            %% What comes back is finite: a float that would not be raises an error.
            Next = work(Sum + Value, Cost * 100, Cost),
            Manager ! {available, self(), Number},
            consumer(Manager, Cost, Next)
    end.

work(Value, 0, _) -> Value;
work(Value, Steps, Random) ->
    Next = kit:r16(Random),
    work(Value + math:log(1 / (Next + 1) + 0.01), Steps - 1, Next).
