//! A WebSocket: forwards the updates of one symbol to one client.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use coact::stream::ActorStream;
use futures_core::Stream;
use tokio::time::timeout;

use crate::exchange::feed::Update;

use super::shutdown::OpenSockets;

/// Clients only listen: what they send is read, since it may be a close, and dropped.
pub const MAX_MESSAGE: usize = 4_096;

/// A client that takes no update within this time is gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client has to answer a close.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// Forwards updates until the client leaves, or there are no more. Either way the stream is dropped
/// in the end, and the feed forgets this reader.
pub async fn forward(mut updates: ActorStream<Update>, mut socket: WebSocket, _open: OpenSockets) {
    loop {
        tokio::select! {
            update = next(&mut updates) => match update {
                Some(update) => {
                    if !send(&mut socket, &update).await {
                        return;
                    }
                }
                None => return close(socket).await,
            },
            // A task that only sends would not see that the client has left.
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
        }
    }
}

async fn next(updates: &mut ActorStream<Update>) -> Option<Update> {
    poll_fn(|context| Pin::new(&mut *updates).poll_next(context)).await
}

/// Returns whether the client has taken it.
async fn send(socket: &mut WebSocket, update: &Update) -> bool {
    let text = serde_json::to_string(update).expect("an update is JSON");
    matches!(timeout(PATIENCE, socket.send(Message::Text(text.into()))).await, Ok(Ok(())))
}

/// Says why there is no more, and lets the client close its end.
async fn close(mut socket: WebSocket) {
    let reason = "the exchange is closing or restarts this feed".into();
    let frame = CloseFrame { code: close_code::AWAY, reason };
    let handshake = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // A client that does not answer is left.
    let _ = timeout(CLOSE_LIMIT, handshake).await;
}
