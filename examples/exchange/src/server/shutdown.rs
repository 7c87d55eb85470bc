//! When to stop, and who is still there.

use std::convert::Infallible;
use std::io;

use tokio::sync::mpsc;

/// Completes when the process is told to stop: by Ctrl-C or, on Unix, by `SIGTERM`.
pub async fn stop_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Cloned into the task of each WebSocket. The graceful shutdown of the server does not wait for
/// these tasks.
#[derive(Clone)]
pub struct OpenSockets {
    _open: mpsc::Sender<Infallible>,
}

/// The other end, which sees when the last of them is gone.
pub struct AllSockets(mpsc::Receiver<Infallible>);

impl OpenSockets {
    pub fn new() -> (Self, AllSockets) {
        let (open, all) = mpsc::channel(1);
        (Self { _open: open }, AllSockets(all))
    }
}

impl AllSockets {
    pub async fn all_closed(mut self) {
        // Nothing is ever sent: the channel ends with its last sender.
        self.0.recv().await;
    }
}
