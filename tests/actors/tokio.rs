//! Actors inside of tokio: their handlers and futures use its timers and tasks, on every host.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::runtime::{RuntimeHandle, blocking, spawn_future};
use coact::system::{Host, System};
use coact_tests::{Faults, Log};
use tokio::runtime::Handle;

const SHORT: Duration = Duration::from_millis(1);

/// Uses tokio in every way that an actor can.
struct TokioActor;

impl Actor for TokioActor {
    fn started(&mut self, _: &mut Context<Self>) {
        tokio::spawn(async {});
    }
}

/// Sleeps beside the actor, and holding it; answers with how many tasks of tokio have run for it.
struct Sleep;

impl Message for Sleep {
    type Reply = usize;
}

impl Receive<Sleep> for TokioActor {
    fn receive(&mut self, _: Sleep, reply: Reply<usize>, context: &mut Context<Self>) {
        let at_once = Handle::try_current().is_ok();
        context.hold(reply, move |_: &mut TokioActor, _| {
            Box::pin(async move {
                tokio::time::sleep(SHORT).await;
                let task = tokio::spawn(async {
                    tokio::time::sleep(SHORT).await;
                    1
                });
                usize::from(at_once) + task.await.unwrap()
            })
        });
    }
}

/// The same beside the actor.
struct Detached;

impl Message for Detached {
    type Reply = usize;
}

impl Receive<Detached> for TokioActor {
    fn receive(&mut self, _: Detached, reply: Reply<usize>, context: &mut Context<Self>) {
        context.detach(reply, async {
            tokio::time::sleep(SHORT).await;
            tokio::time::timeout(SHORT, std::future::pending::<()>()).await.map_or(3, |()| 0)
        });
    }
}

fn tokio_runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_time().build().unwrap()
}

#[test]
fn handlers_and_futures_use_tokio_on_every_host() {
    let tokio = tokio_runtime();
    let handle = tokio.handle().clone();
    let faults = Faults::new();
    let hook = faults.clone();
    let system = System::builder()
        .workers(1)
        .main(|main| main.panic_hook(move |fault| hook.push(fault.clone())))
        .around_threads(move |run| {
            let _entered = handle.enter();
            run();
        })
        .dispatcher("io", |io| io.workers(1))
        .dispatcher("files", |files| files.on_blocking_threads(2))
        .build()
        .unwrap();
    let (io, files) = (system.dispatcher("io").unwrap(), system.dispatcher("files").unwrap());
    system.run(|| {
        let mut actors = vec![
            spawn(TokioActor),
            actor(TokioActor).on(io).spawn(),
            actor(TokioActor).on(files).spawn(),
        ];
        let hosts = [Host::detached(), Host::blocking(), Host::workers()];
        actors.extend(hosts.map(|host| actor(TokioActor).on(host).spawn()));
        let [held, beside] = [
            actors.iter().map(|actor| actor.ask(Sleep)).collect::<Vec<_>>(),
            actors.iter().map(|actor| actor.ask(Detached)).collect(),
        ];
        assert!(held.into_iter().all(|ask| ask.wait() == Ok(2)));
        assert!(beside.into_iter().all(|ask| ask.wait() == Ok(3)));
        // Behaviours, futures and jobs as well.
        let home = call(&actors[0], |_| Handle::current().id());
        let future = spawn_future(async {
            tokio::time::sleep(SHORT).await;
            Handle::current().id()
        });
        let job = blocking(|| Handle::current().block_on(async { Handle::current().id() }));
        let id = tokio.handle().id();
        assert_eq!([home.wait(), future.wait(), job.wait()], [Ok(id), Ok(id), Ok(id)]);
    });
    assert!(faults.is_empty(), "{:?}", faults.take());
}

/// What this is about.
#[test]
fn without_it_there_is_no_reactor() {
    let faults = Faults::new();
    let hook = faults.clone();
    let system = System::builder().workers(1);
    let system = system.main(|main| main.panic_hook(move |fault| hook.push(fault.clone())));
    let system = system.build().unwrap();
    system.run(|| {
        let future = spawn_future(async { tokio::time::sleep(SHORT).await });
        let Err(Broken::Panicked(message)) = future.wait() else { panic!("had no reactor") };
        assert!(message.contains("no reactor"), "{message}");
    });
    assert_eq!(faults.take().len(), 1);
}

/// From tokio's side: its tasks are in the system, and await what actors answer.
#[test]
fn tasks_of_tokio_and_actors_work_together() {
    let (log, faults) = (Log::new(), Faults::new());
    let hook = faults.clone();
    // The context comes first, so that each can enter the other.
    let home = std::sync::Arc::new(std::sync::OnceLock::<RuntimeHandle>::new());
    let far = std::sync::Arc::clone(&home);
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .on_thread_start(move || far.wait().enter_thread())
        .build()
        .unwrap();
    let handle = tokio.handle().clone();
    let system = System::builder()
        .workers(2)
        .main(|main| main.panic_hook(move |fault| hook.push(fault.clone())))
        .around_threads(move |run| {
            let _entered = handle.enter();
            run();
        })
        .build()
        .unwrap();
    home.set(system.runtime()).unwrap();
    let sum = tokio.block_on(system.runtime().within(async {
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let log = log.clone();
                tokio::spawn(async move {
                    // No `on`, no `enter`: it is in the system.
                    let actor = spawn(TokioActor);
                    log.push(actor.runtime());
                    tokio::time::sleep(SHORT).await;
                    actor.ask(Detached).timeout(coact_tests::PATIENCE).await.unwrap()
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    }));
    assert_eq!(sum, 30);
    system.wait_idle();
    let homes = log.take();
    assert!(homes.len() == 10 && homes.iter().all(|at| *at == system.runtime()));
    assert!(faults.is_empty(), "{:?}", faults.take());
}
