package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Tagged;
import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;

/** Says which channel a value is from. */
final class Tag extends Stage {
    private final int channel;

    Tag(int channel, ActorRef next) {
        super(next);
        this.channel = channel;
    }

    @Override
    void take(Value value) {
        send(new Tagged(channel, value.value()));
    }
}
