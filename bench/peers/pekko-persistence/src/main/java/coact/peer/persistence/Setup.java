package coact.peer.persistence;

import java.util.HashMap;
import java.util.Map;

/** What a run is given, as `--name value`. */
final class Setup {
    private final Map<String, String> values = new HashMap<>();

    Setup(String[] arguments) {
        if (arguments.length % 2 != 0) {
            throw new IllegalArgumentException("--name value ..");
        }
        for (int at = 0; at < arguments.length; at += 2) {
            if (!arguments[at].startsWith("--")) {
                throw new IllegalArgumentException("not a name: " + arguments[at]);
            }
            values.put(arguments[at].substring(2), arguments[at + 1]);
        }
    }

    /** The server, as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
    Address address() {
        return Address.parse(value("server", null));
    }

    /** How many actors: scaled, but not fewer than a hundred, if there are as many. */
    int actors() {
        int all = Integer.parseInt(value("actors", "100"));
        return (int) Math.max(all * scale(), Math.min(all, 100));
    }

    /** How many commands. */
    int commands() {
        return (int) Math.max(Integer.parseInt(value("commands", "100000")) * scale(), 1);
    }

    /** How many of them may be under way at a time. */
    int atOnce() {
        return Integer.parseInt(value("at-once", "1000"));
    }

    /** How often at least all is done before it is measured. */
    int warmTimes() {
        return Integer.parseInt(value("warm-up", "12"));
    }

    /** Whether what the warm-up took is told, too. */
    boolean showsAll() {
        return Boolean.parseBoolean(value("show-all", "false"));
    }

    private double scale() {
        return Double.parseDouble(value("scale", "1"));
    }

    private String value(String name, String otherwise) {
        String value = values.getOrDefault(name, otherwise);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is not given");
        }
        return value;
    }
}
