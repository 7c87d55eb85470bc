package coact.peer.savina;

import coact.peer.harness.Random64;
import coact.peer.harness.Run;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A chain of actors, each of which sorts by a bit. */
public final class RadixSort {
    private static final int BITS = 60;

    private record Value(long value) {}

    private enum Signal { END }

    private RadixSort() {}

    public static void start(Run run) {
        int values = run.count("values");
        long seed = run.whole("seed");
        run.begin(values);
        run.spawn(Props.create(Source.class, () -> new Source(run, values, seed)));
    }

    private static final class Source extends UntypedAbstractActor {
        private final int values;
        private final Random64 random;
        private final ActorRef first;

        Source(Run run, int values, long seed) {
            this.values = values;
            random = new Random64(seed);
            ActorRef next = getContext().actorOf(Props.create(Sum.class, () -> new Sum(run)));
            for (int bit = BITS - 1; bit >= 0; bit--) {
                next = getContext().actorOf(Sorter.props(bit, next));
            }
            first = next;
        }

        @Override
        public void preStart() {
            for (int number = 0; number < values; number++) {
                first.tell(new Value(random.next()), getSelf());
            }
            first.tell(Signal.END, getSelf());
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }
    }

    private static final class Sorter extends UntypedAbstractActor {
        private final long mask;
        private final ActorRef next;
        private final List<Value> kept = new ArrayList<>();

        Sorter(int bit, ActorRef next) {
            mask = 1L << bit;
            this.next = next;
        }

        static Props props(int bit, ActorRef next) {
            return Props.create(Sorter.class, () -> new Sorter(bit, next));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Value value) {
                if ((value.value() & mask) == 0) {
                    next.tell(value, getSelf());
                } else {
                    kept.add(value);
                }
            } else {
                for (Value value : kept) {
                    next.tell(value, getSelf());
                }
                next.tell(Signal.END, getSelf());
            }
        }
    }

    private static final class Sum extends UntypedAbstractActor {
        private final Run run;
        private long place = 1;
        private long sum;

        Sum(Run run) {
            this.run = run;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Value value) {
                sum += place * value.value();
                place++;
            } else {
                run.finish(sum);
            }
        }
    }
}
