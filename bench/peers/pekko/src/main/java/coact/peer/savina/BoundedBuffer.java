package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Producers and consumers on the two sides of a buffer that holds so many items. */
public final class BoundedBuffer {
    private record Size(int producers, int consumers, int items, int buffer, int cost) {}

    private record Item(long number, double value) {}

    /** A consumer is idle, after an item that counts so much. */
    private record Available(long number) {}

    private enum Signal { PRODUCE }

    private BoundedBuffer() {}

    public static void start(Run run) {
        Size size = new Size(
                run.count("producers"),
                run.count("consumers"),
                run.count("items"),
                run.count("buffer"),
                run.count("cost"));
        run.begin((long) size.producers() * size.items());
        run.spawn(Props.create(Manager.class, () -> new Manager(run, size)));
    }

    private static double work(double value, int cost) {
        Random16 random = new Random16(cost);
        double worked = value;
        for (int step = 0; step < cost * 100; step++) {
            worked += Math.log(1.0 / (random.next() + 1) + 0.01);
        }
        return worked;
    }

    private static final class Manager extends UntypedAbstractActor {
        private final Run run;
        private final Size size;
        private final int full;
        private final Queue<Item> queued = new ArrayDeque<>();
        private final Queue<ActorRef> idleProducers = new ArrayDeque<>();
        private final Queue<ActorRef> idleConsumers = new ArrayDeque<>();
        private long consumed;
        private long sum;

        Manager(Run run, Size size) {
            this.run = run;
            this.size = size;
            full = Math.max(1, size.buffer() - size.producers());
        }

        @Override
        public void preStart() {
            Props consumer = Props.create(Consumer.class, () -> new Consumer(size));
            Children.make(getContext(), size.consumers(), number -> consumer);
            ActorRef[] producers = Children.make(
                    getContext(),
                    size.producers(),
                    number -> Props.create(Producer.class, () -> new Producer(number, size)));
            for (ActorRef producer : producers) {
                producer.tell(Signal.PRODUCE, getSelf());
            }
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Item item) {
                produced(item);
            } else if (message instanceof Available available) {
                available(available);
            }
        }

        private void produced(Item item) {
            ActorRef consumer = idleConsumers.poll();
            if (consumer != null) {
                consumer.tell(item, getSelf());
            } else {
                queued.add(item);
            }
            if (queued.size() < full) {
                getSender().tell(Signal.PRODUCE, getSelf());
            } else {
                idleProducers.add(getSender());
            }
        }

        private void available(Available consumer) {
            if (consumer.number() >= 0) {
                sum += consumer.number();
                if (++consumed == (long) size.producers() * size.items()) {
                    run.finish(sum);
                }
            }
            Item item = queued.poll();
            if (item == null) {
                idleConsumers.add(getSender());
                return;
            }
            getSender().tell(item, getSelf());
            ActorRef producer = idleProducers.poll();
            if (producer != null) {
                producer.tell(Signal.PRODUCE, getSelf());
            }
        }
    }

    private static final class Producer extends UntypedAbstractActor {
        private final int number;
        private final Size size;
        private int made;
        private double value;

        Producer(int number, Size size) {
            this.number = number;
            this.size = size;
        }

        @Override
        public void onReceive(Object message) {
            if (made < size.items()) {
                value = work(value, size.cost());
                getSender().tell(new Item((long) number * size.items() + made, value), getSelf());
                made++;
            }
        }
    }

    private static final class Consumer extends UntypedAbstractActor {
        private static final long NOTHING_YET = -1;

        private final Size size;
        private double value;

        Consumer(Size size) {
            this.size = size;
        }

        @Override
        public void preStart() {
            getContext().getParent().tell(new Available(NOTHING_YET), getSelf());
        }

        @Override
        public void onReceive(Object message) {
            Item item = (Item) message;
            value = work(value + item.value(), size.cost());
            getSender().tell(new Available(Double.isFinite(item.value()) ? item.number() : 0), getSelf());
        }
    }
}
