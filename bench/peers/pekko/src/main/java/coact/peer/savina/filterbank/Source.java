package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Boot;
import coact.peer.savina.filterbank.Message.Signal;
import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Sends the next value whenever it is asked to: 1, 2, … 999, 0, and from 1 again. */
final class Source extends UntypedAbstractActor {
    private static final int VALUES = 1000;

    private final ActorRef branches;
    private int value = 1;

    Source(ActorRef branches) {
        this.branches = branches;
    }

    @Override
    public void onReceive(Object message) {
        if (message instanceof Boot boot) {
            branches.tell(new Value(value), getSelf());
            value = (value + 1) % VALUES;
            boot.producer().tell(Signal.NEXT, getSelf());
        } else {
            branches.tell(message, getSelf());
        }
    }
}
