//! Blocking jobs: an elastic pool of threads, beside the workers or in their place.

mod job;
mod pool;

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fault::Broken;
use crate::panic::{self, drop_quietly};
use crate::promise::Promise;
use crate::sched::runtime_handle::current_id;
use crate::sched::runtime_shared;
use job::JobClosure;

pub(crate) use pool::BlockingPool;

/// Runs a job that may block, on a thread for such jobs, and returns a promise of its result.
/// Threads are started on demand, up to [`max_blocking`](crate::runtime::Builder::max_blocking),
/// and end after ten idle seconds. The job belongs to the current runtime, which is not idle until
/// the job has ended.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::runtime::blocking;
///
/// let text = Cown::new(String::new());
/// let read = blocking(|| std::fs::read_to_string("Cargo.toml").unwrap_or_default());
/// let length = read.then(&text, |text, read| {
///     *text = read.unwrap();
///     text.len()
/// });
/// assert!(length.wait().unwrap() > 0);
/// ```
///
/// A panic of the job is caught and reported, and breaks the promise.
#[doc(alias = "spawn_blocking")]
#[cfg_attr(feature = "sim", track_caller)]
pub fn blocking<R, J>(job: J) -> Promise<R>
where
    R: Send + 'static,
    J: FnOnce() -> R + Send + 'static,
{
    let (resolver, promise) = Promise::channel();
    promise.owed_by(|f| write!(f, "the blocking job `{}`", type_name::<J>()));
    let home = current_id();
    let run = move |run: bool| {
        if !run {
            drop_quietly(move || drop(job));
            return drop_quietly(move || resolver.fail(Broken::Cancelled));
        }
        let result = catch_unwind(AssertUnwindSafe(job));
        drop_quietly(move || match result {
            Ok(value) => resolver.resolve(value),
            Err(payload) => resolver.fail(panic::caught(payload, type_name::<J>(), home)),
        });
    };
    let closure = JobClosure { run: Box::new(run), name: type_name::<J>() };
    BlockingPool::submit_closure(runtime_shared::get(home), closure, promise.cell());
    promise
}
