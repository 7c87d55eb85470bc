package coact.peer;

import coact.peer.harness.Program;
import coact.peer.savina.*;
import java.util.List;

/** What this peer can run. */
final class Programs {
    /** `share`: 1, or n where only 1/n of the work is asked for. */
    record Entry(String workload, String implementation, int share, String how, Program program) {
        String line() {
            return String.join("\t", workload, implementation, Integer.toString(share), how);
        }
    }

    static final List<Entry> ALL = List.of(
            entry("banking", "transfers wait in a queue of the account", Banking::start),
            entry("big", "an actor a player", Big::start),
            entry("count", "tell", Count::start),
            entry("ping-pong", "tell and answer to the sender", PingPong::start),
            entry("thread-ring", "an actor a node", Rings::threadRing));

    private Programs() {}

    static Entry find(String workload, String implementation) {
        return ALL.stream()
                .filter(entry -> entry.workload.equals(workload) && entry.implementation.equals(implementation))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no " + workload + " " + implementation));
    }

    private static Entry entry(String workload, String how, Program program) {
        return new Entry(workload, "pekko", 1, how, program);
    }
}
