//! How far an attempt to connect came, which tells apart errors that the client does not.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, Socket, config};
use tokio_postgres_rustls::MakeRustlsConnect;

type RustlsConnect = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;
/// An encrypted connection.
pub(crate) type RustlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The last stage that an attempt to connect reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ConnectStage {
    /// Looks for the server.
    Reaching,
    /// Has a connection to the server.
    Reached,
    /// Both sides agreed on TLS.
    Encrypting,
}

/// Why the client gave up an attempt, other than that the server cannot be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClientRefusal {
    /// The connection cannot be encrypted.
    Tls,
    /// The server asks for a password, and the address has none.
    NoPassword,
    /// The client and the server do not agree on how the role proves who it is.
    Authentication,
}

/// Makes the TLS connections of one attempt, and remembers its stage.
pub(crate) struct StagedConnector {
    connector: MakeRustlsConnect,
    stage: Rc<Cell<ConnectStage>>,
}

/// Reads the stage of an attempt whose connector is used up.
pub(crate) struct StageReader(Rc<Cell<ConnectStage>>);

impl StagedConnector {
    pub(crate) fn new(connector: MakeRustlsConnect) -> (Self, StageReader) {
        let stage = Rc::new(Cell::new(ConnectStage::Reaching));
        (Self { connector, stage: Rc::clone(&stage) }, StageReader(stage))
    }
}

impl StageReader {
    /// Says why the client gave up the attempt. `None` if the server gave an error, or cannot be
    /// reached.
    pub(crate) fn refusal(
        &self,
        config: &Config,
        error: &tokio_postgres::Error,
    ) -> Option<ClientRefusal> {
        let source = error.source()?;
        if error.as_db_error().is_some() || self.0.get() == ConnectStage::Reaching {
            return None;
        }
        if source.is::<HandshakeError>() {
            return Some(ClientRefusal::Tls);
        }
        if let Some(error) = source.downcast_ref::<io::Error>() {
            // No system reports this of a connection: an answer is not what the password leads to.
            let is_answer = error.kind() == io::ErrorKind::InvalidInput;
            return is_answer.then_some(ClientRefusal::Authentication);
        }
        // The client gave up without an error of the system.
        let wants_tls = config.get_ssl_mode() == config::SslMode::Require
            || config.get_ssl_negotiation() == config::SslNegotiation::Direct;
        Some(if wants_tls && self.0.get() < ConnectStage::Encrypting {
            ClientRefusal::Tls
        } else if config.get_password().is_none() {
            ClientRefusal::NoPassword
        } else {
            ClientRefusal::Authentication
        })
    }
}

impl MakeTlsConnect<Socket> for StagedConnector {
    type Stream = RustlsStream;
    type TlsConnect = StagedHandshake;
    type Error = HandshakeError;

    // (The client calls it when it has a connection to the server.)
    fn make_tls_connect(&mut self, host: &str) -> Result<StagedHandshake, HandshakeError> {
        self.stage.set(ConnectStage::Reached);
        let made = MakeTlsConnect::<Socket>::make_tls_connect(&mut self.connector, host);
        let handshake = made.map_err(|error| HandshakeError(io::Error::other(error)))?;
        Ok(StagedHandshake { handshake, stage: Rc::clone(&self.stage) })
    }
}

/// A handshake that begins when the server agrees to it.
pub(crate) struct StagedHandshake {
    handshake: RustlsConnect,
    stage: Rc<Cell<ConnectStage>>,
}

impl TlsConnect<Socket> for StagedHandshake {
    type Stream = RustlsStream;
    type Error = HandshakeError;
    type Future = Pin<Box<dyn Future<Output = Result<RustlsStream, HandshakeError>>>>;

    fn connect(self, socket: Socket) -> Self::Future {
        self.stage.set(ConnectStage::Encrypting);
        Box::pin(async move { self.handshake.connect(socket).await.map_err(HandshakeError) })
    }
}

/// Why a handshake failed.
#[derive(Debug)]
pub(crate) struct HandshakeError(io::Error);

impl Display for HandshakeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for HandshakeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
