package coact.peer.persistence;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A connection beside that of the actors: makes the tables, and counts. */
final class Database implements AutoCloseable {
    private static final String SCHEMA = "bench_pekko";
    private static final String TABLES = "schema/postgres/postgres-create-schema.sql";

    private final Connection connection;

    Database(Address address) throws SQLException {
        connection = DriverManager.getConnection(address.jdbc(), address.user(), address.password());
    }

    /** Makes the tables of the library, as it has them, anew in a schema of this program's. */
    void create() throws SQLException, IOException {
        execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
        execute("CREATE SCHEMA " + SCHEMA);
        execute("SET search_path = " + SCHEMA);
        for (String statement : tables().replace("public.", "").split(";")) {
            if (!statement.isBlank()) {
                execute(statement);
            }
        }
    }

    private static String tables() throws IOException {
        try (InputStream stream = Database.class.getClassLoader().getResourceAsStream(TABLES)) {
            if (stream == null) {
                throw new IOException("the library has no " + TABLES);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Removes all events. */
    void clear() throws SQLException {
        execute("TRUNCATE event_journal CASCADE");
    }

    long events() throws SQLException {
        return number("SELECT count(*) FROM event_journal");
    }

    /** How many transactions have written so far, in all of the server. To ask is none. */
    long transactions() throws SQLException {
        return number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
