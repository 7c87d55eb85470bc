//! A client asks a server, again and again, each time waiting for the answer.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn, spawn_dyn_with};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

/// Answers how often it has been asked.
fn server() -> DynAddr {
    spawn_dyn_with(0_u64, |me| {
        me.become_(cases! { |me: &mut DynContext<u64>|
            (atom!("request")) => {
                *me.state_mut() += 1;
                let answers = *me.state();
                me.reply((atom!("answer"), answers));
            },
        });
    })
    .into()
}

/// By requests, each with cases of its own for its answer.
pub fn by_requests(given: &Given) -> anyhow::Result<Measured> {
    fn ask(me: &mut DynContext, server: DynAddr, asks: u64, done: Finish) {
        me.request(&server, atom!("request")).then(
            me,
            cases! { |me: &mut DynContext|
                (atom!("answer"), answers: u64) if answers == asks => done.part(answers),
                (atom!("answer"), _: u64) => ask(me, server.clone(), asks, done.clone()),
            },
        );
    }
    let asks = given.number("asks")?;
    run(given, |server, done| {
        spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext| (atom!("serve")) => ask(me, server.clone(), asks, done.clone()) });
        })
    })
}

/// By a message there, and a reply, which is a message to its sender.
pub fn by_messages(given: &Given) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    run(given, |server, done| {
        spawn_dyn(move |me: &mut DynContext| {
            me.become_(cases! { |me: &mut DynContext|
                (atom!("serve")) => me.send(&server, atom!("request")).expect("the server lives"),
                (atom!("answer"), answers: u64) => {
                    if answers == asks {
                        done.part(answers);
                    } else {
                        me.send(&server, atom!("request")).expect("the server lives");
                    }
                },
            });
        })
    })
}

fn run(given: &Given, client: impl FnOnce(DynAddr, Finish) -> DynAddr) -> anyhow::Result<Measured> {
    let asks = given.number("asks")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let client = client(server(), finish.clone());
    runtime.wait_idle();
    stopwatch.start();
    client.send(atom!("serve")).expect("the client lives");
    let (elapsed, answers) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, asks, answers))
}
