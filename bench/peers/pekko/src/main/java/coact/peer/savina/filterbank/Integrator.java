package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Row;
import coact.peer.savina.filterbank.Message.Signal;
import coact.peer.savina.filterbank.Message.Tagged;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Gathers the values that have the same place in their channels. */
final class Integrator extends UntypedAbstractActor {
    private final List<Queue<Double>> channels = new ArrayList<>();
    private final ActorRef combine;
    private int filled;
    private int ended;

    Integrator(int count, ActorRef combine) {
        this.combine = combine;
        for (int channel = 0; channel < count; channel++) {
            channels.add(new ArrayDeque<>());
        }
    }

    @Override
    public void onReceive(Object message) {
        if (message instanceof Tagged tagged) {
            gather(tagged);
        } else if (++ended == channels.size()) {
            combine.tell(Signal.END, getSelf());
        }
    }

    private void gather(Tagged tagged) {
        Queue<Double> channel = channels.get(tagged.channel());
        if (channel.isEmpty()) {
            filled++;
        }
        channel.add(tagged.value());
        if (filled == channels.size()) {
            combine.tell(new Row(channels.stream().mapToDouble(Queue::remove).toArray()), getSelf());
            filled = (int) channels.stream().filter(values -> !values.isEmpty()).count();
        }
    }
}
