package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Row;
import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Adds the values of the channels. */
final class Combine extends UntypedAbstractActor {
    private final ActorRef sink;

    Combine(ActorRef sink) {
        this.sink = sink;
    }

    @Override
    public void onReceive(Object message) {
        if (message instanceof Row row) {
            // Not a stream's sum, which makes good for what rounding loses.
            double sum = 0;
            for (double value : row.values()) {
                sum += value;
            }
            sink.tell(new Value(sum), getSelf());
        } else {
            sink.tell(message, getSelf());
        }
    }
}
