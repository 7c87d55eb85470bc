//! What is verified with TLS.

use coact_postgres::{ConnectError, PostgresStore};

use crate::bank::{account, claim};
use crate::server;

#[test]
fn it_is_verified_what_the_address_asks_for() {
    let Some(server) = server::shared() else { return };
    let Some(private) = server.private() else { return };
    let schema = server.schema();
    let authority = private.path("authority.pem").display().to_string();
    // It has not signed the server's certificate.
    let other = private.path("server.pem").display().to_string();
    let connect = |host: &str, options: String| {
        let url = private.url("coact", "coact", host);
        PostgresStore::builder(&format!("{url}?application_name=tls&{options}"))
            .schema(&schema)
            .connect()
    };
    let raw = server.raw(&schema);
    let encrypted = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
         WHERE a.application_name = 'tls' AND s.ssl";
    // The certificate is that of `localhost`, and no authority of the system has signed it.
    for (host, options, expected) in [
        ("127.0.0.1", "sslmode=disable".into(), Some(0)),
        ("127.0.0.1", "sslmode=prefer".into(), Some(2)),
        ("127.0.0.1", "sslmode=require".into(), Some(2)),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={authority}"), Some(2)),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={other}"), None),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={other}"), None),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={authority}"), Some(2)),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={authority}"), None),
        ("localhost", format!("sslmode=verify-full&sslrootcert={authority}"), Some(2)),
        ("127.0.0.1", "sslmode=verify-ca".into(), None),
        ("localhost", "sslmode=verify-full".into(), None),
        ("localhost", "sslmode=verify-full&sslrootcert=/nowhere.pem".into(), None),
    ] {
        match (connect(host, options.clone()), expected) {
            (Ok(store), Some(expected)) => {
                claim(&store, &account("alice"));
                assert_eq!(raw.number(encrypted), expected, "{host} {options}");
                drop(store);
                raw.until(
                    "SELECT count(*) FROM (SELECT count(*) c FROM pg_stat_activity WHERE application_name = 'tls') a WHERE c = 0",
                );
            }
            (Err(error), None) => {
                assert!(matches!(error, ConnectError::Tls { .. }), "{host} {options}: {error}");
            }
            (connected, _) => panic!("{host} {options}: {connected:?}"),
        }
    }
}

#[test]
fn a_server_without_tls_is_refused_if_it_is_required() {
    let Some(mut server) = server::own() else { return };
    server.raw("public").run("ALTER SYSTEM SET ssl = off");
    server.private_mut().stop();
    server.private_mut().start();
    let url = server.private_mut().url("coact", "coact", "127.0.0.1");
    let error = PostgresStore::connect(&format!("{url}?sslmode=require")).unwrap_err();
    assert!(matches!(error, ConnectError::Tls { .. }), "{error}");
    claim(&PostgresStore::connect(&format!("{url}?sslmode=prefer")).unwrap(), &account("alice"));
}
