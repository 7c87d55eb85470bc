package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A token in each of some rings: `thread-ring` is one ring, `ring-nfold` are several. */
public final class Rings {
    private record Next(ActorRef node) {}

    private record Token(long hops) {}

    private record Done(long hops) {}

    private Rings() {}

    public static void threadRing(Run run) {
        start(run, 1, run.count("actors"), run.whole("hops"));
    }

    public static void ringNfold(Run run) {
        start(run, run.count("rings"), run.count("nodes"), run.whole("hops"));
    }

    private static void start(Run run, int rings, int nodes, long hops) {
        run.begin(rings * hops);
        run.spawn(Props.create(Owner.class, () -> new Owner(run, rings, nodes, hops)));
    }

    private static final class Owner extends UntypedAbstractActor {
        private final Run run;
        private final int rings;
        private final int nodes;
        private final long hops;
        private int ended;
        private long made;

        Owner(Run run, int rings, int nodes, long hops) {
            this.run = run;
            this.rings = rings;
            this.nodes = nodes;
            this.hops = hops;
        }

        @Override
        public void preStart() {
            Props props = Props.create(Node.class, () -> new Node(hops));
            for (int number = 0; number < rings; number++) {
                ActorRef[] ring = Children.make(getContext(), nodes, node -> props);
                for (int node = 0; node < nodes; node++) {
                    ring[node].tell(new Next(ring[(node + 1) % nodes]), getSelf());
                }
                ring[0].tell(new Token(1), getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            made += ((Done) message).hops();
            if (++ended == rings) {
                run.finish(made);
            }
        }
    }

    private static final class Node extends UntypedAbstractActor {
        private final long hops;
        private ActorRef next;

        Node(long hops) {
            this.hops = hops;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Token token) {
                pass(token.hops());
            } else {
                next = ((Next) message).node();
            }
        }

        /** The token has made so many hops, the one to here among them. */
        private void pass(long made) {
            if (made == hops) {
                getContext().getParent().tell(new Done(made), getSelf());
            } else {
                next.tell(new Token(made + 1), getSelf());
            }
        }
    }
}
