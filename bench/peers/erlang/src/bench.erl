%% The command line: `about`, `list`, and `run WORKLOAD IMPLEMENTATION name=value ...`.
-module(bench).
-export([main/0]).

-define(MODULES, [counting, passing, rings, pairs, skynet, cache, transfers, idle, fan_out, mixed, dining_scale,
                  fork_join, requests, creatures, smokers, barber, tellers, buffer, primes, sorting, numeric]).

%% A process of its own does the work: one that fails ends the machine with the reason on stderr.
main() ->
    {Worker, Monitor} = spawn_monitor(fun() -> command(init:get_plain_arguments()) end),
    receive
        {'DOWN', Monitor, process, Worker, normal} ->
            erlang:halt(0);
        {'DOWN', Monitor, process, Worker, Reason} ->
            io:format(standard_error, "erlang: ~p~n", [Reason]),
            erlang:halt(1)
    end.

command(["about"]) ->
    io:format("erlang: Erlang/OTP ~s, erts ~s, ~s; as many schedulers as workers, "
              "mailboxes off the heap where many messages wait~n",
              [erlang:system_info(otp_release), erlang:system_info(version), erlang:system_info(emu_flavor)]);
command(["list"]) ->
    [io:format("~s\t~s\t~b\t~s~n", [Workload, Implementation, Share, How])
     || Module <- ?MODULES, {Workload, Implementation, Share, How} <- Module:programs()];
command(["run", Workload, Implementation | Settings]) ->
    %% All code is loaded, and so compiled, before any clock runs.
    ok = code:ensure_modules_loaded([kit, program, queue, sets, math, gen_server, gen | ?MODULES]),
    Parameters = maps:from_list([parameter(Setting) || Setting <- Settings]),
    case [Module || Module <- ?MODULES, {W, I, _, _} <- Module:programs(), W =:= Workload, I =:= Implementation] of
        [Module] -> report(Module:run(Workload, Implementation, Parameters));
        [] -> exit({no_such_program, Workload, Implementation})
    end;
command(Other) ->
    exit({usage, "about | list | run WORKLOAD IMPLEMENTATION name=value ...", Other}).

%% `scale` alone may have a fraction; no program here uses it.
parameter(Setting) ->
    [Name, Value] = string:split(Setting, "="),
    {list_to_atom(Name), case string:to_integer(Value) of {Number, _} when is_integer(Number) -> Number end}.

report(#{elapsed := Elapsed, operations := Operations, result := Result} = Measured) ->
    Bytes = case Measured of
                #{bytes_each := Each} -> io_lib:format(",\"bytes_each\":~.1f", [Each]);
                #{} -> ""
            end,
    io:format("{\"elapsed_ns\":~b,\"operations\":~b,\"result\":~b~s}~n",
              [Elapsed, Operations, kit:wrap(Result), Bytes]).
