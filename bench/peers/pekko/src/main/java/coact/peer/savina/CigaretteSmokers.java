package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import coact.peer.harness.Work;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** An arbiter lets one smoker after the other begin. */
public final class CigaretteSmokers {
    private record StartSmoking(int time) {}

    private record Started(int time) {}

    private CigaretteSmokers() {}

    public static void start(Run run) {
        int smokers = run.count("smokers");
        long rounds = run.whole("rounds");
        run.begin(rounds);
        run.spawn(Props.create(Arbiter.class, () -> new Arbiter(run, smokers, rounds)));
    }

    private static final class Arbiter extends UntypedAbstractActor {
        private final Run run;
        private final ActorRef[] smokers;
        private final Random16 random = new Random16(74755);
        private long left;
        private long told;

        Arbiter(Run run, int smokers, long rounds) {
            this.run = run;
            left = rounds;
            Props props = Props.create(Smoker.class, Smoker::new);
            this.smokers = Children.make(getContext(), smokers, number -> props);
        }

        @Override
        public void preStart() {
            round();
        }

        @Override
        public void onReceive(Object message) {
            told += ((Started) message).time();
            if (--left == 0) {
                run.finish(told);
                getContext().stop(getSelf());
            } else {
                round();
            }
        }

        private void round() {
            ActorRef smoker = smokers[random.below(smokers.length)];
            smoker.tell(new StartSmoking(random.below(1000) + 10), getSelf());
        }
    }

    private static final class Smoker extends UntypedAbstractActor {
        @Override
        public void onReceive(Object message) {
            int time = ((StartSmoking) message).time();
            getSender().tell(new Started(time), getSelf());
            Work.spin(time);
        }
    }
}
