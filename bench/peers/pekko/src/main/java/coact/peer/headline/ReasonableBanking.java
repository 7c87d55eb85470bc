package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import coact.peer.harness.Work;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/**
 * Transfers that check both accounts: all or nothing. A manager acquires both accounts, has one debited and the other
 * credited, hears whether they can, tells both to commit or abort, and hears that they have.
 */
public final class ReasonableBanking {
    private record Size(int accounts, int transfers, int tellers, long start, long work) {
        /** How many transfers a teller makes. */
        int share() {
            return transfers / tellers;
        }
    }

    private record Debit(long amount) {}

    private record Credit(long amount) {}

    private record Balance(long amount) {}

    private enum Signal { ACQUIRE, ACQUIRED, YES, NO, COMMIT, ABORT, COMPLETED, TELLER_DONE, ASK_BALANCE }

    private ReasonableBanking() {}

    public static void reasonable(Run run) {
        start(run, 0);
    }

    public static void busy(Run run) {
        start(run, run.whole("work"));
    }

    private static void start(Run run, long work) {
        Size size = new Size(
                run.count("accounts"), run.count("transfers"), run.count("tellers"), run.whole("start"), work);
        run.begin((long) size.share() * size.tellers());
        run.spawn(Props.create(Bank.class, () -> new Bank(run, size)));
    }

    private static final class Bank extends UntypedAbstractActor {
        private final Run run;
        private final Size size;
        private final ActorRef[] accounts;
        private int tellersDone;
        private int balances;
        private long sum;

        Bank(Run run, Size size) {
            this.run = run;
            this.size = size;
            Props account = Props.create(Account.class, () -> new Account(size.start(), size.work()));
            accounts = Children.make(getContext(), size.accounts(), number -> account);
            Children.make(
                    getContext(),
                    size.tellers(),
                    number -> Props.create(Teller.class, () -> new Teller(number, size.share(), accounts)));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Balance balance) {
                sum += balance.amount();
                if (++balances == accounts.length) {
                    run.finish(sum);
                }
            } else if (++tellersDone == size.tellers()) {
                for (ActorRef account : accounts) {
                    account.tell(Signal.ASK_BALANCE, getSelf());
                }
            }
        }
    }

    private static final class Teller extends UntypedAbstractActor {
        private final Random16 random;
        private final ActorRef[] accounts;
        private int toStart;
        private int toComplete;

        Teller(int number, int transfers, ActorRef[] accounts) {
            this.accounts = accounts;
            random = new Random16(number + 1);
            toStart = transfers;
            toComplete = transfers;
        }

        @Override
        public void preStart() {
            next();
        }

        @Override
        public void onReceive(Object message) {
            if (message == Signal.ACQUIRED) {
                next();
            } else if (--toComplete == 0) {
                getContext().getParent().tell(Signal.TELLER_DONE, getSelf());
            }
        }

        private void next() {
            if (toStart == 0) {
                return;
            }
            toStart--;
            int from = random.below(accounts.length);
            int drawn = random.below(accounts.length);
            int to = drawn == from ? (drawn + 1) % accounts.length : drawn;
            long amount = random.below(1000);
            boolean fromFirst = from < to;
            getContext().actorOf(Manager.props(accounts[from], accounts[to], amount, fromFirst));
        }
    }

    /** Sees one transfer through. */
    private static final class Manager extends UntypedAbstractActor {
        private final ActorRef from;
        private final ActorRef to;
        private final long amount;
        private final ActorRef second;
        private boolean holdsFirst;
        private boolean refused;
        private int votes;
        private int completed;

        Manager(ActorRef from, ActorRef to, long amount, boolean fromFirst) {
            this.from = from;
            this.to = to;
            this.amount = amount;
            second = fromFirst ? to : from;
            (fromFirst ? from : to).tell(Signal.ACQUIRE, getSelf());
        }

        static Props props(ActorRef from, ActorRef to, long amount, boolean fromFirst) {
            return Props.create(Manager.class, () -> new Manager(from, to, amount, fromFirst));
        }

        @Override
        public void onReceive(Object message) {
            switch ((Signal) message) {
                case ACQUIRED -> acquired();
                case YES -> voted();
                case NO -> {
                    refused = true;
                    voted();
                }
                case COMPLETED -> completed();
                default -> unhandled(message);
            }
        }

        private void acquired() {
            if (holdsFirst) {
                getContext().getParent().tell(Signal.ACQUIRED, getSelf());
                from.tell(new Debit(amount), getSelf());
                to.tell(new Credit(amount), getSelf());
            } else {
                holdsFirst = true;
                second.tell(Signal.ACQUIRE, getSelf());
            }
        }

        private void voted() {
            if (++votes == 2) {
                Signal decision = refused ? Signal.ABORT : Signal.COMMIT;
                from.tell(decision, getSelf());
                to.tell(decision, getSelf());
            }
        }

        private void completed() {
            if (++completed == 2) {
                getContext().getParent().tell(Signal.COMPLETED, getSelf());
                getContext().stop(getSelf());
            }
        }
    }

    private static final class Account extends UntypedAbstractActor {
        private final long work;
        private final Queue<ActorRef> waiting = new ArrayDeque<>();
        private ActorRef holder;
        private long balance;
        // None is closed in this program, but that is checked.
        private boolean closed;
        // The transfer under way.
        private boolean pays;
        private long change;

        Account(long start, long work) {
            this.work = work;
            balance = start;
        }

        @Override
        public void onReceive(Object message) {
            if (message == Signal.ACQUIRE) {
                acquire(getSender());
            } else if (message instanceof Debit debit) {
                pays = true;
                change = -debit.amount();
                vote(!closed && balance >= debit.amount());
            } else if (message instanceof Credit credit) {
                pays = false;
                change = credit.amount();
                vote(!closed);
            } else if (message == Signal.COMMIT) {
                commit();
            } else if (message == Signal.ABORT) {
                release();
            } else {
                getSender().tell(new Balance(balance), getSelf());
            }
        }

        private void acquire(ActorRef manager) {
            if (holder == null) {
                grant(manager);
            } else {
                waiting.add(manager);
            }
        }

        private void vote(boolean possible) {
            holder.tell(possible ? Signal.YES : Signal.NO, getSelf());
        }

        private void commit() {
            if (pays && work > 0) {
                Work.busy(work);
            }
            balance += change;
            release();
        }

        private void release() {
            holder.tell(Signal.COMPLETED, getSelf());
            holder = waiting.poll();
            if (holder != null) {
                grant(holder);
            }
        }

        private void grant(ActorRef manager) {
            holder = manager;
            manager.tell(Signal.ACQUIRED, getSelf());
        }
    }
}
