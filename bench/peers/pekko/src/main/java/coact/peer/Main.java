package coact.peer;

import coact.peer.harness.Bench;
import coact.peer.harness.Parameters;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.apache.pekko.Version;

/** The commands that the tool calls. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try {
            switch (arguments.length == 0 ? "" : arguments[0]) {
                case "about" -> System.out.println(about());
                case "list" -> Programs.ALL.forEach(entry -> System.out.println(entry.line()));
                case "run" -> run(arguments);
                default -> throw new IllegalArgumentException(
                        "about | list | run WORKLOAD IMPLEMENTATION name=value ...");
            }
            // The actors of the last run are left where they are: to stop them is not worth the wait.
            System.out.flush();
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static String about() {
        return "Apache Pekko %s (classic actors), Java %s, %s; fork-join pool of workers threads, throughput 100"
                .formatted(Version.current(), Runtime.version(),
                        String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
    }

    private static void run(String[] arguments) throws Exception {
        if (arguments.length < 3) {
            throw new IllegalArgumentException("run WORKLOAD IMPLEMENTATION name=value ...");
        }
        Programs.Entry entry = Programs.find(arguments[1], arguments[2]);
        Parameters parameters = new Parameters(Arrays.copyOfRange(arguments, 3, arguments.length));
        System.out.println(Bench.measure(entry.program(), parameters).json());
    }
}
