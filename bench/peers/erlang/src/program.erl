%% What each module of programs tells the harness.
-module(program).
-export([timed/1]).
-export_type([parameters/0, measured/0]).

-type parameters() :: #{atom() => non_neg_integer()}.
-type measured() :: #{elapsed := non_neg_integer(), operations := non_neg_integer(), result := integer(),
                      bytes_each => float()}.

%% Each program: workload, implementation, share, and how it does it.
-callback programs() -> [{string(), string(), pos_integer(), string()}].
-callback run(Workload :: string(), Implementation :: string(), parameters()) -> measured().

%% The time that `Work` takes, and its value. The process that calls this is the program's last actor.
timed(Work) ->
    Start = erlang:monotonic_time(nanosecond),
    Value = Work(),
    {erlang:monotonic_time(nanosecond) - Start, Value}.
