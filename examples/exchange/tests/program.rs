//! Runs the program as a user does: over HTTP and WebSocket, with every kind of mistake, until
//! Ctrl-C.

mod server;

use std::process::Command;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use server::{Client, Server};

/// Two accounts: ann has ten shares, ben has cash.
async fn opened(client: &Client) {
    for (name, deposit) in
        [("ann", json!({ "symbol": "ACME", "amount": 10 })), ("ben", json!({ "amount": 100_000 }))]
    {
        assert_eq!(client.post("/accounts", json!({ "name": name })).await.0, 201);
        assert_eq!(client.post(&format!("/accounts/{name}/deposits"), deposit).await.0, 200);
    }
}

fn sell(price: u64, quantity: u64) -> Value {
    json!({ "symbol": "ACME", "side": "sell", "price": price, "quantity": quantity })
}

fn buy(price: u64, quantity: u64) -> Value {
    json!({ "symbol": "ACME", "side": "buy", "price": price, "quantity": quantity })
}

#[tokio::test]
async fn a_trade_moves_cash_and_shares_and_every_view_shows_it() {
    let server = Server::start();
    let client = server.client();
    opened(&client).await;
    let (status, placed) = client.post("/accounts/ann/orders", sell(990, 4)).await;
    assert_eq!((status, &placed["order"]["status"]), (201, &json!("open")));
    let (status, bought) = client.post("/accounts/ben/orders", buy(1_000, 6)).await;
    assert_eq!((status, &bought["order"]["filled"]), (201, &json!(4)));
    assert_eq!(bought["trades"][0]["price"], 990, "at the price of the order that was there");

    let (_, ben) = client.get("/accounts/ben").await;
    assert_eq!(ben["cash"], json!({ "total": 96_040, "reserved": 2_000 }));
    assert_eq!(ben["holdings"]["ACME"]["total"], 4);
    let (_, book) = client.get("/books/ACME?levels=1").await;
    assert_eq!(book["bids"], json!([{ "price": 1_000, "quantity": 2, "orders": 1 }]));
    assert_eq!(book["asks"], json!([]));

    let own = format!("/accounts/ben/orders/{}", bought["order"]["id"]);
    let (status, cancelled) = client.delete(&own).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")));
    assert_eq!(client.get(&own).await.1, cancelled);
    let (status, ben) = client.post("/accounts/ben/withdrawals", json!({ "amount": 96_040 })).await;
    assert_eq!((status, &ben["cash"]["total"]), (200, &json!(0)));

    let (_, picture) = client.get("/snapshot").await;
    let totals = json!({ "cash": 3_960, "shares": { "ACME": 10 }, "open_orders": 0 });
    assert_eq!(picture["totals"], totals);
    assert_eq!(client.get("/books").await, (200, json!(["ACME", "BOLT"])));
}

#[tokio::test]
async fn every_mistake_is_named() {
    let server = Server::start();
    let client = server.client();
    opened(&client).await;
    let (_, sold) = client.post("/accounts/ann/orders", sell(500, 1)).await;
    client.post("/accounts/ben/orders", buy(500, 1)).await;
    let filled = format!("/accounts/ann/orders/{}", sold["order"]["id"]);
    let named =
        json!({ "symbol": "BOLT", "side": "buy", "price": 1, "quantity": 1, "client_id": "b-1" });
    assert_eq!(client.post("/accounts/ben/orders", named.clone()).await.0, 201);

    let orders = "/accounts/ben/orders";
    let with = |field: &str, value: Value| {
        let mut order = buy(1_000, 1);
        order[field] = value;
        order
    };
    let mistakes = [
        ("/accounts", json!({ "name": "ann" }), 409, "account_exists", "`ann`"),
        ("/accounts", json!({ "name": "a b" }), 400, "bad_body", "`a b` is no account name"),
        ("/accounts", json!({ "nome": "a" }), 400, "bad_body", "`nome`"),
        ("/accounts/eve/deposits", json!({ "amount": 1 }), 404, "unknown_account", "`eve`"),
        ("/accounts/e!/deposits", json!({ "amount": 1 }), 400, "bad_path", "`e!`"),
        ("/accounts/ann/deposits", json!({ "amount": 0 }), 400, "out_of_range", "amount"),
        ("/accounts/ann/deposits", json!({ "amount": -5 }), 400, "bad_body", "amount"),
        (
            "/accounts/ann/deposits",
            json!({ "amount": 1_000_000_001 }),
            400,
            "out_of_range",
            "amount",
        ),
        (
            "/accounts/ann/deposits",
            json!({ "amount": 1, "symbol": "XX" }),
            404,
            "unknown_symbol",
            "`XX`",
        ),
        (
            "/accounts/ann/withdrawals",
            json!({ "amount": 501 }),
            422,
            "insufficient_funds",
            "500 cents",
        ),
        (orders, with("quantity", json!(0)), 400, "out_of_range", "quantity"),
        (orders, with("quantity", json!(-1)), 400, "bad_body", "quantity"),
        (orders, with("quantity", json!(1.5)), 400, "bad_body", "quantity"),
        (orders, with("price", json!(0)), 400, "out_of_range", "price"),
        (orders, with("price", json!(u64::MAX)), 400, "out_of_range", "price"),
        (orders, with("side", json!("hold")), 400, "bad_body", "`hold`"),
        (orders, with("symbol", json!("acme")), 400, "bad_body", "`acme` is no symbol"),
        (orders, with("symbol", json!("XX")), 404, "unknown_symbol", "`XX`"),
        (orders, with("client_id", json!("")), 400, "bad_client_id", "client id"),
        (orders, with("quantity", json!(1_000_000)), 422, "insufficient_funds", "`ben`"),
        (orders, sell(1, 2), 422, "insufficient_shares", "`ben` has 1 ACME"),
        (orders, named, 409, "duplicate_client_id", "`b-1`"),
        ("/accounts/eve/orders", buy(1, 1), 404, "unknown_account", "`eve`"),
        ("/nowhere", json!({}), 404, "unknown_path", ""),
    ];
    for (path, body, status, code, message) in mistakes {
        let (found, problem) = client.post(path, body.clone()).await;
        assert_eq!((found, &problem["error"]), (status, &json!(code)), "{path} {body} {problem}");
        assert!(problem["message"].as_str().unwrap().contains(message), "{problem}");
    }
    let problem = |(status, problem): (u16, Value)| (status, problem["error"].clone());
    assert_eq!(problem(client.delete(&filled).await), (409, json!("not_open")));
    assert_eq!(
        problem(client.delete("/accounts/ann/orders/99").await),
        (404, json!("unknown_order"))
    );
    assert_eq!(problem(client.get("/accounts/ann/orders/x").await), (400, json!("bad_path")));
    assert_eq!(problem(client.get("/books/XX").await), (404, json!("unknown_symbol")));
    assert_eq!(problem(client.get("/books/ACME?levels=x").await), (400, json!("bad_query")));
    assert_eq!(client.raw("POST", "/accounts", "{").await.0, 400);
}

#[tokio::test]
async fn a_web_socket_tells_of_trades_and_a_client_that_leaves_harms_no_other() {
    let server = Server::start();
    let client = server.client();
    opened(&client).await;
    client.post("/accounts/ann/orders", sell(990, 4)).await;
    let (mut stays, mut leaves) = (server.updates("ACME").await, server.updates("ACME").await);
    for socket in [&mut stays, &mut leaves] {
        // It begins with what there is.
        let top = server::next(socket).await;
        assert_eq!((&top["type"], &top["ask"]["price"]), (&json!("top"), &json!(990)));
    }
    drop(leaves);
    stays.send(Message::Text("is read and dropped".into())).await.unwrap();

    client.post("/accounts/ben/orders", buy(1_000, 3)).await;
    let (trade, top) = (server::next(&mut stays).await, server::next(&mut stays).await);
    assert_eq!((&trade["type"], &trade["quantity"]), (&json!("trade"), &json!(3)));
    assert_eq!((&trade["symbol"], &trade["side"]), (&json!("ACME"), &json!("buy")));
    assert_eq!(top["ask"]["quantity"], 1);
    assert_eq!(top["number"].as_u64(), trade["number"].as_u64().map(|number| number + 1));
    stays.close(None).await.unwrap();
    assert_eq!(server.stop().await, (Some(0), "stopped: all work was done\n".to_owned()));
}

#[tokio::test]
async fn a_web_socket_that_reads_late_misses_nothing_silently() {
    let server = Server::start();
    let client = server.client();
    opened(&client).await;
    client.post("/accounts/ben/deposits", json!({ "amount": 100_000_000 })).await;
    client.post("/accounts/ann/orders", sell(990, 4)).await;
    let mut late = server.updates("ACME").await;
    let mut number = server::next(&mut late).await["number"].as_u64().unwrap();
    // Each order changes the best bid; the client reads none of it, until the last one is there.
    let last = 600;
    for price in 1..=last {
        assert_eq!(client.post("/accounts/ben/orders", buy(price, 1)).await.0, 201);
    }
    loop {
        let update = server::next(&mut late).await;
        number += 1 + update["missed"].as_u64().unwrap_or(0);
        assert_eq!(update["number"], number);
        if update["bid"]["price"] == last {
            break;
        }
    }
}

#[tokio::test]
async fn clients_that_trade_at_the_same_time_make_and_lose_nothing() {
    let server = Server::start();
    let client = server.client();
    let mut traders = Vec::new();
    for number in 0..8 {
        let name = format!("t{number}");
        client.post("/accounts", json!({ "name": name })).await;
        let deposits = format!("/accounts/{name}/deposits");
        client.post(&deposits, json!({ "amount": 10_000 })).await;
        client.post(&deposits, json!({ "symbol": "ACME", "amount": 20 })).await;
    }
    for number in 0..8_u64 {
        let client = server.client();
        traders.push(tokio::spawn(async move {
            for step in 0..25 {
                let price = 95 + (number * 7 + step * 3) % 11;
                let order = if (number + step) % 2 == 0 { buy(price, 2) } else { sell(price, 2) };
                let (status, answer) =
                    client.post(&format!("/accounts/t{number}/orders"), order).await;
                assert!(matches!(status, 201 | 422), "{answer}");
                let (_, picture) = client.get("/snapshot").await;
                assert_eq!(picture["totals"]["cash"], 80_000);
                assert_eq!(picture["totals"]["shares"]["ACME"], 160);
            }
        }));
    }
    for trader in traders {
        trader.await.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_finishes_what_is_under_way_and_closes_web_sockets() {
    let server = Server::start();
    let client = server.client();
    opened(&client).await;
    client.post("/accounts/ann/orders", sell(990, 4)).await;
    let mut socket = server.updates("ACME").await;
    assert_eq!(server::next(&mut socket).await["type"], "top");
    // Half of a request has been sent when the server is told to stop.
    let order = buy(1_000, 4).to_string();
    let (first, rest) = order.split_at(order.len() / 2);
    let mut half = server.begin_post("/accounts/ben/orders", order.len(), first).await;
    server.interrupt();
    let close = loop {
        match socket.next().await.expect("it says goodbye").expect("in good order") {
            Message::Close(frame) => break frame.expect("it says why"),
            other => assert!(other.is_text(), "{other}"),
        }
    };
    assert_eq!(close.code, CloseCode::Away);
    while server.connect().await.is_ok() {
        // It stops to accept while the half request keeps it alive.
        tokio::task::yield_now().await;
    }
    let answer = server::finish(&mut half, rest).await;
    assert!(answer.starts_with("HTTP/1.1 201") && answer.contains("\"filled\":4"), "{answer}");
    assert_eq!(server.ended().await, (Some(0), "stopped: all work was done\n".to_owned()));
}

#[tokio::test]
async fn an_address_that_is_taken_is_an_error() {
    let server = Server::start();
    let taken = server.address().to_string();
    let output = exchange(&["serve", "--listen", &taken]);
    assert_eq!(output.0, Some(1));
    assert!(output.2.contains(&format!("error: cannot listen on {taken}")), "{}", output.2);
}

/// Runs the program to its end: exit code, standard output, standard error.
fn exchange(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_exchange")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_demonstration_reports_and_checks_itself() {
    let (code, out, err) =
        exchange(&["demo", "--orders", "3000", "--traders", "20", "--seed", "7"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for text in
        ["seed 7: 3,000 orders of 20 traders on ", "  latency  50 % ", "  ACME ", "  checked  "]
    {
        assert!(out.contains(text), "{text:?} is not in\n{out}");
    }
    assert!(out.contains("  accounts 20,000.00, 2,000 ACME, 2,000 BOLT, 2,000 CORN; "), "{out}");
}

#[test]
fn wrong_usage_is_explained() {
    for args in [
        &["serve", "--symbols", "acme"][..],
        &["serve", "--listen", "nowhere"],
        &["demo", "--orders", "0"],
        &["demo", "--traders", "many"],
        &["market"],
    ] {
        let (code, _, err) = exchange(args);
        assert_eq!(code, Some(2), "{args:?}");
        assert!(err.contains("--help"), "{args:?}: {err}");
    }
    let (code, out, _) = exchange(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("Examples:") && out.contains("Exit codes:") && out.contains("curl"),
        "{out}"
    );
}
