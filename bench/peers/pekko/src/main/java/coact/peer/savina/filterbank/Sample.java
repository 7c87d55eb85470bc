package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;

/** Lets the first of so many values through, and makes the others 0. */
final class Sample extends Stage {
    private static final Value ZERO = new Value(0);

    private final int rate;
    private int before;

    Sample(int rate, ActorRef next) {
        super(next);
        this.rate = rate;
    }

    @Override
    void take(Value value) {
        send(before == 0 ? value : ZERO);
        before = before + 1 == rate ? 0 : before + 1;
    }
}
