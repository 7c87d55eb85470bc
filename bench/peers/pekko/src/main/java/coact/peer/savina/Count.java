package coact.peer.savina;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** One sends to one. */
public final class Count {
    private enum Message { INCREMENT, RETRIEVE }

    private record Total(long count) {}

    private Count() {}

    public static void start(Run run) {
        long messages = run.whole("messages");
        run.begin(messages);
        run.spawn(Props.create(Producer.class, () -> new Producer(run, messages)));
    }

    private static final class Producer extends UntypedAbstractActor {
        private final Run run;
        private final long messages;

        Producer(Run run, long messages) {
            this.run = run;
            this.messages = messages;
        }

        @Override
        public void preStart() {
            ActorRef counter = getContext().actorOf(Props.create(Counter.class, Counter::new));
            for (long sent = 0; sent < messages; sent++) {
                counter.tell(Message.INCREMENT, getSelf());
            }
            counter.tell(Message.RETRIEVE, getSelf());
        }

        @Override
        public void onReceive(Object message) {
            run.finish(((Total) message).count());
        }
    }

    private static final class Counter extends UntypedAbstractActor {
        private long count;

        @Override
        public void onReceive(Object message) {
            switch ((Message) message) {
                case INCREMENT -> count++;
                case RETRIEVE -> getSender().tell(new Total(count), getSelf());
            }
        }
    }
}
