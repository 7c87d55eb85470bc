package coact.peer.headline;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Plain threads post to one actor: `counter-*` and `mailbox-n1`. */
public final class Producers {
    private record Add(long amount) {}

    private enum Signal { ASK_SUM }

    private Producers() {}

    public static void counter(Run run) throws InterruptedException {
        int threads = run.count("threads");
        long messages = run.whole("messages");
        run.begin(messages);
        ActorRef counter = run.spawn(Props.create(Counter.class, () -> new Counter(run)));
        Thread[] producers = new Thread[threads];
        for (int number = 0; number < threads; number++) {
            long share = (number + 1) * messages / threads - number * messages / threads;
            producers[number] = new Thread(() -> post(counter, share));
            producers[number].start();
        }
        for (Thread producer : producers) {
            producer.join();
        }
        counter.tell(Signal.ASK_SUM, ActorRef.noSender());
    }

    public static void mailbox(Run run) {
        int senders = run.count("senders");
        long messages = run.whole("messages");
        run.begin(senders * messages);
        ActorRef receiver = run.spawn(Props.create(Receiver.class, () -> new Receiver(run, senders * messages)));
        for (int number = 0; number < senders; number++) {
            new Thread(() -> post(receiver, messages)).start();
        }
    }

    private static void post(ActorRef actor, long messages) {
        for (long sent = 0; sent < messages; sent++) {
            actor.tell(new Add(1), ActorRef.noSender());
        }
    }

    private static final class Counter extends UntypedAbstractActor {
        private final Run run;
        private long sum;

        Counter(Run run) {
            this.run = run;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Add add) {
                sum += add.amount();
            } else {
                run.finish(sum);
            }
        }
    }

    private static final class Receiver extends UntypedAbstractActor {
        private final Run run;
        private final long expected;
        private long sum;

        Receiver(Run run, long expected) {
            this.run = run;
            this.expected = expected;
        }

        @Override
        public void onReceive(Object message) {
            sum += ((Add) message).amount();
            if (sum == expected) {
                run.finish(sum);
            }
        }
    }
}
