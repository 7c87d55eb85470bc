package coact.peer.persistence;

import java.util.Locale;

/** What a run has taken, in all threads of the process. */
record Measured(long count, long elapsedNanos, long processorNanos, long transactions) {
    String json() {
        return String.format(
                Locale.ROOT,
                "{\"count\":%d,\"seconds\":%.6f,\"processor_seconds\":%.6f,\"transactions\":%d}",
                count, elapsedNanos / 1e9, processorNanos / 1e9, transactions);
    }
}
