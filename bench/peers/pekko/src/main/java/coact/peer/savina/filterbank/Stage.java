package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Signal;
import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A stage of a bank: takes a value at a time, and passes the end on. */
abstract class Stage extends UntypedAbstractActor {
    private final ActorRef next;

    Stage(ActorRef next) {
        this.next = next;
    }

    @Override
    public final void onReceive(Object message) {
        if (message instanceof Value value) {
            take(value);
        } else {
            send((Signal) message);
        }
    }

    abstract void take(Value value);

    final void send(Object message) {
        next.tell(message, getSelf());
    }
}
