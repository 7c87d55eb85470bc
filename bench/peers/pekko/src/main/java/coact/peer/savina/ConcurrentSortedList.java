package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Workers add to and look into an ascending linked list that an actor keeps. */
public final class ConcurrentSortedList {
    private record Shares(int writes, int sizes) {}

    private record Add(int value) {}

    private record Contains(int value) {}

    private record Answer(int value) {}

    private record Digest(long value) {}

    private enum Signal { SIZE, DONE, ASK_DIGEST }

    private ConcurrentSortedList() {}

    public static void start(Run run) {
        int workers = run.count("workers_n");
        long messages = run.whole("messages");
        Shares shares = new Shares(run.count("writes"), run.count("sizes"));
        run.begin(workers * messages);
        run.spawn(Props.create(Master.class, () -> new Master(run, workers, messages, shares)));
    }

    private static final class Master extends UntypedAbstractActor {
        private final Run run;
        private final int workers;
        private final ActorRef list = getContext().actorOf(Props.create(List.class, List::new));
        private int ended;

        Master(Run run, int workers, long messages, Shares shares) {
            this.run = run;
            this.workers = workers;
            Children.make(
                    getContext(),
                    workers,
                    number -> Props.create(Worker.class, () -> new Worker(number, messages, shares, list)));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Digest digest) {
                run.finish(digest.value());
            } else if (++ended == workers) {
                list.tell(Signal.ASK_DIGEST, getSelf());
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final Random16 random;
        private final Shares shares;
        private final ActorRef list;
        private long left;

        Worker(int number, long messages, Shares shares, ActorRef list) {
            this.shares = shares;
            this.list = list;
            random = new Random16(number + 1);
            left = messages;
        }

        @Override
        public void preStart() {
            ask();
        }

        @Override
        public void onReceive(Object message) {
            if (--left == 0) {
                getContext().getParent().tell(Signal.DONE, getSelf());
            } else {
                ask();
            }
        }

        private void ask() {
            int choice = random.below(100);
            if (choice < shares.sizes()) {
                list.tell(Signal.SIZE, getSelf());
            } else if (choice < shares.sizes() + shares.writes()) {
                list.tell(new Add(random.next()), getSelf());
            } else {
                list.tell(new Contains(random.next()), getSelf());
            }
        }
    }

    private static final class List extends UntypedAbstractActor {
        private final SortedLinkedList values = new SortedLinkedList();

        @Override
        public void onReceive(Object message) {
            if (message instanceof Contains contains) {
                answer(values.contains(contains.value()) ? 1 : 0);
            } else if (message instanceof Add add) {
                values.add(add.value());
                answer(add.value());
            } else if (message == Signal.SIZE) {
                answer(values.size());
            } else {
                getSender().tell(new Digest(values.digest()), getSelf());
            }
        }

        private void answer(int value) {
            getSender().tell(new Answer(value), getSelf());
        }
    }
}
