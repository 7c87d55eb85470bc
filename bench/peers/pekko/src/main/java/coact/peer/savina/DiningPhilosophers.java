package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** An arbiter gives two forks at once, or none. */
public final class DiningPhilosophers {
    private record Hungry(int philosopher) {}

    private record Done(int philosopher) {}

    private record Exit(long meals) {}

    private enum Answer { EAT, DENIED }

    private DiningPhilosophers() {}

    public static void start(Run run) {
        int philosophers = run.count("philosophers");
        long rounds = run.whole("rounds");
        run.begin(philosophers * rounds);
        run.spawn(Props.create(Arbiter.class, () -> new Arbiter(run, philosophers, rounds)));
    }

    private static final class Arbiter extends UntypedAbstractActor {
        private final Run run;
        private final boolean[] taken;
        private int gone;
        private long meals;

        Arbiter(Run run, int philosophers, long rounds) {
            this.run = run;
            taken = new boolean[philosophers];
            Children.make(
                    getContext(),
                    philosophers,
                    number -> Props.create(Philosopher.class, () -> new Philosopher(number, rounds)));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Hungry hungry) {
                getSender().tell(take(hungry.philosopher()) ? Answer.EAT : Answer.DENIED, getSelf());
            } else if (message instanceof Done done) {
                mark(done.philosopher(), false);
            } else {
                meals += ((Exit) message).meals();
                if (++gone == taken.length) {
                    run.finish(meals);
                }
            }
        }

        private boolean take(int philosopher) {
            boolean free = !taken[philosopher] && !taken[right(philosopher)];
            if (free) {
                mark(philosopher, true);
            }
            return free;
        }

        private void mark(int philosopher, boolean isTaken) {
            taken[philosopher] = isTaken;
            taken[right(philosopher)] = isTaken;
        }

        private int right(int philosopher) {
            return philosopher + 1 == taken.length ? 0 : philosopher + 1;
        }
    }

    private static final class Philosopher extends UntypedAbstractActor {
        private final Hungry hungry;
        private final Done done;
        private final long rounds;
        private long meals;

        Philosopher(int number, long rounds) {
            this.rounds = rounds;
            hungry = new Hungry(number);
            done = new Done(number);
        }

        @Override
        public void preStart() {
            tell(hungry);
        }

        @Override
        public void onReceive(Object message) {
            if (message == Answer.EAT) {
                meals++;
                tell(done);
                tell(meals < rounds ? hungry : new Exit(meals));
            } else {
                tell(hungry);
            }
        }

        private void tell(Object message) {
            getContext().getParent().tell(message, getSelf());
        }
    }
}
