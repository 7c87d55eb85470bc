package coact.peer;

import coact.peer.harness.Program;
import coact.peer.headline.*;
import coact.peer.savina.*;
import coact.peer.savina.filterbank.FilterBank;
import java.util.ArrayList;
import java.util.List;

/** What this peer can run. */
final class Programs {
    /** The share is 1, or n where only 1/n of the work is asked for. */
    record Entry(String workload, String implementation, int share, String how, Program program) {
        String line() {
            return String.join("\t", workload, implementation, Integer.toString(share), how);
        }
    }

    static final List<Entry> ALL = all();

    private Programs() {}

    static Entry find(String workload, String implementation) {
        return ALL.stream()
                .filter(entry -> entry.workload.equals(workload) && entry.implementation.equals(implementation))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no " + workload + " " + implementation));
    }

    private static List<Entry> all() {
        List<Entry> all = new ArrayList<>();
        savina(all);
        headline(all);
        return List.copyOf(all);
    }

    private static void savina(List<Entry> all) {
        all.add(entry("banking", "transfers wait in a queue of their account", Banking::start));
        all.add(entry("big", "an actor a player; a sink", Big::start));
        all.add(entry("bounded-buffer", "a manager with queues of items and of the idle", BoundedBuffer::start));
        all.add(entry("chameneos", "a mall that passes the second's message on to the first", Chameneos::start));
        all.add(entry("cigarette-smokers", "an arbiter and its smokers", CigaretteSmokers::start));
        all.add(entry("concurrent-dictionary", "an actor with a HashMap", ConcurrentDictionary::start));
        all.add(entry("concurrent-sorted-list", "an actor with a linked list", ConcurrentSortedList::start));
        all.add(entry("count", "tell", Count::start));
        all.add(entry("dining-philosophers", "an arbiter with the forks", DiningPhilosophers::start));
        all.add(entry("fibonacci", "a child actor a call", Fibonacci::start));
        all.add(entry("filter-bank", "an actor a stage", FilterBank::start));
        all.add(entry("fork-join-create", "children that stop after one message", ForkJoinCreate::start));
        all.add(entry("fork-join-throughput", "tell to each in turn", ForkJoinThroughput::start));
        all.add(entry("logistic-map", "terms wait in a queue of their worker", LogisticMap::start));
        all.add(entry("ping-pong", "tell, and answer to the sender", PingPong::start));
        all.add(entry("quicksort", "a child actor a list; arrays are handed over", Quicksort::start));
        all.add(entry("radix-sort", "a chain of actors", RadixSort::start));
        all.add(entry("recursive-matrix", "workers in turn; blocks as arrays", RecursiveMatrix::start));
        all.add(entry("sieve", "a chain of actors that grows", Sieve::start));
        all.add(entry("sleeping-barber", "an actor a customer", SleepingBarber::start));
        all.add(entry("thread-ring", "an actor a node", Rings::threadRing));
        all.add(entry("trapezoid", "an actor a part", Trapezoid::start));
    }

    private static void headline(List<Entry> all) {
        for (String threads : List.of("1", "2", "4", "8")) {
            all.add(entry("counter-" + threads, "tell from plain threads", Producers::counter));
        }
        all.add(entry("mailbox-n1", "tell from plain threads", Producers::mailbox));
        all.add(entry("mixed", "rings and workers on one dispatcher", Mixed::start));
        for (String actors : List.of("100", "1000", "10000")) {
            all.add(entry("ring-nfold-" + actors, "an actor a node", Rings::ringNfold));
            all.add(entry("pingpong-grouped-" + actors, "an actor a side", PingPongs::grouped));
            all.add(entry("pingpong-bulk-" + actors, "an actor a side", PingPongs::bulk));
        }
        all.add(entry("skynet", "children that stay", Skynet::keep));
        all.add(entry("skynet-stop", "children that stop; a watch on the root", Skynet::stop));
        for (String sleep : List.of("8", "64")) {
            all.add(entry("cache-calc-" + sleep, "an actor a task, woken by the scheduler", CacheCalc::start));
        }
        all.add(entry("reasonable-banking", "a manager actor a transfer, two phases", ReasonableBanking::reasonable));
        all.add(entry("busy-banking", "the same; the paying account works at the commit", ReasonableBanking::busy));
        all.add(entry("spawn", "below parents of 1,000 each; bytes of the live heap", Spawn::start));
        all.add(entry("ask-latency", "the ask pattern, piped to the asker", Ask::future));
        all.add(new Entry("ask-latency", "pekko-tell", 1, "tell, and answer to the sender", Ask::tell));
        all.add(entry("fan-out", "one array in one message; each receiver answers", FanOut::start));
    }

    private static Entry entry(String workload, String how, Program program) {
        return new Entry(workload, "pekko", 1, how, program);
    }
}
