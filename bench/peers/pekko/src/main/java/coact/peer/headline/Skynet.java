package coact.peer.headline;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.Terminated;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A tree of actors, ten below each, that sums the numbers of its leaves. */
public final class Skynet {
    private static final int FAN_OUT = 10;

    private record Build(long number, long leaves) {}

    private record Sum(long value) {}

    // One for all of a kind: what a node is to do comes as a message, and to whom it answers is its parent.
    private static final Props STAYING = Props.create(Node.class, () -> new Node(false));
    private static final Props STOPPING = Props.create(Node.class, () -> new Node(true));

    private Skynet() {}

    /** The actors live until the clock has stopped. */
    public static void keep(Run run) {
        start(run, false);
    }

    /** Each ends once it has answered, and all have to before the clock stops. */
    public static void stop(Run run) {
        start(run, true);
    }

    private static void start(Run run, boolean stop) {
        long leaves = run.whole("leaves");
        run.begin(actors(leaves));
        run.spawn(Props.create(Owner.class, () -> new Owner(run, leaves, stop)));
    }

    private static long actors(long leaves) {
        return leaves == 1 ? 1 : leaves + actors(leaves / FAN_OUT);
    }

    private static final class Owner extends UntypedAbstractActor {
        private final Run run;
        private final boolean stop;
        private long sum;

        Owner(Run run, long leaves, boolean stop) {
            this.run = run;
            this.stop = stop;
            ActorRef root = getContext().actorOf(stop ? STOPPING : STAYING);
            getContext().watch(root).tell(new Build(0, leaves), getSelf());
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Sum total) {
                sum = total.value();
            }
            // An actor has ended when all below it have.
            if (!stop || message instanceof Terminated) {
                run.finish(sum);
            }
        }
    }

    private static final class Node extends UntypedAbstractActor {
        private final boolean stop;
        private int open;
        private long sum;

        Node(boolean stop) {
            this.stop = stop;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Build build) {
                build(build);
            } else {
                sum += ((Sum) message).value();
                if (--open == 0) {
                    answer(sum);
                }
            }
        }

        private void build(Build build) {
            if (build.leaves() == 1) {
                answer(build.number());
                return;
            }
            open = FAN_OUT;
            long leaves = build.leaves() / FAN_OUT;
            for (int child = 0; child < FAN_OUT; child++) {
                Build below = new Build(build.number() + child * leaves, leaves);
                getContext().actorOf(stop ? STOPPING : STAYING).tell(below, getSelf());
            }
        }

        private void answer(long value) {
            getContext().getParent().tell(new Sum(value), getSelf());
            if (stop) {
                getContext().stop(getSelf());
            }
        }
    }
}
