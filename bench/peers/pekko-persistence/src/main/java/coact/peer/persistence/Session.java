package coact.peer.persistence;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorSystem;

/** Does all again and again until it is warm, in a place that it clears each time, and then once for the clock. */
final class Session {
    private static final long WARM_NANOS = 2_000_000_000L;

    private final Setup setup;
    private final Database database;
    private final ActorSystem<Bench.Message> system;
    private final OperatingSystemMXBean process =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    Session(Setup setup, Database database, ActorSystem<Bench.Message> system) {
        this.setup = setup;
        this.database = database;
        this.system = system;
        // An actor that fails would be waited for for ever.
        system.getWhenTerminated().thenRun(() -> {
            System.err.println("the actors have ended");
            Runtime.getRuntime().halt(1);
        });
    }

    Measured measure() throws SQLException {
        long begun = System.nanoTime();
        for (int times = 0; times < setup.warmTimes() || System.nanoTime() - begun < WARM_NANOS; times++) {
            Measured seen = once("warm-up-" + times);
            if (setup.showsAll()) {
                System.err.println(seen.json());
            }
        }
        return once("measured");
    }

    private Measured once(String name) throws SQLException {
        ask(done -> new Bench.Make(name, setup.actors(), done));
        // What came before is not this run's to clear away.
        System.gc();
        long transactions = database.transactions();
        long processor = process.getProcessCpuTime();
        long began = System.nanoTime();
        ask(done -> new Bench.Run(setup.commands(), setup.atOnce(), done));
        long elapsed = System.nanoTime() - began;
        processor = process.getProcessCpuTime() - processor;
        transactions = database.transactions() - transactions;
        check("the counters'", ask(Bench.Add::new));
        check("the table's", database.events());
        ask(Bench.StopAll::new);
        database.clear();
        return new Measured(setup.commands(), elapsed, processor, transactions);
    }

    private void check(String which, long sum) {
        if (sum != setup.commands()) {
            throw new IllegalStateException("%s are %d, and not %d".formatted(which, sum, setup.commands()));
        }
    }

    private long ask(Function<CompletableFuture<Long>, Bench.Message> question) {
        CompletableFuture<Long> done = new CompletableFuture<>();
        system.tell(question.apply(done));
        return done.join();
    }
}
