package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Boot;
import coact.peer.savina.filterbank.Message.Signal;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Has the source send so many values, one after the other. */
final class Producer extends UntypedAbstractActor {
    private final ActorRef source;
    private final Boot boot = new Boot(getSelf());
    private long left;

    Producer(ActorRef source, long simulations) {
        this.source = source;
        left = simulations;
    }

    @Override
    public void preStart() {
        next();
    }

    @Override
    public void onReceive(Object message) {
        next();
    }

    private void next() {
        if (left == 0) {
            source.tell(Signal.END, getSelf());
        } else {
            left--;
            source.tell(boot, getSelf());
        }
    }
}
