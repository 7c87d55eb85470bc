//! Entities that are recovered in another process than the one that has filled the file.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use coact::durable::{EventSourced, Journal};
use coact::prelude::*;
use coact_sqlite::SqliteStore;

use crate::counter::{Counted, Counter};
use crate::measured::{Begun, Measured, peak_mib};
use crate::setup::Setup;
use crate::window;

/// How many events a step has that fills a file.
const STEP: u64 = 1_000;

/// How many events there are in all.
const EVENTS: u64 = 1_000_000;

/// How many events there are between snapshots, where there are such.
const BETWEEN: u64 = 100_000;

/// All events of one entity.
pub fn one(setup: &Setup) -> anyhow::Result<Measured> {
    recover::<0>(setup, 1, "fill-one")
}

/// The same, from a snapshot with half of the events that are between two behind it.
pub fn from_snapshot(setup: &Setup) -> anyhow::Result<Measured> {
    recover::<BETWEEN>(setup, 1, "fill-snapshots")
}

/// A hundred events each of many entities, which are asked for at once.
pub fn many(setup: &Setup) -> anyhow::Result<Measured> {
    recover::<0>(setup, setup.scaled(EVENTS / 100), "fill-many")
}

fn recover<const EVERY: u64>(setup: &Setup, entities: u64, fill: &str) -> anyhow::Result<Measured> {
    let path = setup.file("recovery.db");
    fill_elsewhere(setup, fill)?;
    let journal = Journal::builder(SqliteStore::open(&path)?).most_active(0).build();
    let begun = Begun::now()?;
    let all: Vec<_> =
        (0..entities).map(|key| journal.entity::<Counter<EVERY>>(key.to_string())).collect();
    let sums: Vec<_> = all.iter().map(|one| call(one, |one| one.sum)).collect();
    let sum: u64 = sums.into_iter().map(Promise::wait).sum::<Result<_, _>>()?;
    let mut measured = begun.end(sum)?;
    let events = setup.scaled(EVENTS) + if EVERY > 0 { setup.scaled(EVERY / 2) } else { 0 };
    ensure!(sum == events, "{sum} were recovered, and not {events}");
    measured.besides.insert("peak MiB".into(), peak_mib()?);
    measured.besides.insert("seconds".into(), measured.seconds);
    Ok(measured)
}

/// In a process of its own, so that what it takes of memory does not count.
fn fill_elsewhere(setup: &Setup, fill: &str) -> anyhow::Result<()> {
    let status = Command::new(std::env::current_exe()?)
        .args(["once", fill, "--scale", &setup.scale.to_string(), "--folder"])
        .arg(&setup.folder)
        .stdout(std::process::Stdio::null())
        .status()
        .context("cannot start a child")?;
    ensure!(status.success(), "the child that fills the file ended with {status}");
    Ok(())
}

/// Fills a file for [`one`].
pub fn fill_one(setup: &Setup) -> anyhow::Result<Measured> {
    fill::<0>(&setup.file("recovery.db"), 1, setup.scaled(EVENTS))
}

/// Fills a file for [`from_snapshot`].
pub fn fill_snapshots(setup: &Setup) -> anyhow::Result<Measured> {
    let events = setup.scaled(EVENTS) + setup.scaled(BETWEEN / 2);
    fill::<BETWEEN>(&setup.file("recovery.db"), 1, events)
}

/// Fills a file for [`many`].
pub fn fill_many(setup: &Setup) -> anyhow::Result<Measured> {
    let entities = setup.scaled(EVENTS / 100);
    fill::<0>(&setup.file("recovery.db"), entities, setup.scaled(EVENTS))
}

fn fill<const EVERY: u64>(path: &Path, entities: u64, events: u64) -> anyhow::Result<Measured>
where
    Counter<EVERY>: EventSourced<Event = Counted>,
{
    let journal = Journal::builder(SqliteStore::open(path)?).most_active(0).build();
    let begun = Begun::now()?;
    // Each entity's share, in steps.
    let share = |entity: u64| events / entities + u64::from(entity < events % entities);
    let steps = (0..entities).flat_map(|entity| {
        let all = share(entity);
        (0..all.div_ceil(STEP)).map(move |step| (entity, STEP.min(all - step * STEP)))
    });
    let steps: Vec<_> = steps.collect();
    window::run(
        steps.len() as u64,
        64,
        |number| {
            let (entity, count) = steps[number as usize];
            let one = journal.entity::<Counter<EVERY>>(entity.to_string());
            call(&one, move |one| (0..count).for_each(|_| one.persist(Counted::by(1))))
        },
        |done| Ok(done.wait()?),
    )?;
    begun.end(events)
}
