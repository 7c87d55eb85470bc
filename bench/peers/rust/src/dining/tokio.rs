//! A fork is a tokio mutex, a philosopher a task; the lower number is locked first.

use std::sync::Arc;

use coact_bench_workloads::{Given, Measured};
use tokio::sync::Mutex;

use super::common::{Fork, Size};
use crate::runtime;

/// A task each.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let forks: Arc<Vec<Mutex<Fork>>> =
        Arc::new((0..size.philosophers).map(|_| Mutex::default()).collect());
    let table = Arc::clone(&forks);
    let parts = size.philosophers as u64;
    let measured = runtime::run(runtime, size.meals(), parts, move |finish| async move {
        for philosopher in 0..size.philosophers {
            let (table, finish) = (Arc::clone(&table), finish.clone());
            tokio::spawn(async move {
                dine(&table, size, philosopher).await;
                finish.part(0);
            });
        }
    });
    let uses = forks.iter().map(|fork| fork.blocking_lock().uses).sum();
    Ok(Measured { result: size.result(uses), ..measured })
}

async fn dine(forks: &[Mutex<Fork>], size: Size, philosopher: usize) {
    let (first, second) = size.forks(philosopher);
    for _ in 0..size.meals_each {
        let mut first = forks[first].lock().await;
        let mut second = forks[second].lock().await;
        size.eat(&mut first, &mut second);
    }
}
