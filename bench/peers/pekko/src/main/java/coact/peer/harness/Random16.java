package coact.peer.harness;

/** R16: the small generator of the programs' random choices. */
public final class Random16 {
    private int state;

    public Random16(int seed) {
        state = seed;
    }

    public int next() {
        state = (state * 1309 + 13849) & 0xFFFF;
        return state;
    }

    public int below(int bound) {
        return next() % bound;
    }
}
