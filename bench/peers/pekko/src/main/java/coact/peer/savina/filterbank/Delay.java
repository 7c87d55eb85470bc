package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Value;
import java.util.Arrays;
import org.apache.pekko.actor.ActorRef;

/** Passes each value on after so many others; zeros come first. */
final class Delay extends Stage {
    private final Value[] ring;
    private int place;

    Delay(int length, ActorRef next) {
        super(next);
        ring = new Value[length];
        Arrays.fill(ring, new Value(0));
    }

    @Override
    void take(Value value) {
        send(ring[place]);
        ring[place] = value;
        place = place + 1 == ring.length ? 0 : place + 1;
    }
}
