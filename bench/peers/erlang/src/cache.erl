%% A cache behind a process, used by tasks at once: `cache-calc-*`.
-module(cache).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [Program || Sleep <- ["8", "64"],
                Program <- [{"cache-calc-" ++ Sleep, "erlang", 1,
                             "a process a task; the cache is a process with a map of binaries; a sleep gives way until "
                             "its time has come (timers have 1 ms)"},
                            {"cache-calc-" ++ Sleep, "erlang-ets", 1, "the same, the cache in an ETS table"}]].

run(_, Implementation, #{tasks := Tasks, keys := Keys, sleep := Sleep}) ->
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            Cache = kit:spawn_inbox(fun() -> start(Implementation, Keys) end),
            [spawn_link(fun() ->
                 calculate(Cache),
                 kit:sleep(Sleep),
                 calculate(Cache),
                 Main ! {done, 1}
             end) || _ <- lists:seq(1, Tasks)],
            Tasks = kit:gather(done, Tasks),
            Cache ! {sum, Main},
            kit:gather(sum, 1)
        end),
    #{elapsed => Elapsed, operations => 2 * Tasks, result => Result}.

calculate(Cache) ->
    Reference = make_ref(),
    Cache ! {calc, Reference, self()},
    receive {Reference, done} -> ok end.

start("erlang", Keys) -> in_map(#{}, Keys);
start("erlang-ets", Keys) -> in_table(ets:new(cache, [private]), Keys).

in_map(Map, Keys) ->
    receive
        {calc, Reference, From} ->
            Next = calc_map(Map, 0, Keys),
            From ! {Reference, done},
            in_map(Next, Keys);
        {sum, From} ->
            From ! {sum, lists:sum([binary_to_integer(Value) || Value <- maps:values(Map)])}
    end.

calc_map(Map, Keys, Keys) -> Map;
calc_map(Map, Index, Keys) ->
    Key = key(Index),
    Value = case Map of
                #{Key := Text} -> number(Text);
                #{} -> 0
            end,
    calc_map(Map#{Key => integer_to_binary(Value + 1)}, Index + 1, Keys).

in_table(Table, Keys) ->
    receive
        {calc, Reference, From} ->
            calc_table(Table, 0, Keys),
            From ! {Reference, done},
            in_table(Table, Keys);
        {sum, From} ->
            From ! {sum, ets:foldl(fun({_, Value}, Sum) -> Sum + binary_to_integer(Value) end, 0, Table)}
    end.

calc_table(_, Keys, Keys) -> ok;
calc_table(Table, Index, Keys) ->
    Key = key(Index),
    Value = case ets:lookup(Table, Key) of
                [{_, Text}] -> number(Text);
                [] -> 0
            end,
    ets:insert(Table, {Key, integer_to_binary(Value + 1)}),
    calc_table(Table, Index + 1, Keys).

key(Index) -> <<"key", (integer_to_binary(Index))/binary>>.

number(<<>>) -> 0;
number(Text) -> binary_to_integer(Text).
