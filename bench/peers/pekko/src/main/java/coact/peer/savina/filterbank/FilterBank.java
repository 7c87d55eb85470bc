package coact.peer.savina.filterbank;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** A stream of values through a bank of filters a channel, and together again. */
public final class FilterBank {
    private FilterBank() {}

    public static void start(Run run) {
        int channels = run.count("channels");
        int columns = run.count("columns");
        long simulations = run.whole("simulations");
        run.begin(simulations);
        run.spawn(Props.create(Main.class, () -> new Main(run, channels, columns, simulations)));
    }

    /** Makes all stages, the last first. */
    private static final class Main extends UntypedAbstractActor {
        Main(Run run, int channels, int columns, long simulations) {
            ActorRef sink = make(Props.create(Sink.class, () -> new Sink(run)));
            ActorRef combine = make(Props.create(Combine.class, () -> new Combine(sink)));
            ActorRef integrator = make(Props.create(Integrator.class, () -> new Integrator(channels, combine)));
            ActorRef[] banks = Children.make(
                    getContext(), channels, channel -> bank(channel, channels, columns, integrator));
            ActorRef branches = make(Props.create(Branches.class, () -> new Branches(banks)));
            ActorRef source = make(Props.create(Source.class, () -> new Source(branches)));
            make(Props.create(Producer.class, () -> new Producer(source, simulations)));
        }

        private Props bank(int channel, int channels, int columns, ActorRef integrator) {
            double[] coefficients = new double[columns];
            for (int j = 0; j < columns; j++) {
                coefficients[j] = (double) j * columns + (double) j * channels + j + channel + j + 1;
            }
            ActorRef tag = make(Props.create(Tag.class, () -> new Tag(channel, integrator)));
            ActorRef secondFir = make(Props.create(Fir.class, () -> new Fir(coefficients, tag)));
            ActorRef secondDelay = make(Props.create(Delay.class, () -> new Delay(columns - 1, secondFir)));
            ActorRef sample = make(Props.create(Sample.class, () -> new Sample(columns, secondDelay)));
            ActorRef firstFir = make(Props.create(Fir.class, () -> new Fir(coefficients, sample)));
            return Props.create(Delay.class, () -> new Delay(columns - 1, firstFir));
        }

        private ActorRef make(Props props) {
            return getContext().actorOf(props);
        }

        @Override
        public void onReceive(Object message) {
            unhandled(message);
        }
    }
}
