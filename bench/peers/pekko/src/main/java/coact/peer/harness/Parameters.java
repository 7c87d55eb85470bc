package coact.peer.harness;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** The `name=value` arguments of a run. */
public final class Parameters {
    private final Map<String, String> values;

    public Parameters(String[] arguments) {
        values = Arrays.stream(arguments)
                .map(Parameters::split)
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }

    public long whole(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is not given");
        }
        return Long.parseUnsignedLong(value);
    }

    /** The number of things that can be kept in an array. */
    public int count(String name) {
        return Math.toIntExact(whole(name));
    }

    private static String[] split(String argument) {
        String[] pair = argument.split("=", 2);
        if (pair.length != 2) {
            throw new IllegalArgumentException("not name=value: " + argument);
        }
        return pair;
    }
}
