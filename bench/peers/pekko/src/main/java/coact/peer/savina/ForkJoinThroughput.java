package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import coact.peer.harness.Work;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Some actors, many messages each. */
public final class ForkJoinThroughput {
    private record Compute(long number) {}

    private record Done(long handled) {}

    private ForkJoinThroughput() {}

    public static void start(Run run) {
        int actors = run.count("actors");
        long messages = run.whole("messages");
        run.begin(actors * messages);
        run.spawn(Props.create(Main.class, () -> new Main(run, actors, messages)));
    }

    private static final class Main extends UntypedAbstractActor {
        private final Run run;
        private final long messages;
        private final ActorRef[] actors;
        private int ended;
        private long handled;

        Main(Run run, int actors, long messages) {
            this.run = run;
            this.messages = messages;
            Props props = Props.create(Worker.class, () -> new Worker(messages));
            this.actors = Children.make(getContext(), actors, number -> props);
        }

        @Override
        public void preStart() {
            for (long number = 1; number <= messages; number++) {
                for (ActorRef actor : actors) {
                    actor.tell(new Compute(number), getSelf());
                }
            }
        }

        @Override
        public void onReceive(Object message) {
            handled += ((Done) message).handled();
            if (++ended == actors.length) {
                run.finish(handled);
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final long messages;
        private long handled;
        private long positive;

        Worker(long messages) {
            this.messages = messages;
        }

        @Override
        public void onReceive(Object message) {
            if (Work.sine()) {
                positive++;
            }
            handled++;
            if (((Compute) message).number() == messages) {
                getSender().tell(new Done(Math.min(handled, positive)), getSelf());
            }
        }
    }
}
