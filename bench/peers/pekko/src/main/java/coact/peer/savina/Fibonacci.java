package coact.peer.savina;

import coact.peer.harness.Run;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** An actor a call. */
public final class Fibonacci {
    private record Request(int n) {}

    private record Answer(long value) {}

    // One for all: what a call is to compute comes as a message, and to whom it answers is its parent.
    private static final Props CALL = Props.create(Call.class, Call::new);

    private Fibonacci() {}

    public static void start(Run run) {
        int n = run.count("n");
        run.begin(1);
        run.spawn(Props.create(Main.class, () -> new Main(run, n)));
    }

    private static final class Main extends UntypedAbstractActor {
        private final Run run;

        Main(Run run, int n) {
            this.run = run;
            getContext().actorOf(CALL).tell(new Request(n), getSelf());
        }

        @Override
        public void onReceive(Object message) {
            run.finish(((Answer) message).value());
        }
    }

    private static final class Call extends UntypedAbstractActor {
        private int open;
        private long sum;

        @Override
        public void onReceive(Object message) {
            if (message instanceof Request request) {
                compute(request.n());
            } else {
                sum += ((Answer) message).value();
                if (--open == 0) {
                    answer(sum);
                }
            }
        }

        private void compute(int n) {
            if (n <= 2) {
                answer(1);
            } else {
                open = 2;
                getContext().actorOf(CALL).tell(new Request(n - 1), getSelf());
                getContext().actorOf(CALL).tell(new Request(n - 2), getSelf());
            }
        }

        private void answer(long value) {
            getContext().getParent().tell(new Answer(value), getSelf());
            getContext().stop(getSelf());
        }
    }
}
