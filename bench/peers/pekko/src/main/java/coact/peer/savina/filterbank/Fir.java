package coact.peer.savina.filterbank;

import coact.peer.savina.filterbank.Message.Value;
import org.apache.pekko.actor.ActorRef;

/** Sums the last values, each times a coefficient, from when there are enough. */
final class Fir extends Stage {
    private final double[] coefficients;
    private final double[] ring;
    private int place;
    private boolean full;

    Fir(double[] coefficients, ActorRef next) {
        super(next);
        this.coefficients = coefficients;
        ring = new double[coefficients.length];
    }

    @Override
    void take(Value value) {
        ring[place] = value.value();
        if (++place == ring.length) {
            place = 0;
            full = true;
        }
        if (full) {
            send(new Value(sum(ring, coefficients)));
        }
    }

    private static double sum(double[] data, double[] coefficients) {
        double sum = 0;
        for (int k = 0; k < data.length; k++) {
            sum += data[k] * coefficients[data.length - 1 - k];
        }
        return sum;
    }
}
