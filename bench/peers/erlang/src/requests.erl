%% Requests and answers: Savina's Big, Concurrent Dictionary and Logistic Map Series.
-module(requests).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"big", "erlang", 1, "processes that ping one another at random"},
     {"concurrent-dictionary", "erlang", 1, "the dictionary is a process with a map"},
     {"concurrent-dictionary", "erlang-ets", 1, "the dictionary is a process with a private ETS table"},
     {"logistic-map", "erlang", 1, "a worker waits for its computer's answer by reference"}].

run("big", _, #{actors := Actors, pings := Pings}) ->
    measure(Actors * Pings, fun() ->
        Sink = self(),
        Processes = list_to_tuple([spawn_link(fun() -> receive {start, All} -> big(Number, All, Pings, Sink) end end)
                                   || Number <- lists:seq(0, Actors - 1)]),
        [Process ! {start, Processes} || Process <- tuple_to_list(Processes)],
        Sum = kit:gather(pongs, Actors),
        [Process ! stop || Process <- tuple_to_list(Processes)],
        Sum
    end);
run("concurrent-dictionary", Implementation, #{workers_n := Workers, messages := Messages, writes := Writes}) ->
    Main = self(),
    %% The dictionary owns its map, so the process that fills it is made before the clock as well.
    Dictionary = spawn_link(fun() -> dictionary(Implementation, Main) end),
    receive filled -> ok end,
    measure(Workers * Messages, fun() ->
        [spawn_link(fun() -> Main ! {answers, look_up(Dictionary, Messages, Writes, Worker, 0)} end)
         || Worker <- lists:seq(1, Workers)],
        kit:gather(answers, Workers)
    end);
run("logistic-map", _, #{series := Series, terms := Terms, start := Start, increment := Increment}) ->
    measure(Series * Terms, fun() ->
        Workers = [begin
                       Computer = spawn_link(fun() -> computer((Start + Index * Increment) / 10000) end),
                       kit:spawn_inbox(fun() -> series(Computer, Index * Increment / 10000) end)
                   end || Index <- lists:seq(0, Series - 1)],
        [[Worker ! next_term || Worker <- Workers] || _ <- lists:seq(1, Terms)],
        [Worker ! {term, self()} || Worker <- Workers],
        kit:gather(term, Series)
    end).

measure(Operations, Work) ->
    {Elapsed, Result} = program:timed(Work),
    #{elapsed => Elapsed, operations => Operations, result => Result}.

big(Own, All, Pings, Sink) ->
    {Peer, Random} = kit:below(tuple_size(All), Own + 1),
    element(Peer + 1, All) ! {ping, Own},
    big(Own, All, Pings, Random, Peer, 0, Sink).

big(Own, All, Left, Random, Peer, Right, Sink) ->
    receive
        {ping, From} ->
            element(From + 1, All) ! {pong, Own},
            big(Own, All, Left, Random, Peer, Right, Sink);
        {pong, From} ->
            Now = if From =:= Peer -> Right + 1; true -> Right end,
            case Left of
                1 ->
                    Sink ! {pongs, Now},
                    big(Own, All, 0, Random, none, Now, Sink);
                _ ->
                    {Next, After} = kit:below(tuple_size(All), Random),
                    element(Next + 1, All) ! {ping, Own},
                    big(Own, All, Left - 1, After, Next, Now, Sink)
            end;
        stop ->
            ok
    end.

look_up(_, 0, _, _, Sum) -> Sum;
look_up(Dictionary, Messages, Writes, Random, Sum) ->
    {Percent, Random1} = kit:below(100, Random),
    Key = kit:r16(Random1),
    Dictionary ! if Percent < Writes -> {write, self(), Key, Key}; true -> {read, self(), Key} end,
    receive {value, Value} -> look_up(Dictionary, Messages - 1, Writes, Key, Sum + Value) end.

dictionary("erlang", Main) ->
    process_flag(message_queue_data, off_heap),
    Map = maps:from_list([{Key, Key} || Key <- lists:seq(0, 65535)]),
    erlang:garbage_collect(),
    Main ! filled,
    in_map(Map);
dictionary("erlang-ets", Main) ->
    process_flag(message_queue_data, off_heap),
    Table = ets:new(dictionary, [private]),
    ets:insert(Table, [{Key, Key} || Key <- lists:seq(0, 65535)]),
    erlang:garbage_collect(),
    Main ! filled,
    in_table(Table).

in_map(Map) ->
    receive
        {read, From, Key} ->
            From ! {value, map_get(Key, Map)},
            in_map(Map);
        {write, From, Key, Value} ->
            From ! {value, Value},
            in_map(Map#{Key => Value})
    end.

in_table(Table) ->
    receive
        {read, From, Key} ->
            From ! {value, ets:lookup_element(Table, Key, 2)};
        {write, From, Key, Value} ->
            ets:insert(Table, {Key, Value}),
            From ! {value, Value}
    end,
    in_table(Table).

computer(Rate) ->
    receive
        {compute, Reference, From, X} ->
            From ! {Reference, Rate * X * (1.0 - X)},
            computer(Rate)
    end.

series(Computer, X) ->
    receive
        next_term ->
            Reference = make_ref(),
            Computer ! {compute, Reference, self(), X},
            %% Only what is younger than the reference is looked at, however many terms wait.
            receive {Reference, Next} -> series(Computer, Next) end;
        {term, From} ->
            From ! {term, kit:bits(X)}
    end.
