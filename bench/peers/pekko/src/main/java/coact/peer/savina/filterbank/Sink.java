package coact.peer.savina.filterbank;

import coact.peer.harness.Run;
import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.UntypedAbstractActor;

/** The end of the stream. */
final class Sink extends UntypedAbstractActor {
    private final Run run;
    private long sum;

    Sink(Run run) {
        this.run = run;
    }

    @Override
    public void onReceive(Object message) {
        if (message instanceof Value value) {
            sum += Double.doubleToLongBits(value.value());
        } else {
            run.finish(sum);
        }
    }
}
