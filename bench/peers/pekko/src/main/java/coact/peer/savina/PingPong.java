package coact.peer.savina;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** One message between two. */
public final class PingPong {
    private enum Message { PING, PONG }

    private PingPong() {}

    public static void start(Run run) {
        long messages = run.whole("messages");
        run.begin(messages);
        run.spawn(Props.create(Ping.class, () -> new Ping(run, messages)));
    }

    private static final class Ping extends UntypedAbstractActor {
        private final Run run;
        private final long messages;
        private final ActorRef pong = getContext().actorOf(Props.create(Pong.class, Pong::new));
        private long answers;

        Ping(Run run, long messages) {
            this.run = run;
            this.messages = messages;
        }

        @Override
        public void preStart() {
            pong.tell(Message.PING, getSelf());
        }

        @Override
        public void onReceive(Object message) {
            answers++;
            if (answers == messages) {
                run.finish(answers);
            } else {
                pong.tell(Message.PING, getSelf());
            }
        }
    }

    private static final class Pong extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            getSender().tell(Message.PONG, getSelf());
        }
    }
}
