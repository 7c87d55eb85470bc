package coact.peer.savina;

import coact.peer.harness.Children;
import coact.peer.harness.Random16;
import coact.peer.harness.Run;
import java.util.HashMap;
import java.util.Map;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.UntypedAbstractActor;

/** Workers read and write a map that an actor keeps. */
public final class ConcurrentDictionary {
    private static final int ENTRIES = 65536;

    private record Read(int key) {}

    private record Write(int key, int value) {}

    private record Answer(int value) {}

    private record Done(long answers) {}

    private ConcurrentDictionary() {}

    public static void start(Run run) {
        int workers = run.count("workers_n");
        long messages = run.whole("messages");
        int writes = run.count("writes");
        Map<Integer, Integer> entries = new HashMap<>(2 * ENTRIES);
        for (int key = 0; key < ENTRIES; key++) {
            entries.put(key, key);
        }
        run.begin(workers * messages);
        run.spawn(Props.create(Master.class, () -> new Master(run, workers, messages, writes, entries)));
    }

    private static final class Master extends UntypedAbstractActor {
        private final Run run;
        private final int workers;
        private int ended;
        private long answers;

        Master(Run run, int workers, long messages, int writes, Map<Integer, Integer> entries) {
            this.run = run;
            this.workers = workers;
            ActorRef dictionary = getContext().actorOf(Props.create(Dictionary.class, () -> new Dictionary(entries)));
            Children.make(
                    getContext(),
                    workers,
                    number -> Props.create(Worker.class, () -> new Worker(number, messages, writes, dictionary)));
        }

        @Override
        public void onReceive(Object message) {
            answers += ((Done) message).answers();
            if (++ended == workers) {
                run.finish(answers);
            }
        }
    }

    private static final class Worker extends UntypedAbstractActor {
        private final Random16 random;
        private final int writes;
        private final ActorRef dictionary;
        private long left;
        private long answers;

        Worker(int number, long messages, int writes, ActorRef dictionary) {
            this.writes = writes;
            this.dictionary = dictionary;
            random = new Random16(number + 1);
            left = messages;
        }

        @Override
        public void preStart() {
            ask();
        }

        @Override
        public void onReceive(Object message) {
            answers += ((Answer) message).value();
            if (--left == 0) {
                getContext().getParent().tell(new Done(answers), getSelf());
            } else {
                ask();
            }
        }

        private void ask() {
            boolean write = random.below(100) < writes;
            int key = random.next();
            dictionary.tell(write ? new Write(key, key) : new Read(key), getSelf());
        }
    }

    private static final class Dictionary extends UntypedAbstractActor {
        private final Map<Integer, Integer> entries;

        Dictionary(Map<Integer, Integer> entries) {
            this.entries = entries;
        }

        @Override
        public void onReceive(Object message) {
            if (message instanceof Read read) {
                getSender().tell(new Answer(entries.get(read.key())), getSelf());
            } else {
                Write write = (Write) message;
                entries.put(write.key(), write.value());
                getSender().tell(new Answer(write.value()), getSelf());
            }
        }
    }
}
