package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A product of matrices, divided into blocks. */
public final class RecursiveMatrix {
    /** Two square matrices, row after row; read by all, written by none. */
    private record Factors(double[] a, double[] b, int size) {}

    private record Work(int row, int column, int k, int dim) {}

    private record Block(int row, int column, int dim, double[] values) {}

    private RecursiveMatrix() {}

    public static void start(Run run) {
        int size = run.count("size");
        int workers = run.count("workers_n");
        long threshold = run.whole("threshold");
        double[] a = new double[size * size];
        double[] b = new double[size * size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                a[i * size + j] = i;
                b[i * size + j] = j;
            }
        }
        Factors factors = new Factors(a, b, size);
        run.begin(1);
        run.spawn(Props.create(Master.class, () -> new Master(run, factors, workers, threshold)));
    }

    private static final class Master extends UntypedAbstractActor {
        private final Run run;
        private final int size;
        private final double[] product;
        private final ActorRef[] workers;
        private int turn;
        // Multiplications that are not yet in the product: a block has dim³ of them.
        private long missing;

        Master(Run run, Factors factors, int workers, long threshold) {
            this.run = run;
            size = factors.size();
            product = new double[size * size];
            missing = (long) size * size * size;
            Props props = Props.create(Worker.class, () -> new Worker(factors, threshold));
            this.workers = Children.make(getContext(), workers, number -> props);
        }

        @Override
        public void preStart() {
            deal(new Work(0, 0, 0, size));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Work work) {
                deal(work);
            } else {
                add((Block) message);
            }
        }

        private void deal(Work work) {
            workers[turn].tell(work, getSelf());
            turn = turn + 1 == workers.length ? 0 : turn + 1;
        }

        private void add(Block block) {
            int dim = block.dim();
            double[] values = block.values();
            for (int i = 0; i < dim; i++) {
                int start = (block.row() + i) * size + block.column();
                for (int j = 0; j < dim; j++) {
                    product[start + j] += values[i * dim + j];
                }
            }
            missing -= (long) dim * dim * dim;
            if (missing == 0) {
                run.finish(sum());
            }
        }

        private long sum() {
            double sum = 0;
            for (double value : product) {
                sum += value;
            }
            return (long) sum;
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final Factors factors;
        private final long threshold;

        Worker(Factors factors, long threshold) {
            this.factors = factors;
            this.threshold = threshold;
        }

        @Override
        public void onReceive(Object message) {
            Work work = (Work) message;
            if ((long) work.dim() * work.dim() > threshold) {
                split(work);
            } else {
                Block block = new Block(work.row(), work.column(), work.dim(), multiply(factors, work));
                getSender().tell(block, getSelf());
            }
        }

        private void split(Work work) {
            int half = work.dim() / 2;
            for (int part = 0; part < 8; part++) {
                int row = work.row() + (part & 1) * half;
                int column = work.column() + (part >> 1 & 1) * half;
                int k = work.k() + (part >> 2) * half;
                getSender().tell(new Work(row, column, k, half), getSelf());
            }
        }

        private static double[] multiply(Factors factors, Work work) {
            int size = factors.size();
            int dim = work.dim();
            double[] block = new double[dim * dim];
            for (int i = 0; i < dim; i++) {
                for (int k = 0; k < dim; k++) {
                    double a = factors.a()[(work.row() + i) * size + work.k() + k];
                    addRow(block, i * dim, a, factors.b(), (work.k() + k) * size + work.column(), dim);
                }
            }
            return block;
        }

        /** A method of its own: so the compiler makes vector instructions of it. */
        private static void addRow(double[] to, int start, double factor, double[] row, int first, int count) {
            for (int j = 0; j < count; j++) {
                to[start + j] += factor * row[first + j];
            }
        }
    }
}
