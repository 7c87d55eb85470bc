package coact.peer.persistence;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorSystem;

/** The commands that the tool calls: what is measured is printed as a line of JSON. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try {
            System.out.println(measure(new Setup(arguments)));
            // The system is left as it is: to stop it is not worth the wait.
            System.out.flush();
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static String measure(Setup setup) throws Exception {
        try (Database database = new Database(setup.address())) {
            database.create();
            ActorSystem<Bench.Message> system = ActorSystem.create(Bench.create(), "bench", settings(setup));
            return new Session(setup, database, system).measure().json();
        }
    }

    private static Config settings(Setup setup) {
        Address address = setup.address();
        String db = "jdbc-journal.slick.db.";
        Config where = ConfigFactory.parseMap(Map.of(
                db + "url", address.jdbc(), db + "user", address.user(), db + "password", address.password()));
        // (So that any of it can be tried by a property of the machine: -Djdbc-journal.parallelism=8.)
        return ConfigFactory.defaultOverrides().withFallback(where).withFallback(ConfigFactory.load());
    }
}
