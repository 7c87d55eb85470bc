//! The exchange as a web server.

mod extract;
mod problem;
mod routes;
mod shutdown;
mod socket;

use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use coact::system::System;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::exchange::Exchange;
use crate::rules::name::Symbol;

use routes::Server;
use shutdown::{OpenSockets, stop_signal};

/// How long a shutdown waits for requests under way and for WebSockets.
const GRACE: Duration = Duration::from_secs(10);
/// How long it then waits for what they have led to.
const DEADLINE: Duration = Duration::from_secs(5);

/// Serves until the process is told to stop.
pub fn run(listen: SocketAddr, symbols: Vec<Symbol>) -> Result<()> {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let system = system_on(&tokio)?;
    let exchange = {
        let _entered = system.enter();
        Exchange::open(symbols)
    };
    let served = tokio.block_on(serve(listen, exchange));
    // The server is gone. What its requests have led to is finished before tokio, which runs it,
    // goes as well.
    let report = system.shutdown(DEADLINE);
    eprintln!("stopped: {report}");
    served?;
    match report.is_complete() {
        true => Ok(()),
        false => bail!("not everything was finished within {DEADLINE:?}"),
    }
}

/// A system whose workers run on tokio's threads: an answer seldom has to wake another thread. No
/// handler of the exchange uses tokio, so threads of the system's own do without its context.
fn system_on(tokio: &tokio::runtime::Runtime) -> Result<System> {
    let handle = tokio.handle().clone();
    let workers = available_parallelism().map_or(1, Into::into);
    let system = System::builder().main(|main| {
        let main = main.name("exchange").workers(workers);
        main.on_executor(move |worker| drop(handle.spawn(worker)))
    });
    system.build().context("cannot start the workers")
}

async fn serve(listen: SocketAddr, exchange: Exchange) -> Result<()> {
    let listener = TcpListener::bind(listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;

    let (sockets, open) = OpenSockets::new();
    let app = routes::router(Server { exchange: exchange.clone(), sockets });
    let (stop, stopped) = oneshot::channel::<()>();
    let server = axum::serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) });
    let mut server = tokio::spawn(server.into_future());

    let ended = tokio::select! {
        served = &mut server => return served?.context("the server failed"),
        signal = stop_signal() => signal.map(|()| None).context("cannot listen for signals"),
        reason = exchange.supervisor().ended() => Ok(Some(reason)),
    };
    // No more connections; no more updates, so that WebSockets close; then what is under way.
    drop(stop);
    exchange.end_updates();
    let finished = timeout(GRACE, async { (server.await, open.all_closed().await) }).await;
    if finished.is_err() {
        eprintln!("some clients did not finish within {GRACE:?}");
    }
    match ended? {
        None => Ok(()),
        Some(reason) => bail!("the books have failed too often: {reason:?}"),
    }
}
