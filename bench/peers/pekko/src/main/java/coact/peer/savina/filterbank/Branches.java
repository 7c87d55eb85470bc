package coact.peer.savina.filterbank;

import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Sends what comes to every bank. */
final class Branches extends UntypedAbstractActor {
    private final ActorRef[] banks;

    Branches(ActorRef[] banks) {
        this.banks = banks;
    }

    @Override
    public void onReceive(Object message) {
        for (ActorRef bank : banks) {
            bank.tell(message, getSelf());
        }
    }
}
