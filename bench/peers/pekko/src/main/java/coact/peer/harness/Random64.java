package coact.peer.harness;

/** R64: the generator of large values, below 2^60. */
public final class Random64 {
    private long state;

    public Random64(long seed) {
        state = seed;
    }

    public long next() {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return state >>> 4;
    }
}
