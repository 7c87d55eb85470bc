package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Rings that are torn down and built anew, beside workers that factorise. */
public final class Mixed {
    private record Size(int rings, int links, long token, int rebuilds, long number) {}

    private record Token(long left) {}

    private record Factorise(long number) {}

    private record Factors(long sum) {}

    private enum Signal { RINGS_DONE }

    private Mixed() {}

    public static void start(Run run) {
        Size size = new Size(
                run.count("rings"), run.count("links"), run.whole("token"), run.count("rebuilds"), run.whole("number"));
        run.begin(size.rings() * size.rebuilds() * (size.token() + 1) * (size.links() + 1));
        run.spawn(Props.create(Collector.class, () -> new Collector(run, size)));
    }

    private static final class Collector extends UntypedAbstractActor {
        private final Run run;
        // Sums of factors, and masters that are done.
        private long missing;
        private long sum;

        Collector(Run run, Size size) {
            this.run = run;
            missing = (long) size.rings() * size.rebuilds() + size.rings();
            Props master = Props.create(Master.class, () -> new Master(getSelf(), size));
            Children.make(getContext(), size.rings(), number -> master);
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Factors factors) {
                sum += factors.sum();
            }
            if (--missing == 0) {
                run.finish(sum);
            }
        }
    }

    private static final class Master extends UntypedAbstractActor {
        private final ActorRef collector;
        private final Size size;
        private final ActorRef worker;
        private ActorRef first;
        private int built;

        Master(ActorRef collector, Size size) {
            this.collector = collector;
            this.size = size;
            worker = getContext().actorOf(Props.create(Worker.class, () -> new Worker(collector)));
        }

        @Override
        public void preStart() {
            build();
        }

        @Override
        public void onReceive(Object message) {
            long left = ((Token) message).left();
            if (left > 0) {
                first.tell(new Token(left - 1), getSelf());
            } else if (built < size.rebuilds()) {
                build();
            } else {
                collector.tell(Signal.RINGS_DONE, getSelf());
            }
        }

        private void build() {
            built++;
            first = getSelf();
            for (int number = 0; number < size.links(); number++) {
                first = getContext().actorOf(Link.props(first));
            }
            first.tell(new Token(size.token()), getSelf());
            worker.tell(new Factorise(size.number()), getSelf());
        }
    }

    private static final class Link extends UntypedAbstractActor {
        private final ActorRef next;

        Link(ActorRef next) {
            this.next = next;
        }

        static Props props(ActorRef next) {
            return Props.create(Link.class, () -> new Link(next));
        }

        @Override
        public void onReceive(Object message) {
            next.tell(message, getSelf());
            if (((Token) message).left() == 0) {
                getContext().stop(getSelf());
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final ActorRef collector;

        Worker(ActorRef collector) {
            this.collector = collector;
        }

        @Override
        public void onReceive(Object message) {
            collector.tell(new Factors(factors(((Factorise) message).number())), getSelf());
        }

        private static long factors(long number) {
            long rest = number;
            long sum = 0;
            for (long divisor = 2; divisor * divisor <= rest; divisor += divisor == 2 ? 1 : 2) {
                while (rest % divisor == 0) {
                    sum += divisor;
                    rest /= divisor;
                }
            }
            return rest > 1 ? sum + rest : sum;
        }
    }
}
