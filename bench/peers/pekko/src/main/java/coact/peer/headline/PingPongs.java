package coact.peer.headline;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Pairs whose sides send messages back and forth: one in each pair (grouped), or many from each side (bulk). */
public final class PingPongs {
    /** How many messages each side of a pair begins with, and how often each is sent. */
    private record Size(int pairs, int first, int second, long hops) {
        long messages() {
            return (long) pairs * (first + second);
        }
    }

    private record Serve(ActorRef partner, int messages) {}

    private record Ball(long hops) {}

    /** So many messages that have made their hops. */
    private record Done(int messages, long hops) {}

    private PingPongs() {}

    public static void grouped(Run run) {
        start(run, new Size(run.count("pairs"), 1, 0, run.whole("hops")));
    }

    public static void bulk(Run run) {
        int flight = run.count("flight");
        start(run, new Size(run.count("pairs"), flight, flight, run.whole("hops")));
    }

    private static void start(Run run, Size size) {
        run.begin(size.messages() * size.hops());
        run.spawn(Props.create(Owner.class, () -> new Owner(run, size)));
    }

    private static final class Owner extends UntypedAbstractActor {
        private final Run run;
        private final Size size;
        private long ended;
        private long hops;

        Owner(Run run, Size size) {
            this.run = run;
            this.size = size;
        }

        @Override
        public void preStart() {
            // As many messages end on a side as began on the one or, after an odd number of hops, on the other.
            boolean odd = size.hops() % 2 == 1;
            Props first = Side.props(size.hops(), odd ? size.second() : size.first());
            Props second = Side.props(size.hops(), odd ? size.first() : size.second());
            for (int pair = 0; pair < size.pairs(); pair++) {
                ActorRef one = getContext().actorOf(first);
                ActorRef other = getContext().actorOf(second);
                one.tell(new Serve(other, size.first()), getSelf());
                other.tell(new Serve(one, size.second()), getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            Done done = (Done) message;
            ended += done.messages();
            hops += done.hops();
            if (ended == size.messages()) {
                run.finish(hops);
            }
        }
    }

    private static final class Side extends UntypedAbstractActor {
        private final long hops;
        private final int toEnd;
        private int ended;
        private long endedHops;

        Side(long hops, int toEnd) {
            this.hops = hops;
            this.toEnd = toEnd;
        }

        static Props props(long hops, int toEnd) {
            return Props.create(Side.class, () -> new Side(hops, toEnd));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Ball ball) {
                if (ball.hops() == hops) {
                    end(ball);
                } else {
                    getSender().tell(new Ball(ball.hops() + 1), getSelf());
                }
            } else {
                serve((Serve) message);
            }
        }

        private void serve(Serve serve) {
            for (int number = 0; number < serve.messages(); number++) {
                serve.partner().tell(new Ball(1), getSelf());
            }
        }

        private void end(Ball ball) {
            endedHops += ball.hops();
            if (++ended == toEnd) {
                getContext().getParent().tell(new Done(ended, endedHops), getSelf());
            }
        }
    }
}
