%% Savina's Sleeping Barber.
-module(barber).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"sleeping-barber", "erlang", 1, "processes for the factory, the room, the barber and each customer"}].

run(_, _, #{haircuts := Haircuts, places := Places, production := Production, haircut := Haircut}) ->
    {Elapsed, Result} =
        program:timed(fun() ->
            Main = self(),
            spawn_link(fun() -> Main ! {haircuts, factory(Haircuts, Places, Production, Haircut)} end),
            kit:gather(haircuts, 1)
        end),
    #{elapsed => Elapsed, operations => Haircuts, result => Result}.

factory(Haircuts, Places, Production, Haircut) ->
    Barber = spawn_link(fun() -> barber(Haircut, 2) end),
    Room = kit:spawn_inbox(fun() -> room(Barber, asleep, queue:new(), 0, Places) end),
    produce(Room, Haircuts, Production, 1),
    serve(Room, Haircuts, 0).

produce(_, 0, _, _) -> ok;
produce(Room, Left, Production, Random) ->
    Factory = self(),
    Room ! {enter, spawn(fun() -> customer(Factory) end)},
    {Time, Next} = kit:below(Production, Random),
    kit:spin(Time + 10),
    produce(Room, Left - 1, Production, Next).

serve(_, Haircuts, Haircuts) -> Haircuts;
serve(Room, Haircuts, Done) ->
    receive
        {returned, Customer} ->
            Room ! {enter, Customer},
            serve(Room, Haircuts, Done);
        done ->
            serve(Room, Haircuts, Done + 1)
    end.

customer(Factory) ->
    receive
        full ->
            Factory ! {returned, self()},
            customer(Factory);
        start ->
            customer(Factory);
        done ->
            Factory ! done
    end.

%% The barber sleeps while nobody waits and none is with him.
room(Barber, State, Waiting, Length, Places) ->
    receive
        {enter, Customer} when Length =:= Places ->
            Customer ! full,
            room(Barber, State, Waiting, Length, Places);
        {enter, Customer} when State =:= asleep ->
            Barber ! {next, Customer, self()},
            room(Barber, awake, Waiting, Length, Places);
        {enter, Customer} ->
            room(Barber, State, queue:in(Customer, Waiting), Length + 1, Places);
        next when Length =:= 0 ->
            room(Barber, asleep, Waiting, Length, Places);
        next ->
            {{value, Customer}, Rest} = queue:out(Waiting),
            Barber ! {next, Customer, self()},
            room(Barber, awake, Rest, Length - 1, Places)
    end.

barber(Haircut, Random) ->
    receive
        {next, Customer, Room} ->
            Customer ! start,
            {Time, Next} = kit:below(Haircut, Random),
            kit:spin(Time + 10),
            Customer ! done,
            Room ! next,
            barber(Haircut, Next)
    end.
