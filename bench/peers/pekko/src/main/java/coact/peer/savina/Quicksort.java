package coact.peer.savina;

import coact.peer.harness.Random64;
import coact.peer.harness.Run;
import java.util.Arrays;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** An actor a list. */
public final class Quicksort {
    private enum Place { WHOLE, LESS, GREATER }

    private record Sort(long[] values, Place place) {}

    private record Sorted(long[] values, Place place) {}

    private Quicksort() {}

    public static void start(Run run) {
        int threshold = run.count("threshold");
        Random64 random = new Random64(run.whole("seed"));
        long[] values = new long[run.count("values")];
        Arrays.setAll(values, place -> random.next());
        run.begin(values.length);
        run.spawn(Props.create(Main.class, () -> new Main(run, values, threshold)));
    }

    private static final class Main extends UntypedAbstractActor {
        private final Run run;

        Main(Run run, long[] values, int threshold) {
            this.run = run;
            getContext().actorOf(Sorter.props(threshold)).tell(new Sort(values, Place.WHOLE), getSelf());
        }

        @Override
        public void onReceive(Object message) {
            long sum = 0;
            long place = 1;
            for (long value : ((Sorted) message).values()) {
                sum += place * value;
                place++;
            }
            run.finish(sum);
        }
    }

    private static final class Sorter extends UntypedAbstractActor {
        private final int threshold;
        private Place place;
        private int open = 2;
        // The result; the equal values are there from the beginning.
        private long[] sorted;

        Sorter(int threshold) {
            this.threshold = threshold;
        }

        static Props props(int threshold) {
            return Props.create(Sorter.class, () -> new Sorter(threshold));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Sort sort) {
                place = sort.place();
                sort(sort.values());
            } else {
                gather((Sorted) message);
            }
        }

        private void sort(long[] values) {
            if (values.length <= threshold) {
                // The list was made for this actor alone.
                Arrays.sort(values);
                sorted = values;
                answer();
            } else {
                divide(values);
            }
        }

        private void divide(long[] values) {
            long pivot = values[values.length / 2];
            long[] less = new long[values.length];
            long[] greater = new long[values.length];
            int lessCount = 0;
            int greaterCount = 0;
            for (long value : values) {
                if (value < pivot) {
                    less[lessCount++] = value;
                } else if (value > pivot) {
                    greater[greaterCount++] = value;
                }
            }
            sorted = new long[values.length];
            Arrays.fill(sorted, lessCount, values.length - greaterCount, pivot);
            child(Arrays.copyOf(less, lessCount), Place.LESS);
            child(Arrays.copyOf(greater, greaterCount), Place.GREATER);
        }

        private void child(long[] values, Place childsPlace) {
            getContext().actorOf(props(threshold)).tell(new Sort(values, childsPlace), getSelf());
        }

        private void gather(Sorted part) {
            int start = part.place() == Place.LESS ? 0 : sorted.length - part.values().length;
            System.arraycopy(part.values(), 0, sorted, start, part.values().length);
            if (--open == 0) {
                answer();
            }
        }

        private void answer() {
            getContext().getParent().tell(new Sorted(sorted, place), getSelf());
            getContext().stop(getSelf());
        }
    }
}
