package coact.peer.savina;

import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A chain of filters, each of which keeps some primes. */
public final class Sieve {
    private record Candidate(int number) {}

    private record End(long primes) {}

    private Sieve() {}

    public static void start(Run run) {
        int limit = run.count("limit");
        int buffer = run.count("buffer");
        run.begin(1);
        run.spawn(Props.create(Producer.class, () -> new Producer(run, limit, buffer)));
    }

    private static final class Producer extends UntypedAbstractActor {
        private final Run run;
        private final int limit;
        private final int buffer;

        Producer(Run run, int limit, int buffer) {
            this.run = run;
            this.limit = limit;
            this.buffer = buffer;
        }

        @Override
        public void preStart() {
            ActorRef filter = getContext().actorOf(Filter.props(run, buffer));
            for (int number = 3; number < limit; number += 2) {
                filter.tell(new Candidate(number), getSelf());
            }
            filter.tell(new End(limit > 2 ? 1 : 0), getSelf());
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }
    }

    private static final class Filter extends UntypedAbstractActor {
        private final Run run;
        private final int[] primes;
        private int kept;
        private ActorRef next;

        Filter(Run run, int buffer) {
            this.run = run;
            primes = new int[buffer];
        }

        static Props props(Run run, int buffer) {
            return Props.create(Filter.class, () -> new Filter(run, buffer));
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Candidate candidate) {
                if (passes(candidate.number())) {
                    take(candidate);
                }
            } else {
                end(((End) message).primes() + kept);
            }
        }

        private boolean passes(int number) {
            for (int place = 0; place < kept; place++) {
                if (number % primes[place] == 0) {
                    return false;
                }
            }
            return true;
        }

        private void take(Candidate candidate) {
            if (kept < primes.length) {
                primes[kept++] = candidate.number();
                return;
            }
            if (next == null) {
                next = getContext().actorOf(props(run, primes.length));
            }
            next.tell(candidate, getSelf());
        }

        private void end(long found) {
            if (next == null) {
                run.finish(found);
            } else {
                next.tell(new End(found), getSelf());
            }
        }
    }
}
