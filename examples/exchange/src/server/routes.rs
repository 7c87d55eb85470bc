//! The REST interface. Each handler is a call of the exchange.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
use crate::exchange::book::Depth;
use crate::exchange::snapshot::{Snapshot, Totals};
use crate::rules::account::AccountView;
use crate::rules::matching::Execution;
use crate::rules::name::{Name, Symbol};
use crate::rules::order::{NewOrder, Order, OrderId};

use super::extract::{Body, In, With};
use super::problem::Problem;
use super::shutdown::OpenSockets;
use super::socket;

type Answer<T> = Result<Json<T>, Problem>;
type Created<T> = Result<(StatusCode, Json<T>), Problem>;

/// What every handler can use.
#[derive(Clone)]
pub struct Server {
    pub exchange: Exchange,
    pub sockets: OpenSockets,
}

pub fn router(server: Server) -> Router {
    Router::new()
        .route("/accounts", post(open_account))
        .route("/accounts/{name}", get(account))
        .route("/accounts/{name}/deposits", post(deposit))
        .route("/accounts/{name}/withdrawals", post(withdraw))
        .route("/accounts/{name}/orders", post(place))
        .route("/accounts/{name}/orders/{id}", get(order).delete(cancel))
        .route("/books", get(symbols))
        .route("/books/{symbol}", get(depth))
        .route("/books/{symbol}/updates", get(updates))
        .route("/snapshot", get(snapshot))
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "unknown_path", "see README.md"))
        .with_state(server)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    name: Name,
}

async fn open_account(
    State(Server { exchange, .. }): State<Server>,
    Body(NewAccount { name }): Body<NewAccount>,
) -> Created<AccountView> {
    exchange.open_account(name.clone()).await?;
    Ok((StatusCode::CREATED, Json(exchange.account(&name).await?)))
}

async fn account(
    State(Server { exchange, .. }): State<Server>,
    In(name): In<Name>,
) -> Answer<AccountView> {
    Ok(Json(exchange.account(&name).await?))
}

/// Cash or, with a symbol, shares.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Movement {
    symbol: Option<Symbol>,
    amount: u64,
}

async fn deposit(
    State(Server { exchange, .. }): State<Server>,
    In(name): In<Name>,
    Body(Movement { symbol, amount }): Body<Movement>,
) -> Answer<AccountView> {
    exchange.deposit(&name, symbol, amount).await?;
    Ok(Json(exchange.account(&name).await?))
}

async fn withdraw(
    State(Server { exchange, .. }): State<Server>,
    In(name): In<Name>,
    Body(Movement { symbol, amount }): Body<Movement>,
) -> Answer<AccountView> {
    exchange.withdraw(&name, symbol, amount).await?;
    Ok(Json(exchange.account(&name).await?))
}

async fn place(
    State(Server { exchange, .. }): State<Server>,
    In(name): In<Name>,
    Body(order): Body<NewOrder>,
) -> Created<Execution> {
    Ok((StatusCode::CREATED, Json(exchange.place(&name, order).await?)))
}

async fn order(
    State(Server { exchange, .. }): State<Server>,
    In((name, id)): In<(Name, OrderId)>,
) -> Answer<Order> {
    Ok(Json(exchange.order(&name, id).await?))
}

async fn cancel(
    State(Server { exchange, .. }): State<Server>,
    In((name, id)): In<(Name, OrderId)>,
) -> Answer<Order> {
    Ok(Json(exchange.cancel(&name, id).await?))
}

async fn symbols(State(Server { exchange, .. }): State<Server>) -> Json<Vec<Symbol>> {
    Json(exchange.symbols().cloned().collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Levels {
    #[serde(default = "ten")]
    levels: usize,
}

fn ten() -> usize {
    10
}

async fn depth(
    State(Server { exchange, .. }): State<Server>,
    In(symbol): In<Symbol>,
    With(Levels { levels }): With<Levels>,
) -> Answer<Depth> {
    Ok(Json(exchange.depth(&symbol, levels).await?))
}

/// Becomes a WebSocket.
async fn updates(
    State(Server { exchange, sockets }): State<Server>,
    In(symbol): In<Symbol>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Problem> {
    let updates = exchange.updates(&symbol)?;
    let upgrade = upgrade.max_message_size(socket::MAX_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| socket::forward(updates, socket, sockets)))
}

#[derive(Serialize)]
struct Picture {
    totals: Totals,
    #[serde(flatten)]
    snapshot: Snapshot,
}

async fn snapshot(State(Server { exchange, .. }): State<Server>) -> Answer<Picture> {
    let snapshot = exchange.snapshot().await?;
    Ok(Json(Picture { totals: snapshot.totals(), snapshot }))
}
