package coact.peer.persistence;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** Makes counters, and sends them commands: one for each answer, from when as many are under way as may be. */
final class Bench extends AbstractBehavior<Bench.Message> {
    sealed interface Message {}

    /** Makes counters, and is done with a sum of theirs when all have been recovered. */
    record Make(String name, int actors, CompletableFuture<Long> done) implements Message {}

    /** Sends commands to them in turn, and is done when all have been answered. */
    record Run(int commands, int atOnce, CompletableFuture<Long> done) implements Message {}

    /** Asks for the sum of them all. */
    record Add(CompletableFuture<Long> done) implements Message {}

    /** Stops them all. */
    record StopAll(CompletableFuture<Long> done) implements Message {}

    /** The answer of a counter: the sum that is stored. */
    record Sum(long sum) implements Message {}

    /** A counter has ended. */
    private enum Ended implements Message { ENDED }

    private final List<ActorRef<Counter.Command>> counters = new ArrayList<>();
    private CompletableFuture<Long> done;
    private int toSend;
    private int toCome;
    private int next;
    private long sum;
    private boolean isStopping;

    private Bench(ActorContext<Message> context) {
        super(context);
    }

    static Behavior<Message> create() {
        return Behaviors.setup(Bench::new);
    }

    @Override
    public Receive<Message> createReceive() {
        return newReceiveBuilder()
                .onMessage(Sum.class, this::answered)
                .onMessage(Run.class, this::run)
                .onMessage(Make.class, this::make)
                .onMessage(Add.class, this::add)
                .onMessage(StopAll.class, this::stopAll)
                .onMessage(Ended.class, ended -> stopped())
                .build();
    }

    private Behavior<Message> make(Make make) {
        for (int number = 0; number < make.actors; number++) {
            ActorRef<Counter.Command> counter =
                    getContext().spawnAnonymous(Counter.create(make.name + "-" + number));
            getContext().watchWith(counter, Ended.ENDED);
            counters.add(counter);
        }
        return add(new Add(make.done));
    }

    private Behavior<Message> add(Add add) {
        done = add.done;
        sum = 0;
        toSend = 0;
        toCome = counters.size();
        counters.forEach(counter -> counter.tell(new Counter.Tell(getContext().getSelf())));
        return this;
    }

    private Behavior<Message> run(Run run) {
        done = run.done;
        sum = 0;
        next = 0;
        toSend = run.commands;
        toCome = run.commands;
        for (int number = 0; number < run.atOnce && toSend > 0; number++) {
            send();
        }
        return this;
    }

    private void send() {
        toSend--;
        counters.get(next).tell(new Counter.Count(1, getContext().getSelf()));
        next = next + 1 == counters.size() ? 0 : next + 1;
    }

    private Behavior<Message> answered(Sum answer) {
        sum += answer.sum;
        toCome--;
        if (toSend > 0) {
            send();
        } else if (toCome == 0) {
            done.complete(sum);
        }
        return this;
    }

    private Behavior<Message> stopAll(StopAll stop) {
        done = stop.done;
        isStopping = true;
        toCome = counters.size();
        counters.forEach(counter -> counter.tell(Counter.Stop.STOP));
        return this;
    }

    private Behavior<Message> stopped() {
        if (!isStopping) {
            throw new IllegalStateException("a counter has failed");
        }
        if (--toCome == 0) {
            isStopping = false;
            counters.clear();
            done.complete(0L);
        }
        return this;
    }
}
