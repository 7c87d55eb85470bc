package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Each asks some other, again and again. */
public final class Big {
    private record Start(ActorRef[] actors) {}

    private record Ping(int from) {}

    private record Pong(int from) {}

    private record Done(long right) {}

    private Big() {}

    public static void start(Run run) {
        int actors = run.count("actors");
        long pings = run.whole("pings");
        run.begin(actors * pings);
        run.spawn(Props.create(Sink.class, () -> new Sink(run, actors, pings)));
    }

    private static final class Sink extends UntypedAbstractActor {
        private final Run run;
        private final int count;
        private final long pings;
        private int ended;
        private long right;

        Sink(Run run, int count, long pings) {
            this.run = run;
            this.count = count;
            this.pings = pings;
        }

        @Override
        public void preStart() {
            ActorRef[] actors = Children.make(
                    getContext(), count, number -> Props.create(Player.class, () -> new Player(number, pings)));
            for (ActorRef actor : actors) {
                actor.tell(new Start(actors), getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            right += ((Done) message).right();
            if (++ended == count) {
                run.finish(right);
                getContext().stop(getSelf());
            }
        }
    }

    private static final class Player extends UntypedAbstractActor {
        private final Random16 random;
        private final Ping ping;
        private final Pong pong;
        private final long pings;
        private ActorRef[] actors;
        private int asked;
        private long answers;
        private long right;

        Player(int number, long pings) {
            this.pings = pings;
            random = new Random16(number + 1);
            ping = new Ping(number);
            pong = new Pong(number);
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Ping) {
                getSender().tell(pong, getSelf());
            } else if (message instanceof Pong answer) {
                count(answer);
            } else {
                actors = ((Start) message).actors();
                ask();
            }
        }

        private void ask() {
            asked = random.below(actors.length);
            actors[asked].tell(ping, getSelf());
        }

        private void count(Pong answer) {
            if (answer.from() == asked) {
                right++;
            }
            if (++answers == pings) {
                getContext().getParent().tell(new Done(right), getSelf());
            } else {
                ask();
            }
        }
    }
}
