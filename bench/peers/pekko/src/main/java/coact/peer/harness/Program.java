package coact.peer.harness;

/** One of the programs. */
@FunctionalInterface
public interface Program {
    /** Prepares, starts the clock with {@link Run#begin}, and makes the first actors; the last one finishes the run. */
    void start(Run run) throws Exception;
}
