package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Series of which each term is computed by another actor, which is waited for. */
public final class LogisticMap {
    private enum Signal { NEXT_TERM, ASK_TERM }

    private record Compute(double x) {}

    private record Computed(double x) {}

    private record Term(double x) {}

    private LogisticMap() {}

    public static void start(Run run) {
        int series = run.count("series");
        long terms = run.whole("terms");
        double start = run.whole("start");
        double increment = run.whole("increment");
        run.begin(series * terms);
        run.spawn(Props.create(Master.class, () -> new Master(run, series, terms, start, increment)));
    }

    private static final class Master extends UntypedAbstractActor {
        private final Run run;
        private final long terms;
        private final ActorRef[] workers;
        private int answered;
        private long sum;

        Master(Run run, int series, long terms, double start, double increment) {
            this.run = run;
            this.terms = terms;
            workers = Children.make(getContext(), series, number -> {
                double rate = (start + number * increment) / 10000;
                ActorRef computer = getContext().actorOf(Props.create(Computer.class, () -> new Computer(rate)));
                return Props.create(Worker.class, () -> new Worker(computer, number * increment / 10000));
            });
        }

        @Override
        public void preStart() {
            for (long term = 0; term < terms; term++) {
                tellAll(Signal.NEXT_TERM);
            }
            tellAll(Signal.ASK_TERM);
        }

        @Override
        public void onReceive(Object message) {
            sum += Double.doubleToLongBits(((Term) message).x());
            if (++answered == workers.length) {
                run.finish(sum);
            }
        }

        private void tellAll(Signal signal) {
            for (ActorRef worker : workers) {
                worker.tell(signal, getSelf());
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final ActorRef computer;
        private final Queue<Signal> waiting = new ArrayDeque<>();
        private boolean computing;
        private double x;

        Worker(ActorRef computer, double x) {
            this.computer = computer;
            this.x = x;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Computed computed) {
                x = computed.x();
                computing = false;
                if (!waiting.isEmpty()) {
                    handle(waiting.poll());
                }
            } else if (computing) {
                waiting.add((Signal) message);
            } else {
                handle((Signal) message);
            }
        }

        private void handle(Signal signal) {
            if (signal == Signal.NEXT_TERM) {
                computing = true;
                computer.tell(new Compute(x), getSelf());
            } else {
                getContext().getParent().tell(new Term(x), getSelf());
            }
        }
    }

    private static final class Computer extends UntypedAbstractActor {
        private final double rate;

        Computer(double rate) {
            this.rate = rate;
        }

        @Override
        public void onReceive(Object message) {
            double x = ((Compute) message).x();
            getSender().tell(new Computed(rate * x * (1 - x)), getSelf());
        }
    }
}
