//! A server in a process of its own, and what talks to it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use futures_util::StreamExt;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

pub type Socket = WebSocketStream<TcpStream>;

/// `exchange serve` on a free port. It is killed on drop.
pub struct Server {
    process: Child,
    address: SocketAddr,
}

/// Makes requests, each on a connection of its own.
#[derive(Clone, Copy)]
pub struct Client(SocketAddr);

impl Server {
    pub fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exchange"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--symbols", "ACME,BOLT"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("it listens");
        let address = address.parse().unwrap();
        Self { process, address }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn client(&self) -> Client {
        Client(self.address)
    }

    pub async fn connect(&self) -> std::io::Result<TcpStream> {
        TcpStream::connect(self.address).await
    }

    /// The updates of a symbol.
    pub async fn updates(&self, symbol: &str) -> Socket {
        let url = format!("ws://{}/books/{symbol}/updates", self.address);
        let stream = self.connect().await.unwrap();
        tokio_tungstenite::client_async(url, stream).await.unwrap().0
    }

    /// Sends the head of a request, and the first part of its body.
    pub async fn begin_post(&self, path: &str, length: usize, body: &str) -> TcpStream {
        let mut stream = self.connect().await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: exchange\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // An answer to a later request on another connection: by then this one has been accepted.
        self.client().get("/books").await;
        stream
    }

    /// Ctrl-C.
    pub fn interrupt(&self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Presses Ctrl-C, and waits.
    pub async fn stop(self) -> (Option<i32>, String) {
        self.interrupt();
        self.ended().await
    }

    /// Waits for the end: the exit code, and what was written to standard error.
    pub async fn ended(mut self) -> (Option<i32>, String) {
        let mut error = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        (self.process.wait().unwrap().code(), error)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Client {
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.raw("GET", path, "").await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.raw("POST", path, &body.to_string()).await
    }

    pub async fn delete(&self, path: &str) -> (u16, Value) {
        self.raw("DELETE", path, "").await
    }

    /// The status of the answer, and its body.
    pub async fn raw(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let stream = TcpStream::connect(self.0).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = hyper::Request::builder().method(method).uri(path);
        let request = request.header(HOST, "exchange").header(CONTENT_TYPE, "application/json");
        let request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).expect("every answer is JSON"))
    }
}

/// The next update that a WebSocket brings.
pub async fn next(socket: &mut Socket) -> Value {
    match socket.next().await {
        Some(Ok(Message::Text(text))) => serde_json::from_str(&text).unwrap(),
        other => panic!("no update: {other:?}"),
    }
}

/// Sends the rest of a request, and reads until the server closes the connection.
pub async fn finish(stream: &mut TcpStream, rest: &str) -> String {
    stream.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
