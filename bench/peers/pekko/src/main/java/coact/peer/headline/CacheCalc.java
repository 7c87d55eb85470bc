package coact.peer.headline;

import coact.peer.harness.Children;
import coact.peer.harness.Run;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Tasks have a cache of strings calculate, sleep, and have it calculate again. */
public final class CacheCalc {
    private enum Message { CALCULATE, CALCULATED, WAKE, DONE, ASK_SUM }

    private record Sum(long value) {}

    private CacheCalc() {}

    public static void start(Run run) {
        int tasks = run.count("tasks");
        int keys = run.count("keys");
        Duration sleep = Duration.ofNanos(run.whole("sleep") * 1_000);
        run.begin(2L * tasks);
        run.spawn(Props.create(Owner.class, () -> new Owner(run, tasks, keys, sleep)));
    }

    private static final class Owner extends UntypedAbstractActor {
        private final Run run;
        private final int tasks;
        private final ActorRef cache;
        private int ended;

        Owner(Run run, int tasks, int keys, Duration sleep) {
            this.run = run;
            this.tasks = tasks;
            cache = getContext().actorOf(Props.create(Cache.class, () -> new Cache(keys)));
            Props task = Props.create(Task.class, () -> new Task(cache, sleep));
            Children.make(getContext(), tasks, number -> task);
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Sum sum) {
                run.finish(sum.value());
            } else if (++ended == tasks) {
                cache.tell(Message.ASK_SUM, getSelf());
            }
        }
    }

    private static final class Task extends UntypedAbstractActor {
        private final ActorRef cache;
        private final Duration sleep;
        private boolean slept;

        Task(ActorRef cache, Duration sleep) {
            this.cache = cache;
            this.sleep = sleep;
        }

        @Override
        public void preStart() {
            cache.tell(Message.CALCULATE, getSelf());
        }

        @Override
        public void onReceive(Object message) {
            if (message == Message.WAKE) {
                slept = true;
                cache.tell(Message.CALCULATE, getSelf());
            } else if (slept) {
                getContext().getParent().tell(Message.DONE, getSelf());
            } else {
                sleep();
            }
        }

        private void sleep() {
            getContext()
                    .getSystem()
                    .getScheduler()
                    .scheduleOnce(sleep, getSelf(), Message.WAKE, getContext().getDispatcher(), getSelf());
        }
    }

    private static final class Cache extends UntypedAbstractActor {
        private final int keys;
        private final Map<String, String> values = new HashMap<>();

        Cache(int keys) {
            this.keys = keys;
        }

        @Override
        public void onReceive(Object message) {
            if (message == Message.CALCULATE) {
                calculate();
                getSender().tell(Message.CALCULATED, getSelf());
            } else {
                long sum = values.values().stream().mapToLong(Long::parseLong).sum();
                getSender().tell(new Sum(sum), getSelf());
            }
        }

        private void calculate() {
            for (int number = 0; number < keys; number++) {
                String key = "key" + number;
                String value = values.get(key);
                long parsed = value == null || value.isEmpty() ? 0 : Long.parseLong(value);
                values.put(key, Long.toString(parsed + 1));
            }
        }
    }
}
