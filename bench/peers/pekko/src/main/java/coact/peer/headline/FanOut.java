package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** One payload, never copied, to all receivers. */
public final class FanOut {
    /** The bytes are written by none once they are sent. */
    private record Payload(byte[] bytes) {}

    private record Sum(long value) {}

    private enum Signal { RECEIVED, ASK_SUM }

    private FanOut() {}

    public static void start(Run run) {
        int receivers = run.count("receivers");
        long rounds = run.whole("rounds");
        int size = run.count("size");
        run.begin(receivers * rounds);
        run.spawn(Props.create(Sender.class, () -> new Sender(run, receivers, rounds, size)));
    }

    private static byte valueAt(int place) {
        return (byte) (place % 251);
    }

    private static final class Sender extends UntypedAbstractActor {
        private final Run run;
        private final ActorRef[] receivers;
        private final Payload payload;
        private long roundsLeft;
        private int missing;
        private long sum;

        Sender(Run run, int receivers, long rounds, int size) {
            this.run = run;
            roundsLeft = rounds;
            Props props = Props.create(Receiver.class, Receiver::new);
            this.receivers = Children.make(getContext(), receivers, number -> props);
            byte[] bytes = new byte[size];
            for (int place = 0; place < size; place++) {
                bytes[place] = valueAt(place);
            }
            payload = new Payload(bytes);
        }

        @Override
        public void preStart() {
            tellAll(payload);
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Sum part) {
                sum += part.value();
            }
            if (--missing == 0) {
                ended(message);
            }
        }

        /** All have answered: the round is over, or all sums are there. */
        private void ended(Object lastAnswer) {
            if (lastAnswer instanceof Sum) {
                run.finish(sum);
            } else if (--roundsLeft > 0) {
                tellAll(payload);
            } else {
                tellAll(Signal.ASK_SUM);
            }
        }

        private void tellAll(Object message) {
            missing = receivers.length;
            for (ActorRef receiver : receivers) {
                receiver.tell(message, getSelf());
            }
        }
    }

    private static final class Receiver extends UntypedAbstractActor {
        private long sum;

        @Override
        public void onReceive(Object message) {
            if (message instanceof Payload payload) {
                read(payload.bytes());
                getSender().tell(Signal.RECEIVED, getSelf());
            } else {
                getSender().tell(new Sum(sum), getSelf());
            }
        }

        private void read(byte[] bytes) {
            int last = bytes.length - 1;
            if (bytes[0] == valueAt(0) && bytes[last] == valueAt(last)) {
                sum += bytes.length;
            }
        }
    }
}
