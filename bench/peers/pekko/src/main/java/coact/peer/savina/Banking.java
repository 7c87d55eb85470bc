package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Transfers, each of which waits for the other account. */
public final class Banking {
    private record Transfer(ActorRef to, long amount) {}

    private record Deposit(long amount) {}

    private record Balance(int account, long amount) {}

    private enum Signal { DEPOSITED, TRANSFERRED, ASK_BALANCE }

    private Banking() {}

    public static void start(Run run) {
        int accounts = run.count("accounts");
        long transactions = run.whole("transactions");
        run.begin(transactions);
        run.spawn(Props.create(Teller.class, () -> new Teller(run, accounts, transactions)));
    }

    private static final class Teller extends UntypedAbstractActor {
        private final Run run;
        private final long transactions;
        private final ActorRef[] accounts;
        private long transferred;
        private int balances;
        private long sum;

        Teller(Run run, int accounts, long transactions) {
            this.run = run;
            this.transactions = transactions;
            this.accounts = Children.make(
                    getContext(), accounts, number -> Props.create(Account.class, () -> new Account(number)));
        }

        @Override
        public void preStart() {
            Random16 random = new Random16(74755);
            for (long number = 0; number < transactions; number++) {
                int source = random.below(accounts.length * 8 / 10);
                int distance = Math.max(1, random.below(accounts.length - source));
                long amount = 1 + random.below(1000);
                accounts[source].tell(new Transfer(accounts[source + distance], amount), getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Balance balance) {
                sum += (balance.account() + 1L) * balance.amount();
                if (++balances == accounts.length) {
                    run.finish(sum);
                }
            } else if (++transferred == transactions) {
                for (ActorRef account : accounts) {
                    account.tell(Signal.ASK_BALANCE, getSelf());
                }
            }
        }
    }

    private static final class Account extends UntypedAbstractActor {
        private final int number;
        // Transfers that came while one is under way. Cheaper than a stash, which needs a mailbox with two ends.
        private final Queue<Transfer> waiting = new ArrayDeque<>();
        private boolean transferring;
        private long balance;

        Account(int number) {
            this.number = number;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Transfer transfer) {
                if (transferring) {
                    waiting.add(transfer);
                } else {
                    begin(transfer);
                }
            } else if (message instanceof Deposit deposit) {
                balance += deposit.amount();
                getSender().tell(Signal.DEPOSITED, getSelf());
            } else if (message == Signal.DEPOSITED) {
                end();
            } else {
                getSender().tell(new Balance(number, balance), getSelf());
            }
        }

        private void begin(Transfer transfer) {
            transferring = true;
            balance -= transfer.amount();
            transfer.to().tell(new Deposit(transfer.amount()), getSelf());
        }

        private void end() {
            getContext().getParent().tell(Signal.TRANSFERRED, getSelf());
            transferring = false;
            Transfer next = waiting.poll();
            if (next != null) {
                begin(next);
            }
        }
    }
}
