//! A cown a call.

use coact::prelude::{Cown, when};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

struct Call {
    caller: Caller,
    sum: u64,
    missing: u64,
}

/// Who gets the answer.
enum Caller {
    Call(Cown<Call>),
    Outside(Finish),
}

impl Caller {
    fn answer(&self, value: u64) {
        match self {
            Caller::Outside(finish) => finish.part(value),
            Caller::Call(call) => when(call, move |call| call.take(value)),
        }
    }
}

impl Call {
    fn take(&mut self, value: u64) {
        self.sum += value;
        self.missing -= 1;
        if self.missing == 0 {
            self.caller.answer(self.sum);
        }
    }
}

fn request(caller: Caller, number: u64) {
    let call = Cown::new(Call { caller, sum: 0, missing: 2 });
    if number < 2 {
        when(&call, move |call| call.caller.answer(number));
    } else {
        let own = call.clone();
        when(&call, move |_| {
            request(Caller::Call(own.clone()), number - 1);
            request(Caller::Call(own), number - 2);
        });
    }
}

/// Asks for the number.
pub fn run(given: &Given) -> anyhow::Result<Measured> {
    let number = given.number("number")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    when(Cown::new(()), move |_| {
        started.start();
        request(Caller::Outside(finished), number);
    });
    let (elapsed, value) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, 2 * given.number("calls")?, value))
}
