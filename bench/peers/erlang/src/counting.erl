%% Many senders to one receiver: `counter-*`, `mailbox-n1`, and Savina's Count.
-module(counting).
-behaviour(program).
-export([programs/0, run/3]).

programs() ->
    [{"counter-" ++ Threads, "erlang", 1, "processes send {add, 1} to one process; its sum is asked for"}
     || Threads <- ["1", "2", "4", "8"]]
        ++ [{"mailbox-n1", "erlang", 1, "processes send {add, 1} to one process, which tells when it has all"},
            {"count", "erlang", 1, "a process sends increment, then asks for the count"}].

run("mailbox-n1", _, #{senders := Senders, messages := Messages}) ->
    Total = Senders * Messages,
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            Receiver = kit:spawn_inbox(fun() -> receive_all(Total, 0, Main) end),
            [spawn_link(fun() -> post(Receiver, Messages) end) || _ <- lists:seq(1, Senders)],
            kit:gather(total, 1)
        end),
    #{elapsed => Elapsed, operations => Total, result => Result};
run("count", _, #{messages := Messages}) ->
    Main = self(),
    {Elapsed, Result} =
        program:timed(fun() ->
            Counter = kit:spawn_inbox(fun() -> counter(0) end),
            spawn_link(fun() ->
                increment(Counter, Messages),
                Counter ! {sum, self()},
                Main ! {sum, kit:gather(sum, 1)}
            end),
            kit:gather(sum, 1)
        end),
    #{elapsed => Elapsed, operations => Messages, result => Result};
run("counter-" ++ _, _, #{threads := Threads, messages := Messages}) ->
    Share = kit:share(Messages, Threads),
    {Elapsed, Result} =
        program:timed(fun() ->
            Counter = kit:spawn_inbox(fun() -> counter(0) end),
            Sender = fun(Index) -> spawn_monitor(fun() -> post_and_wait(Counter, Share(Index)) end) end,
            Senders = [Sender(Index) || Index <- lists:seq(0, Threads - 1)],
            [receive {'DOWN', Monitor, process, _, normal} -> ok end || {_, Monitor} <- Senders],
            Counter ! {sum, self()},
            kit:gather(sum, 1)
        end),
    #{elapsed => Elapsed, operations => Messages, result => Result}.

post(_, 0) -> ok;
post(Receiver, Messages) ->
    Receiver ! {add, 1},
    post(Receiver, Messages - 1).

%% Messages of different processes have no order, not even if one has ended before the other sends: so each makes sure
%% that its own have come.
post_and_wait(Receiver, Messages) ->
    post(Receiver, Messages),
    Receiver ! {seen, self()},
    receive seen -> ok end.

increment(_, 0) -> ok;
increment(Counter, Messages) ->
    Counter ! increment,
    increment(Counter, Messages - 1).

counter(Sum) ->
    receive
        {add, Number} -> counter(Sum + Number);
        increment -> counter(Sum + 1);
        {seen, From} -> From ! seen, counter(Sum);
        {sum, From} -> From ! {sum, Sum}
    end.

receive_all(0, Sum, Main) -> Main ! {total, Sum};
receive_all(Left, Sum, Main) ->
    receive {add, Number} -> receive_all(Left - 1, Sum + Number, Main) end.
