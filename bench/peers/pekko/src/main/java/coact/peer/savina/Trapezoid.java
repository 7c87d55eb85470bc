package coact.peer.savina;

import coact.peer.harness.Run;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** The area below a curve, in equal parts. */
public final class Trapezoid {
    /** Pieces of this width; those of a worker begin at `first` and end before `end`. */
    private record Part(double left, double width, long first, long end) {}

    private record Area(double area) {}

    private Trapezoid() {}

    public static void start(Run run) {
        long pieces = run.whole("pieces");
        int workers = run.count("workers_n");
        double left = run.whole("left");
        double width = (run.whole("right") - left) / pieces;
        run.begin(pieces);
        run.spawn(Props.create(Master.class, () -> new Master(run, pieces, workers, left, width)));
    }

    private static double f(double x) {
        return 1 / (x + 1) * Math.sqrt(1 + Math.exp(Math.sqrt(2 * x))) * Math.sin(x * x * x - 1);
    }

    private static final class Master extends UntypedAbstractActor {
        private final Run run;
        private final int workers;
        private int ended;
        private double area;

        Master(Run run, long pieces, int workers, double left, double width) {
            this.run = run;
            this.workers = workers;
            Props props = Props.create(Worker.class, Worker::new);
            for (int number = 0; number < workers; number++) {
                Part part = new Part(left, width, number * pieces / workers, (number + 1) * pieces / workers);
                getContext().actorOf(props).tell(part, getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            area += ((Area) message).area();
            if (++ended == workers) {
                run.finish(Math.round(area * 1_000_000));
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            Part part = (Part) message;
            double width = part.width();
            double area = 0;
            for (long piece = part.first(); piece < part.end(); piece++) {
                double left = part.left() + piece * width;
                area += (f(left) + f(left + width)) / 2 * width;
            }
            getSender().tell(new Area(area), getSelf());
        }
    }
}
