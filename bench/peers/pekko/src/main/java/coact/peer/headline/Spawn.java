package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Idle actors, alive all at once. */
public final class Spawn {
    private static final int CHILDREN = 1000;

    private Spawn() {}

    public static void start(Run run) {
        int actors = run.count("actors");
        AtomicInteger started = new AtomicInteger();
        run.measureMemory(actors);
        run.begin(actors);
        Props idle = Props.create(Idle.class, () -> new Idle(run, actors, started));
        run.spawn(Props.create(Owner.class, () -> new Owner(actors, idle)));
    }

    /** Makes the parents. One parent of all would be slow: it keeps its children by name, in a tree of them. */
    private static final class Owner extends UntypedAbstractActor {
        Owner(int actors, Props idle) {
            for (int made = 0; made < actors; made += CHILDREN) {
                int children = Math.min(CHILDREN, actors - made);
                getContext().actorOf(Props.create(Parent.class, () -> new Parent(children, idle)));
            }
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }
    }

    private static final class Parent extends UntypedAbstractActor {
        Parent(int children, Props idle) {
            Children.make(getContext(), children, number -> idle);
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
