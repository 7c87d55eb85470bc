//! The requests come by HTTP: a server on tokio, and clients on a thread of their own, as one
//! process that makes load.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use anyhow::Context as _;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use super::size::Size;
use crate::Measured;
use crate::latency::Latencies;
use crate::work::bank::Transfer;

/// Serves all requests of this size to clients on a thread of their own; the result is yet to come.
pub fn drive<H, F>(runtime: &Runtime, size: Size, handle: H) -> anyhow::Result<Measured>
where
    H: Fn(Transfer) -> F + Clone + Send + 'static,
    F: Future<Output = i64> + Send + 'static,
{
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
    let address = listener.local_addr()?;
    let server = runtime.spawn(serve(listener, size, handle));
    let start = Instant::now();
    let clients = thread::Builder::new().name("clients".to_owned());
    let clients = clients.spawn(move || clients_of(address, size))?;
    let latencies = clients.join().map_err(|_| anyhow::anyhow!("a client has panicked"))??;
    let measured = Measured::new(start.elapsed(), size.requests, 0);
    server.abort();
    Ok(Measured { p99_ns: latencies.p99(), ..measured })
}

async fn serve<H, F>(listener: TcpListener, size: Size, handle: H) -> io::Result<()>
where
    H: Fn(Transfer) -> F + Clone + Send + 'static,
    F: Future<Output = i64> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let handle = handle.clone();
        let service = service_fn(move |request| answer(request, size, handle.clone()));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // It ends when its client goes.
        tokio::spawn(async { drop(connection.await) });
    }
}

/// `GET /` and the number of a request: the receiver's new balance.
async fn answer<H, F>(
    request: Request<Incoming>,
    size: Size,
    handle: H,
) -> Result<Response<Full<Bytes>>, Infallible>
where
    H: Fn(Transfer) -> F,
    F: Future<Output = i64>,
{
    let number = request.uri().path().strip_prefix('/').and_then(|path| path.parse().ok());
    let (status, text) = match number {
        Some(number) => (StatusCode::OK, handle(size.request(number)).await.to_string()),
        None => (StatusCode::BAD_REQUEST, "the path is / and a number".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    Ok(response)
}

fn clients_of(address: SocketAddr, size: Size) -> anyhow::Result<Latencies> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let clients: Vec<_> =
            (0..size.tasks).map(|task| tokio::spawn(client(address, size, task))).collect();
        let mut latencies = Latencies::of_up_to(size.requests as usize);
        for client in clients {
            latencies.extend(client.await??);
        }
        Ok(latencies)
    })
}

/// Sends one request after the other.
async fn client(address: SocketAddr, size: Size, task: u64) -> anyhow::Result<Latencies> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let numbers = size.share_of(task);
    let mut latencies = Latencies::of_up_to(numbers.clone().count());
    let mut answer = Vec::new();
    for number in numbers {
        let asked = Instant::now();
        let request = format!("GET /{number} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        answer.clear();
        while !is_whole(&answer)? {
            anyhow::ensure!(stream.read_buf(&mut answer).await? > 0, "the server has gone");
        }
        latencies.note(asked.elapsed());
    }
    Ok(latencies)
}

/// Whether an answer has come to its end, by its length; it is to be one of success.
fn is_whole(answer: &[u8]) -> anyhow::Result<bool> {
    let text = std::str::from_utf8(answer)?;
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(false) };
    anyhow::ensure!(head.starts_with("HTTP/1.1 200 "), "the server says {head:?}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.context("an answer without a length")?.parse()?;
    Ok(body.len() >= length)
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ndate: now\r\n\r\n42";
        for end in 0..answer.len() {
            assert!(!is_whole(&answer[..end]).unwrap(), "{end}");
        }
        assert!(is_whole(answer).unwrap());
        assert!(is_whole(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(is_whole(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
