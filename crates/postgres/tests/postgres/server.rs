//! A PostgreSQL server for the tests: a private one out of the installed programs, or that of
//! `COACT_POSTGRES_URL`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use coact_postgres::{Builder, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use crate::raw::Raw;

/// The password of the role of the tests, on a private server.
pub const PASSWORD: &str = "se/cret?";

/// What says that the tests must not be skipped.
const REQUIRED: &str = "COACT_POSTGRES_REQUIRED";

/// What has the address of a server that is there already.
const URL: &str = "COACT_POSTGRES_URL";

const SETTINGS: &str = "
fsync = on
lc_messages = 'C'
log_min_messages = warning
max_connections = 50
ssl = on
ssl_cert_file = '../server.pem'
ssl_key_file = '../server.key'
";

/// A server, and a number of schemas in it.
pub struct Server {
    place: Place,
    schemas: Mutex<Vec<String>>,
}

enum Place {
    Given(String),
    Private(Private),
}

/// The server that all tests use that do not stop it; `None` if there is none.
pub fn shared() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let place = match std::env::var(URL) {
        Ok(url) => Place::Given(url),
        Err(_) => Place::Private(Private::new()?),
    };
    let server = Arc::new(Server { place, schemas: Mutex::default() });
    *shared = Arc::downgrade(&server);
    Some(server)
}

/// A server that is the test's own.
pub fn own() -> Option<Server> {
    Some(Server { place: Place::Private(Private::new()?), schemas: Mutex::default() })
}

impl Server {
    /// The address of a database, as one that may do anything.
    pub fn url(&self) -> String {
        match &self.place {
            Place::Given(url) => url.clone(),
            Place::Private(private) => private.swift_url(private.port),
        }
    }

    /// The server, if it is a private one.
    pub fn private(&self) -> Option<&Private> {
        match &self.place {
            Place::Private(private) => Some(private),
            Place::Given(_) => {
                eprintln!("skipped: this wants a private server, and {URL} is set");
                None
            }
        }
    }

    pub fn private_mut(&mut self) -> &mut Private {
        match &mut self.place {
            Place::Private(private) => private,
            Place::Given(_) => unreachable!("it is the test's own"),
        }
    }

    /// The name of a schema that is not there.
    pub fn schema(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // (It has all that has to be quoted.)
        let name = format!("test \"{}\" 'of' {number}", std::process::id());
        self.schemas.lock().unwrap().push(name.clone());
        name
    }

    /// Has options for a store in this schema.
    pub fn builder(&self, schema: &str) -> Builder {
        PostgresStore::builder(&self.url()).schema(schema)
    }

    /// A store in this schema.
    pub fn store(&self, schema: &str) -> PostgresStore {
        self.builder(schema).connect().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A connection beside those of stores.
    pub fn raw(&self, schema: &str) -> Raw {
        let raw = Raw::connect(&self.url());
        raw.run(&format!("SET search_path = {}", quoted(schema)));
        raw
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Place::Given(url) = &self.place {
            let raw = Raw::connect(url);
            for schema in self.schemas.lock().unwrap().drain(..) {
                raw.run(&format!("DROP SCHEMA IF EXISTS {} CASCADE", quoted(&schema)));
            }
        }
    }
}

/// A server of ours: on a port of 127.0.0.1, with TLS, in a folder for temporary files, flushing to
/// the disk.
pub struct Private {
    programs: PathBuf,
    folder: TempDir,
    /// The user that it runs as, if that is not the tests' own: it refuses to be root.
    user: Option<String>,
    port: u16,
    running: Option<Child>,
}

impl Private {
    /// `None` if the programs are not there, which is told.
    fn new() -> Option<Self> {
        let Some(programs) = programs() else {
            let advice = format!(
                "there is no PostgreSQL here: `apt-get install postgresql` (on Debian), or set {URL}"
            );
            assert!(std::env::var_os(REQUIRED).is_none(), "{advice}");
            eprintln!("skipped: {advice}");
            return None;
        };
        let folder = folder();
        let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
        let user = is_root.then(|| {
            let known = |name: &&str| id(name, "-u").is_some();
            ["postgres", "nobody"].into_iter().find(known).expect("one is there").to_owned()
        });
        let mut server = Self { programs, folder, user, port: free_port(), running: None };
        server.give("");
        server.initialize();
        server.start();
        let raw = Raw::connect(&server.url("coact", "postgres", "127.0.0.1"));
        raw.run("CREATE ROLE swift SUPERUSER LOGIN");
        raw.run("CREATE DATABASE coact");
        Some(server)
    }

    /// A standby, which follows this server, and answers what only reads.
    pub fn standby(&self) -> Self {
        let (programs, user) = (self.programs.clone(), self.user.clone());
        let mut standby =
            Self { programs, folder: folder(), user, port: free_port(), running: None };
        standby.give("");
        for name in ["server.pem", "server.key"] {
            fs::copy(self.path(name), standby.path(name)).unwrap();
            standby.give(name);
        }
        let made = standby
            .program("pg_basebackup")
            .arg("-D")
            .arg(standby.path("data"))
            .args(["-h", self.folder.path().to_str().unwrap(), "-p", &self.port.to_string()])
            .args(["-U", "coact", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        standby.start();
        standby
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn url(&self, user: &str, database: &str, host: &str) -> String {
        let password = PASSWORD.replace('/', "%2F").replace('?', "%3F");
        format!("postgres://{user}:{password}@{host}:{}/{database}", self.port)
    }

    /// The address for a role that is asked for no password, which takes a while to be checked in a
    /// build without optimization.
    pub fn swift_url(&self, port: u16) -> String {
        format!("postgres://swift@127.0.0.1:{port}/coact?sslmode=disable")
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes the server's user the owner of a file.
    fn give(&self, name: &str) {
        if let Some(user) = &self.user {
            chown(self.path(name), id(user, "-u"), id(user, "-g")).unwrap();
        }
    }

    fn initialize(&self) {
        fs::write(self.path("password"), PASSWORD).unwrap();
        self.give("password");
        let made = self
            .program("initdb")
            .arg("-D")
            .arg(self.path("data"))
            .args(["-U", "coact", "-E", "UTF8", "--locale=C", "--no-sync"])
            .args(["--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile"])
            .arg(self.path("password"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self.certify();
        let access = self.path("data/pg_hba.conf");
        let others = fs::read_to_string(&access).unwrap();
        fs::write(access, format!("host all swift 127.0.0.1/32 trust\n{others}")).unwrap();
        let mut settings =
            fs::File::options().append(true).open(self.path("data/postgresql.conf")).unwrap();
        settings.write_all(SETTINGS.as_bytes()).unwrap();
    }

    /// Makes an authority, and a certificate for `localhost` alone.
    fn certify(&self) {
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap());
        let authority = authority.unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let server = server.signed_by(&key, &authority).unwrap();
        let write = |name: &str, text: String, mode| {
            fs::write(self.path(name), text).unwrap();
            fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
            self.give(name);
        };
        write("authority.pem", authority.pem(), 0o644);
        write("server.pem", server.pem(), 0o644);
        write("server.key", key.serialize_pem(), 0o600);
    }

    /// A program of the server, as its user.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = match &self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir(self.folder.path());
        command
    }

    /// Starts the server. Returns when it takes connections.
    pub fn start(&mut self) {
        let postgres = self.program("postgres");
        // It ends when its standard input does: also with a test that is killed, whose folder then
        // goes with it.
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(
                r#"trap : HUP INT TERM; folder=$1; shift; "$@" </dev/null & server=$!; read -r line; kill -QUIT $server; wait $server
                   [ "$line" = stay ] || rm -rf "$folder""#,
            )
            .arg("sh")
            .arg(self.folder.path())
            .arg(postgres.get_program())
            .args(postgres.get_args())
            .arg("-D")
            .arg(self.path("data"))
            .args(["-c", "listen_addresses=127.0.0.1", "-p", &self.port.to_string()])
            .args(["-k", self.folder.path().to_str().unwrap()])
            .current_dir(self.folder.path());
        let mut running = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(running.stderr.take().unwrap()).lines();
        let (tell, told) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let mut before = Vec::new();
        loop {
            let line = told.recv().unwrap_or_else(|_| panic!("it has ended: {before:#?}"));
            // (Or read-only ones.)
            if line.contains("ready to accept ") {
                break;
            }
            before.push(line);
        }
        self.running = Some(running);
    }

    /// Stops the server, as if it were killed. What is in its files stays.
    pub fn stop(&mut self) {
        self.end("stay\n");
    }

    fn end(&mut self, word: &str) {
        let Some(mut running) = self.running.take() else { return };
        let mut input = running.stdin.take().unwrap();
        let _ = input.write_all(word.as_bytes());
        drop(input);
        running.wait().unwrap();
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.end("");
    }
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("coact-postgres-").tempdir().unwrap()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Where the programs of the server are.
fn programs() -> Option<PathBuf> {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|told| PathBuf::from(String::from_utf8_lossy(&told.stdout).trim()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    let has_programs = |folder: &PathBuf| {
        let is_there = |name: &str| Path::is_file(&folder.join(name));
        is_there("initdb") && is_there("postgres")
    };
    told.into_iter().chain(std::env::split_paths(&path)).chain(debian).find(has_programs)
}

/// A number of a user.
fn id(user: &str, which: &str) -> Option<u32> {
    let told = Command::new("id").args([which, user]).output().ok()?;
    String::from_utf8_lossy(&told.stdout).trim().parse().ok()
}
