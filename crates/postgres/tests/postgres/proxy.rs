//! What is between a store and its server: it passes messages of the protocol on, and cuts the
//! connection where the test says.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Which way messages go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    ToServer,
    ToClient,
}

/// What becomes of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It is cut before a message.
    Before,
    /// It is cut in the middle of a message.
    Within,
    /// Nothing comes through any more, and no end is told.
    Silence,
}

/// What becomes of connections that are made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Door {
    /// They are passed on.
    #[default]
    Open,
    /// They are cut.
    Closed,
    /// Nothing is answered.
    Hung,
}

/// A proxy that passes connections on to a port of 127.0.0.1.
pub struct Proxy {
    _runtime: Runtime,
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    fault: Mutex<Option<Fault>>,
    has_struck: AtomicBool,
    door: Mutex<Door>,
    /// How many connections hang, or were given up.
    hung: AtomicUsize,
}

/// What happens to the connection that has the last of the messages that are let through.
struct Fault {
    way: Way,
    left: usize,
    end: End,
}

impl Shared {
    /// What becomes of the connection that has a message.
    fn count(&self, way: Way) -> Option<End> {
        let mut fault = self.fault.lock().unwrap();
        let armed = fault.as_mut().filter(|armed| armed.way == way)?;
        if armed.left > 0 {
            armed.left -= 1;
            return None;
        }
        let end = armed.end;
        *fault = None;
        // ORDERING: SeqCst, as it is a test.
        self.has_struck.store(true, Ordering::SeqCst);
        Some(end)
    }
}

impl Proxy {
    pub fn new(server: u16) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let of_each = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server, Arc::clone(&of_each)));
            }
        });
        Self { _runtime: runtime, port, shared }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Says what becomes of connections from now on, but for those that there are.
    pub fn set_door(&self, door: Door) {
        *self.shared.door.lock().unwrap() = door;
    }

    /// How many connections hang, or were given up.
    pub fn hung(&self) -> usize {
        // ORDERING: SeqCst, as it is a test.
        self.shared.hung.load(Ordering::SeqCst)
    }

    /// Ends the connection that has the message behind that number of others that go this way from
    /// now on.
    pub fn strike(&self, way: Way, after: usize, end: End) {
        // ORDERING: SeqCst, as it is a test.
        self.shared.has_struck.store(false, Ordering::SeqCst);
        *self.shared.fault.lock().unwrap() = Some(Fault { way, left: after, end });
    }

    /// Whether it has come to that. If not, it does not any more.
    pub fn has_struck(&self) -> bool {
        *self.shared.fault.lock().unwrap() = None;
        // ORDERING: SeqCst, as it is a test.
        self.shared.has_struck.load(Ordering::SeqCst)
    }
}

async fn pass(client: TcpStream, server: u16, shared: Arc<Shared>) {
    let door = *shared.door.lock().unwrap();
    match door {
        Door::Open => {}
        Door::Closed => return,
        Door::Hung => {
            // ORDERING: SeqCst, as it is a test.
            shared.hung.fetch_add(1, Ordering::SeqCst);
            // (The client's end stays as it is.)
            return std::future::pending().await;
        }
    }
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    // Either way ends the other.
    let (ended, end) = watch::channel(None);
    let ended = Arc::new(ended);
    let ways = [(from_client, to_server, Way::ToServer), (from_server, to_client, Way::ToClient)];
    for (from, to, way) in ways {
        let (ended, mut end, shared) = (Arc::clone(&ended), end.clone(), Arc::clone(&shared));
        tokio::spawn(async move {
            let (mut from, mut to) = (from, to);
            let how = tokio::select! {
                how = pass_messages(&mut from, &mut to, way, &shared) => how,
                how = end.wait_for(Option::is_some) => how.map_or(End::Before, |how| how.unwrap_or(End::Before)),
            };
            ended.send_replace(Some(how));
            if how == End::Silence {
                // Both halves stay as they are.
                std::future::pending::<()>().await;
            }
        });
    }
}

/// Passes messages on until the connection ends, or is ended.
async fn pass_messages(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    way: Way,
    shared: &Shared,
) -> End {
    // The client's first one has no type.
    let mut has_type = way == Way::ToClient;
    while let Ok(message) = read(from, has_type).await {
        has_type = true;
        match shared.count(way) {
            None => {}
            Some(End::Within) => {
                let _ = to.write_all(&message[..message.len() / 2]).await;
                return End::Within;
            }
            Some(end) => return end,
        }
        if to.write_all(&message).await.is_err() {
            break;
        }
    }
    End::Before
}

async fn read(from: &mut OwnedReadHalf, has_type: bool) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; if has_type { 5 } else { 4 }];
    from.read_exact(&mut message).await?;
    let length = message[message.len() - 4..].try_into().map(u32::from_be_bytes).unwrap() as usize;
    let head = message.len();
    message.resize(head + length - 4, 0);
    from.read_exact(&mut message[head..]).await?;
    Ok(message)
}
