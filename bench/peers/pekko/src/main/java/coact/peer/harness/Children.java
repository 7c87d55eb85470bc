package coact.peer.harness;

import java.util.function.IntFunction;
import org.apache.pekko.actor.AbstractActor.ActorContext;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;

/** Makes children by the number. */
public final class Children {
    private Children() {}

    public static ActorRef[] make(ActorContext parent, int count, IntFunction<Props> props) {
        ActorRef[] children = new ActorRef[count];
        for (int number = 0; number < count; number++) {
            children[number] = parent.actorOf(props.apply(number));
        }
        return children;
    }
}
