package coact.peer.headline;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;
import org.apache.pekko.pattern.Patterns;
import scala.concurrent.Future;

/** One ask after the other, from one actor to another. */
public final class Ask {
    private static final long TIMEOUT_MILLIS = 60_000;

    private enum Message { QUESTION, ANSWER }

    private Ask() {}

    /** With a future for each answer. */
    public static void future(Run run) {
        start(run, true);
    }

    /** With plain messages. */
    public static void tell(Run run) {
        start(run, false);
    }

    private static void start(Run run, boolean future) {
        long asks = run.whole("asks");
        run.begin(asks);
        run.spawn(Props.create(Asker.class, () -> new Asker(run, asks, future)));
    }

    private static final class Asker extends UntypedAbstractActor {
        private final Run run;
        private final long asks;
        private final boolean future;
        private final ActorRef other = getContext().actorOf(Props.create(Other.class, Other::new));
        private long answers;

        Asker(Run run, long asks, boolean future) {
            this.run = run;
            this.asks = asks;
            this.future = future;
        }

        @Override
        public void preStart() {
            ask();
        }

        @Override
        public void onReceive(Object message) {
            if (message != Message.ANSWER) {
                throw new IllegalStateException("no answer: " + message);
            }
            if (++answers == asks) {
                run.finish(answers);
            } else {
                ask();
            }
        }

        private void ask() {
            if (future) {
                // A Scala future: Java's would be completed on yet another pool of threads.
                Future<Object> answer = Patterns.ask(other, Message.QUESTION, TIMEOUT_MILLIS);
                Patterns.pipe(answer, getContext().getDispatcher()).to(getSelf());
            } else {
                other.tell(Message.QUESTION, getSelf());
            }
        }
    }

    private static final class Other extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            getSender().tell(Message.ANSWER, getSelf());
        }
    }
}
