package coact.peer.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.pattern.Patterns;

/** One run of a program: its parameters, its clock, its first actors and its result. */
public final class Run {
    private static final Duration STOP_WITHIN = Duration.ofMinutes(2);

    private final ActorSystem system;
    private final Parameters parameters;
    private final List<ActorRef> tops = new ArrayList<>();
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private long operations;
    private long started;
    private long measured;
    private long liveBefore;

    Run(ActorSystem system, Parameters parameters) {
        this.system = system;
        this.parameters = parameters;
    }

    public long whole(String name) {
        return parameters.whole(name);
    }

    public int count(String name) {
        return parameters.count(name);
    }

    /** Has the run say by how much the live heap grew, shared out to so many things; called before the clock starts. */
    public void measureMemory(long things) {
        measured = things;
        liveBefore = liveBytes();
    }

    /** Starts the clock. */
    public void begin(long operations) {
        this.operations = operations;
        started = System.nanoTime();
    }

    public ActorRef spawn(Props props) {
        ActorRef top = system.actorOf(props);
        tops.add(top);
        return top;
    }

    /** Stops the clock; called where the result is known first. */
    public void finish(long result) {
        long elapsed = System.nanoTime() - started;
        outcome.complete(new Outcome(elapsed, operations, result, OptionalDouble.empty()));
    }

    Outcome await() {
        Outcome timed = outcome.join();
        return measured == 0 ? timed : timed.withBytesEach((double) (liveBytes() - liveBefore) / measured);
    }

    /** Stops the actors; those that they made stop with them. */
    void tearDown() {
        for (ActorRef top : tops) {
            Patterns.gracefulStop(top, STOP_WITHIN).toCompletableFuture().join();
        }
    }

    /** What the heap holds when all that can go is gone. */
    private static long liveBytes() {
        System.gc();
        Runtime machine = Runtime.getRuntime();
        return machine.totalMemory() - machine.freeMemory();
    }
}
