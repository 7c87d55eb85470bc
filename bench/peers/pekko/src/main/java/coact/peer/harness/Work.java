package coact.peer.harness;

/** Work for a processor. */
public final class Work {
    private Work() {}

    /** This many dependent steps of an xorshift generator. */
    public static void spin(long steps) {
        long word = 0x2545F4914F6CDD1DL;
        for (long step = 0; step < steps; step++) {
            word ^= word << 13;
            word ^= word >>> 7;
            word ^= word << 17;
        }
        keep(word);
    }

    /** Turns until the monotonic clock is this many microseconds on. */
    public static void busy(long micros) {
        long end = System.nanoTime() + micros * 1_000;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    /** What the programs of forks and joins compute; whether it is above 0. */
    public static boolean sine() {
        double sine = Math.sin(37.2);
        return sine * sine > 0;
    }

    /** An xorshift never comes to 0, but the compiler does not know, so the work has to be done. */
    private static void keep(long word) {
        if (word == 0) {
            throw new AssertionError("xorshift came to 0");
        }
    }
}
