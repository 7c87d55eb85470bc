package coact.peer.persistence;

import java.net.URI;

/** Where a database is. */
record Address(String jdbc, String user, String password) {
    /** Of `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
    static Address parse(String url) {
        URI uri = URI.create(url);
        if (uri.getHost() == null || uri.getUserInfo() == null) {
            throw new IllegalArgumentException("not postgres://USER:PASSWORD@HOST:PORT/DATABASE: " + url);
        }
        String[] who = uri.getUserInfo().split(":", 2);
        int port = uri.getPort() < 0 ? 5432 : uri.getPort();
        // Rows of one batch are sent as few statements of many rows.
        String jdbc = "jdbc:postgresql://%s:%d%s?reWriteBatchedInserts=true".formatted(uri.getHost(), port, uri.getPath());
        return new Address(jdbc, who[0], who.length > 1 ? who[1] : "");
    }
}
