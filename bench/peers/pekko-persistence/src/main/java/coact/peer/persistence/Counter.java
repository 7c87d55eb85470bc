package coact.peer.persistence;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.javadsl.CommandHandler;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehavior;

/** Counts. Its state is the sum so far. */
final class Counter extends EventSourcedBehavior<Counter.Command, Counted, Long> {
    sealed interface Command {}

    /** Has it count, and answer when that is stored. */
    record Count(long by, ActorRef<Bench.Message> from) implements Command {}

    /** Asks for the sum. */
    record Tell(ActorRef<Bench.Message> from) implements Command {}

    enum Stop implements Command { STOP }

    private Counter(String key) {
        super(PersistenceId.of("bench.counter", key));
    }

    static Behavior<Command> create(String key) {
        return new Counter(key);
    }

    @Override
    public Long emptyState() {
        return 0L;
    }

    @Override
    public CommandHandler<Command, Counted, Long> commandHandler() {
        return newCommandHandlerBuilder()
                .forAnyState()
                .onCommand(Count.class, count -> Effect()
                        .persist(Counted.by(count.by))
                        .thenReply(count.from, Bench.Sum::new))
                .onCommand(Tell.class, (sum, tell) -> Effect().reply(tell.from, new Bench.Sum(sum)))
                .onCommand(Stop.class, stop -> Effect().stop())
                .build();
    }

    @Override
    public EventHandler<Long, Counted> eventHandler() {
        return newEventHandlerBuilder()
                .forAnyState()
                .onEvent(Counted.class, (sum, counted) -> sum + counted.by())
                .build();
    }
}
