package coact.peer.harness;

import java.util.OptionalDouble;

/** What a run measured. */
public record Outcome(long elapsedNanos, long operations, long result, OptionalDouble bytesEach) {
    Outcome withBytesEach(double bytes) {
        return new Outcome(elapsedNanos, operations, result, OptionalDouble.of(bytes));
    }

    public String json() {
        String bytes = bytesEach.isPresent() ? ",\"bytes_each\":" + bytesEach.getAsDouble() : "";
        return "{\"elapsed_ns\":%d,\"operations\":%d,\"result\":%s%s}"
                .formatted(elapsedNanos, operations, Long.toUnsignedString(result), bytes);
    }
}
