package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Creatures meet in pairs at a mall, and change their colours. */
public final class Chameneos {
    private record Meet(int colour) {}

    private record Change(int colour) {}

    private record Met(long meetings) {}

    private enum Signal { EXIT }

    private Chameneos() {}

    public static void start(Run run) {
        int creatures = run.count("creatures");
        long meetings = run.whole("meetings");
        run.begin(meetings);
        run.spawn(Props.create(Mall.class, () -> new Mall(run, creatures, meetings)));
    }

    private static final class Mall extends UntypedAbstractActor {
        private final Run run;
        private final int creatures;
        private long open;
        private ActorRef first;
        private int gone;
        private long met;

        Mall(Run run, int creatures, long meetings) {
            this.run = run;
            this.creatures = creatures;
            open = meetings;
        }

        @Override
        public void preStart() {
            Children.make(
                    getContext(), creatures, number -> Props.create(Creature.class, () -> new Creature(number % 3)));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Meet) {
                arrived(message);
            } else {
                met += ((Met) message).meetings();
                if (++gone == creatures) {
                    run.finish(met);
                }
            }
        }

        private void arrived(Object meet) {
            if (open == 0) {
                getSender().tell(Signal.EXIT, getSelf());
            } else if (first == null) {
                first = getSender();
            } else {
                first.tell(meet, getSender());
                first = null;
                open--;
            }
        }
    }

    private static final class Creature extends UntypedAbstractActor {
        private int colour;
        private long meetings;

        Creature(int colour) {
            this.colour = colour;
        }

        @Override
        public void preStart() {
            come();
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Meet other) {
                colour = complement(colour, other.colour());
                getSender().tell(new Change(colour), getSelf());
                meetings++;
                come();
            } else if (message instanceof Change change) {
                colour = change.colour();
                meetings++;
                come();
            } else {
                getSender().tell(new Met(meetings), getSelf());
                getContext().stop(getSelf());
            }
        }

        private void come() {
            getContext().getParent().tell(new Meet(colour), getSelf());
        }

        /** Two like colours stay; of two others comes the third. */
        private static int complement(int one, int other) {
            return one == other ? one : 3 - one - other;
        }
    }
}
