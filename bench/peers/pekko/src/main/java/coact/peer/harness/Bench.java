package coact.peer.harness;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.Map;
import org.apache.pekko.actor.ActorSystem;

/** Runs a program until it is warm, and then once for the clock. */
public final class Bench {
    private static final long WARM_NANOS = 2_000_000_000L;

    private Bench() {}

    public static Outcome measure(Program program, Parameters parameters) throws Exception {
        ActorSystem system = ActorSystem.create("bench", settings(parameters.count("workers")));
        long began = System.nanoTime();
        do {
            once(program, system, parameters);
        } while (System.nanoTime() - began < WARM_NANOS);
        // What the warm-up left behind is not the next run's to clear away.
        System.gc();
        return once(program, system, parameters);
    }

    private static Outcome once(Program program, ActorSystem system, Parameters parameters) throws Exception {
        Run run = new Run(system, parameters);
        program.start(run);
        Outcome outcome = run.await();
        run.tearDown();
        return outcome;
    }

    private static Config settings(int workers) {
        String pool = "pekko.actor.default-dispatcher.fork-join-executor.parallelism-";
        return ConfigFactory.parseMap(Map.of(pool + "min", workers, pool + "max", workers))
                .withFallback(ConfigFactory.load());
    }
}
