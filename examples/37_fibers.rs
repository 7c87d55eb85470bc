//! Actors with a stack of their own, which wait for a message in the middle of a function.
//!
//! `cargo run --example 37_fibers`

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use coact::dynamic::{DynAddr, DynThread, atom, cases, fiber, spawn_fiber};
use coact::prelude::*;

/// An auction of several lots. Its state is what was sold, and for how much.
type Auction = DynThread<Vec<(String, u32)>>;

/// Sells one lot after the other. Bids for a lot that has not been opened yet wait until it is.
fn auction(me: &mut Auction) {
    me.receive_loop(cases! { |me: &mut Auction|
        (atom!("lot"), name: String) => {
            let price = sell(me, &name);
            println!("{name} is sold for {price}");
            me.state_mut().push((name, price));
            Continue(())
        },
        (atom!("close")) => {
            let lots = me.state().len();
            me.reply(lots);
            Break(())
        },
    });
}

/// Takes bids for one lot, until there is one of 100 or more.
fn sell(me: &mut Auction, lot: &str) -> u32 {
    let mut highest = 0;
    me.receive_loop(cases! { ref |me: &mut Auction|
        (atom!("bid"), name: String, amount: u32) if *name == *lot => {
            highest = highest.max(amount);
            me.reply(highest);
            if amount < 100 { Continue(()) } else { Break(()) }
        },
    });
    highest
}

/// Bids more each time, until there is no answer any more: then the lot is sold, and the auction is
/// over.
fn bidder(auction: DynAddr, lot: &'static str) -> DynAddr {
    spawn_fiber(move |me: &mut DynThread| {
        let mut bid = 10;
        loop {
            let highest = me.request(&auction, (atom!("bid"), lot, bid)).await_(
                me,
                cases! { |_me: &mut DynThread|
                    (highest: u32) => Some(highest),
                    (_: AskError) => None,
                    after Duration::from_secs(5) => None,
                },
            );
            let Some(highest) = highest else { return };
            bid = highest + 30;
        }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().workers(2).build()?;
    runtime.run(|| {
        let auction = fiber(Vec::new(), auction).spawn();
        let bidders = ["vase", "clock"].map(|lot| bidder((*auction).clone(), lot));
        // Each bidder waits in the middle of its loop, until its lot is opened.
        for lot in ["clock", "vase"] {
            auction.send((atom!("lot"), lot)).expect("the auction is open");
        }
        // A behaviour sees the state, wherever the body waits.
        let sold = call(&auction, |sold| sold.len()).wait().expect("the auction is open");
        println!("{sold} of 2 lots are sold so far");
        // What is asked now is skipped until both are.
        assert_eq!(auction.ask(atom!("close")).wait().expect("it is answered"), (2_usize,));
        auction.ended().wait().expect("the auction has an end");
        for bidder in bidders {
            bidder.ended().wait().expect("a bidder has an end");
        }
    });
    Ok(())
}
