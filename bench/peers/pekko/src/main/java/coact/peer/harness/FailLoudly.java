package coact.peer.harness;

import org.apache.pekko.actor.UntypedAbstractActor;
import org.apache.pekko.event.Logging;

/** The system's logger. An actor that fails would be started anew and its program would wait for ever: end instead. */
public final class FailLoudly extends UntypedAbstractActor {
    @Override
    public void onReceive(Object message) {
        if (message instanceof Logging.InitializeLogger) {
            getSender().tell(Logging.loggerInitialized(), getSelf());
        } else if (message instanceof Logging.Error error) {
            System.err.println(error.message());
            error.cause().printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
