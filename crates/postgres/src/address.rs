//! The address of a database, as a URL.

use std::fmt::Write as _;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::connect_error::ConnectError;

/// The address of a database, and the options of a connection to it.
#[derive(Clone)]
pub(crate) struct DatabaseAddress {
    pub(crate) config: Config,
    pub(crate) verify: CertificateCheck,
    /// Hosts and ports, for messages.
    pub(crate) server: String,
}

/// How far a server's certificate is verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CertificateCheck {
    Nothing,
    /// A trusted authority signed it.
    Authority(TrustedRoots),
    /// A trusted authority signed it for the host of the address.
    Host(TrustedRoots),
}

/// The authorities that a connection trusts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TrustedRoots {
    /// The system's authorities.
    System,
    /// The authorities in a PEM file.
    File(PathBuf),
}

impl DatabaseAddress {
    pub(crate) fn parse(url: &str) -> Result<Self, ConnectError> {
        let (rest, tls) = take_tls(url)?;
        let mut config: Config = rest.parse().map_err(|error| wrong(told(&error)))?;
        let (mode, verify) = tls.mode()?;
        config.ssl_mode(mode);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it names no host"));
        }
        let has_at = |host: &Host| matches!(host, Host::Tcp(host) if host.contains('@'));
        if config.get_hosts().iter().any(has_at) {
            return Err(wrong(
                "its password, or what else is before the host, has an `@`, which is written `%40`",
            ));
        }
        let server = server(&config);
        Ok(Self { config, verify, server })
    }

    /// How many servers there are.
    pub(crate) fn servers(&self) -> usize {
        self.config.get_hosts().len().max(self.config.get_hostaddrs().len())
    }

    /// The configuration of one server alone, so that a server that hangs costs the others no time.
    pub(crate) fn config_of(&self, server: usize) -> Config {
        let all = &self.config;
        if self.servers() == 1 {
            return all.clone();
        }
        let mut one = Config::new();
        match all.get_hosts().get(server) {
            Some(Host::Tcp(host)) => _ = one.host(host),
            #[cfg(unix)]
            Some(Host::Unix(path)) => _ = one.host_path(path),
            None => {}
        }
        if let Some(address) = all.get_hostaddrs().get(server) {
            one.hostaddr(*address);
        }
        if let Some(port) = all.get_ports().get(server).or(all.get_ports().first()) {
            one.port(*port);
        }
        if let Some(user) = all.get_user() {
            one.user(user);
        }
        if let Some(password) = all.get_password() {
            one.password(password);
        }
        if let Some(database) = all.get_dbname() {
            one.dbname(database);
        }
        if let Some(options) = all.get_options() {
            one.options(options);
        }
        if let Some(name) = all.get_application_name() {
            one.application_name(name);
        }
        if let Some(timeout) = all.get_connect_timeout() {
            one.connect_timeout(*timeout);
        }
        if let Some(timeout) = all.get_tcp_user_timeout() {
            one.tcp_user_timeout(*timeout);
        }
        if let Some(interval) = all.get_keepalives_interval() {
            one.keepalives_interval(interval);
        }
        if let Some(retries) = all.get_keepalives_retries() {
            one.keepalives_retries(retries);
        }
        one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
        one.ssl_mode(all.get_ssl_mode())
            .ssl_negotiation(all.get_ssl_negotiation())
            .target_session_attrs(all.get_target_session_attrs())
            .channel_binding(all.get_channel_binding())
            .load_balance_hosts(all.get_load_balance_hosts());
        one
    }

    pub(crate) fn user(&self) -> String {
        self.config.get_user().unwrap_or("(that of the process)").to_owned()
    }

    pub(crate) fn database(&self) -> String {
        self.config.get_dbname().map_or_else(|| self.user(), str::to_owned)
    }
}

/// The options that the client library does not know, or not with all their values.
#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    roots: Option<String>,
}

impl TlsOptions {
    /// As libpq reads them.
    fn mode(self) -> Result<(SslMode, CertificateCheck), ConnectError> {
        let named = self.roots.map(|roots| match &*roots {
            "system" => TrustedRoots::System,
            file => TrustedRoots::File(file.into()),
        });
        let verify_authority = |roots: Option<TrustedRoots>| roots.map(CertificateCheck::Authority);
        Ok(match self.mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, CertificateCheck::Nothing),
            "prefer" => (SslMode::Prefer, CertificateCheck::Nothing),
            // (Naming authorities asks for them to be verified.)
            "require" => {
                (SslMode::Require, verify_authority(named).unwrap_or(CertificateCheck::Nothing))
            }
            "verify-ca" => (
                SslMode::Require,
                CertificateCheck::Authority(named.unwrap_or(TrustedRoots::System)),
            ),
            "verify-full" => {
                (SslMode::Require, CertificateCheck::Host(named.unwrap_or(TrustedRoots::System)))
            }
            _ => {
                return Err(wrong(
                    "`sslmode` is `disable`, `prefer`, `require`, `verify-ca` or `verify-full`",
                ));
            }
        })
    }
}

/// Takes the options of TLS out of a URL.
fn take_tls(url: &str) -> Result<(String, TlsOptions), ConnectError> {
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(wrong("it does not begin with `postgres://`"));
    }
    let mut tls = TlsOptions::default();
    // (A password may have a question mark.)
    let credentials = url.find('@').unwrap_or(0);
    let Some(at) = url[credentials..].find('?').map(|at| credentials + at) else {
        return Ok((url.to_owned(), tls));
    };
    let mut others = Vec::new();
    for option in url[at + 1..].split('&') {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
        match key {
            "sslmode" => tls.mode = Some(value()),
            "sslrootcert" => tls.roots = Some(value()),
            _ => others.push(option),
        }
    }
    let separator = if others.is_empty() { "" } else { "?" };
    Ok((format!("{}{separator}{}", &url[..at], others.join("&")), tls))
}

/// What is wrong with the address, without anything that might be part of an unencoded password.
fn told(error: &tokio_postgres::Error) -> &'static str {
    let says = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    if says.starts_with("unknown option") {
        "it has an option that is not known"
    } else if says.starts_with("invalid value for option `port`") {
        "its port is not a number"
    } else if says.starts_with("invalid value") {
        "one of its options has a value that cannot be"
    } else {
        "its parts cannot be told apart"
    }
}

fn wrong(why: impl Into<String>) -> ConnectError {
    ConnectError::Address { why: why.into() }
}

fn server(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let mut server = String::new();
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let mut names: Vec<String> = hosts.collect();
    if names.is_empty() {
        names = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    for (at, name) in names.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(server, "{comma}{name}:{}", port(at));
    }
    server
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> DatabaseAddress {
        DatabaseAddress::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    /// The client library would repeat the rest as the name of the host.
    #[test]
    fn a_password_with_an_at_is_refused_and_not_told() {
        let error =
            DatabaseAddress::parse("postgres://me:se@cret@host:1/db").err().expect("it is refused");
        assert!(error.to_string().contains("`%40`"), "{error}");
        assert!(!format!("{error} {error:?}").contains("cret"), "{error}");
        assert_eq!(read("postgres://me:se%40cret@host:1/db").server, "host:1");
    }

    #[test]
    fn modes_of_tls_are_those_of_libpq() {
        let of = |options: &str| {
            let address = read(&format!("postgres://u:p@h/db{options}"));
            (address.config.get_ssl_mode(), address.verify)
        };
        assert_eq!(of(""), (SslMode::Prefer, CertificateCheck::Nothing));
        assert_eq!(of("?sslmode=disable"), (SslMode::Disable, CertificateCheck::Nothing));
        assert_eq!(of("?sslmode=require"), (SslMode::Require, CertificateCheck::Nothing));
        assert_eq!(
            of("?sslmode=require&sslrootcert=%2Fa%20b.pem"),
            (SslMode::Require, CertificateCheck::Authority(TrustedRoots::File("/a b.pem".into())))
        );
        assert_eq!(
            of("?connect_timeout=3&sslmode=verify-ca"),
            (SslMode::Require, CertificateCheck::Authority(TrustedRoots::System))
        );
        assert_eq!(
            of("?sslrootcert=x.pem&sslmode=verify-full&connect_timeout=3"),
            (SslMode::Require, CertificateCheck::Host(TrustedRoots::File("x.pem".into())))
        );
        assert!(DatabaseAddress::parse("postgres://u:p@h/db?sslmode=allow").is_err());
    }

    #[test]
    fn each_server_has_all_that_is_said_of_them() {
        let all = read(
            "postgres://u:p@h1:1,h2:2/db?application_name=x&connect_timeout=3&options=-c%20x%3D1&sslmode=require\
             &keepalives_idle=7&keepalives_retries=9&tcp_user_timeout=5&channel_binding=disable",
        );
        assert_eq!(all.servers(), 2);
        for (server, name) in ["h1", "h2"].into_iter().enumerate() {
            let one = all.config_of(server);
            assert_eq!(one.get_hosts(), [Host::Tcp(name.into())]);
            assert_eq!(one.get_ports(), [server as u16 + 1]);
            // All else is the same.
            let text = |config: &Config| {
                let text = format!("{config:?}");
                let (before, behind) = text.split_once("host: ").unwrap();
                let (_, behind) = behind.split_once(", connect_timeout: ").unwrap();
                format!("{before}{behind}")
            };
            assert_eq!(text(&one), text(&all.config));
            assert_eq!(one.get_password(), all.config.get_password());
        }
    }

    #[test]
    fn other_options_stay() {
        let url = "postgres://u:p%3f@h1:1,h2:2/db?sslmode=prefer&application_name=x%26y&connect_timeout=3";
        let address = read(url);
        assert_eq!(address.config.get_application_name(), Some("x&y"));
        assert_eq!(address.config.get_password(), Some(&b"p?"[..]));
        assert_eq!(address.server, "h1:1,h2:2");
        assert_eq!((address.user(), address.database()), ("u".into(), "db".into()));
        assert_eq!(read("postgres://u:a?b@h/db?sslmode=disable").server, "h:5432");
        assert_eq!(read("postgresql://u@/db?host=/run/pg").server, "/run/pg:5432");
    }

    #[test]
    fn no_message_has_a_password() {
        for url in [
            "postgres://u:sec@ret/word@h/db",
            "postgres://u:sec/ret@h:x/db",
            "postgres://u:secret",
            "postgres://u:secret@h:port/db",
            "postgres://u:sec@h/db?ret=secret",
            "postgres://u:secret@h/db?x=secret",
            "postgres://u:secret@h/db?secret",
            "postgres://u:secret@/db",
            "host=h password=secret secret",
            "postgres://u:secret@h/db?sslmode=secret",
            "postgres://u:secret@h/db?hostaddr=secret",
        ] {
            let Err(error) = DatabaseAddress::parse(url) else { continue };
            let said = format!("{error} {error:?}");
            assert!(!said.contains("ret"), "{url}: {said}");
        }
    }
}
