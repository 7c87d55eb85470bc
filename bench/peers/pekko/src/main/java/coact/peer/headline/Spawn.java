package coact.peer.headline;

import coact.peer.harness.Run;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Idle actors, alive all at once. */
public final class Spawn {
    private Spawn() {}

    public static void start(Run run) {
        int actors = run.count("actors");
        AtomicInteger started = new AtomicInteger();
        run.measureMemory(actors);
        run.begin(actors);
        run.spawn(Props.create(Owner.class, () -> new Owner(run, actors, started)));
    }

    private static final class Owner extends UntypedAbstractActor {
        private final int actors;
        private final Props idle;

        Owner(Run run, int actors, AtomicInteger started) {
            this.actors = actors;
            idle = Props.create(Idle.class, () -> new Idle(run, actors, started));
        }

        @Override
        public void preStart() {
            for (int number = 0; number < actors; number++) {
                getContext().actorOf(idle);
            }
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }
    }

    private static final class Idle extends UntypedAbstractActor {
        private long state;

        /** Runs when the actor starts, on the dispatcher, which is after it was asked for. */
        Idle(Run run, int actors, AtomicInteger started) {
            state = started.incrementAndGet();
            if (state == actors) {
                run.finish(state);
            }
        }

        @Override
        public void onReceive(Object message) {
            state++;
        }
    }
}
