package coact.peer.savina.filterbank;

import org.apache.pekko.actor.ActorRef;

/** What passes between the stages. */
final class Message {
    record Value(double value) {}

    record Tagged(int channel, double value) {}

    /** A value of each channel, in their order. */
    record Row(double[] values) {}

    record Boot(ActorRef producer) {}

    enum Signal { NEXT, END }

    private Message() {}
}
