//! Actors that take tuples of any types, and become something else.
//!
//! `cargo run --example 36_dynamic`

use std::time::Duration;

use coact::dynamic::{DynAddr, DynCases, DynContext, atom, cases, spawn_dyn, spawn_dyn_with};
use coact::prelude::*;

/// A door. What it does not take now, it takes later.
fn closed() -> DynCases<u32> {
    cases! { |me: &mut DynContext<u32>|
        (atom!("open")) => {
            println!("the door opens");
            me.become_(open());
        },
    }
}

fn open() -> DynCases<u32> {
    cases! { |me: &mut DynContext<u32>|
        (atom!("close")) => {
            println!("the door closes");
            me.become_(closed());
        },
        (atom!("enter"), name: String) => {
            *me.state_mut() += 1;
            println!("{name} comes in");
            me.reply((atom!("welcome"), *me.state()));
        },
    }
}

/// Wants to come in, and tells how it went.
fn guest(name: &'static str, door: DynAddr) -> DynAddr {
    spawn_dyn(move |me: &mut DynContext| {
        me.request(&door, (atom!("enter"), name)).then(
            me,
            cases! { |_me: &mut DynContext|
                (atom!("welcome"), number: u32) => println!("{name} is number {number}"),
                (error: AskError) => println!("{name} is sent away: {error}"),
                after Duration::from_secs(5) => println!("{name} has waited for too long"),
            },
        );
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().workers(2).build()?;
    runtime.run(|| {
        let door = spawn_dyn_with(0, |me| me.become_(closed()));
        let guests = ["Ann", "Bob"].map(|name| guest(name, (*door).clone()));
        // The guests wait in front of the door, in their order, until it opens.
        door.send(atom!("open")).expect("the door is there");
        for guest in guests {
            guest.ended().wait().expect("a guest has an end");
        }
        // A behaviour sees the state.
        assert_eq!(call(&door, |entered| *entered).wait(), Ok(2));
    });
    Ok(())
}
