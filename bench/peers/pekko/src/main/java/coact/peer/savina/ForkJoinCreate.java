package coact.peer.savina;

import coact.peer.harness.Run;
import coact.peer.harness.Work;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Many actors, a message each. */
public final class ForkJoinCreate {
    private enum Signal { COMPUTE }

    private record Done(int count) {}

    private ForkJoinCreate() {}

    public static void start(Run run) {
        int workers = run.count("workers_n");
        run.begin(workers);
        run.spawn(Props.create(Main.class, () -> new Main(run, workers)));
    }

    private static final class Main extends UntypedAbstractActor {
        private final Run run;
        private final int workers;
        private int ended;
        private long count;

        Main(Run run, int workers) {
            this.run = run;
            this.workers = workers;
        }

        @Override
        public void preStart() {
            Props props = Props.create(Worker.class, Worker::new);
            for (int number = 0; number < workers; number++) {
                getContext().actorOf(props).tell(Signal.COMPUTE, getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            count += ((Done) message).count();
            if (++ended == workers) {
                run.finish(count);
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            getSender().tell(new Done(Work.sine() ? 1 : 0), getSelf());
            getContext().stop(getSelf());
        }
    }
}
