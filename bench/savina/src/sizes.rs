//! What programs are given, and small steps that their forms share.

use std::hint::black_box;

use coact_bench_workloads::Given;
use coact_bench_workloads::random::{R16, spin};
use coact_bench_workloads::work::filter_bank::Bank;
use coact_bench_workloads::work::integral::Integral;
use coact_bench_workloads::work::logistic_map::Terms;
use coact_bench_workloads::work::lookups::Load;

/// How many there are of what.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub producers: u64,
    pub consumers: u64,
    /// Of each producer.
    pub items: u64,
    pub buffer: u64,
    /// Hundreds of steps of work that an item takes, on each side.
    pub cost: u32,
}

impl Buffer {
    pub fn of(given: &Given) -> anyhow::Result<Buffer> {
        Ok(Buffer {
            producers: given.number("producers")?,
            consumers: given.number("consumers")?,
            items: given.number("items")?,
            buffer: given.number("buffer")?,
            cost: given.number("cost")? as u32,
        })
    }
}

/// How many are served, how many may wait, and the most work to make a customer and to serve one.
#[derive(Clone, Copy)]
pub struct Shop {
    pub haircuts: u64,
    pub places: usize,
    pub production: u32,
    pub haircut: u32,
}

impl Shop {
    pub fn of(given: &Given) -> anyhow::Result<Shop> {
        Ok(Shop {
            haircuts: given.number("haircuts")?,
            places: given.size("places")?,
            production: given.number("production")? as u32,
            haircut: given.number("haircut")? as u32,
        })
    }
}

/// What a worker asks a dictionary for.
pub fn lookups(given: &Given) -> anyhow::Result<Load> {
    let writes = given.number("writes")? as u32;
    Ok(Load { messages: given.number("messages")?, writes, sizes: 0 })
}

/// What a worker asks a list for.
pub fn list_lookups(given: &Given) -> anyhow::Result<Load> {
    Ok(Load { sizes: given.number("sizes")? as u32, ..lookups(given)? })
}

pub fn bank(given: &Given) -> anyhow::Result<Bank> {
    let (channels, columns) = (given.number("channels")?, given.number("columns")?);
    Ok(Bank { channels, columns, simulations: given.number("simulations")? })
}

pub fn terms(given: &Given) -> anyhow::Result<Terms> {
    let (series, terms) = (given.number("series")?, given.number("terms")?);
    let (start, increment) = (given.number("start")?, given.number("increment")?);
    Ok(Terms { series, terms, start, increment })
}

pub fn integral(given: &Given) -> anyhow::Result<Integral> {
    let (pieces, workers) = (given.number("pieces")?, given.number("workers_n")?);
    let (left, right) = (given.number("left")?, given.number("right")?);
    Ok(Integral { pieces, workers, left, right })
}

/// The colour of two creatures that have met, of the colours 0, 1 and 2: theirs, or the third one.
pub fn complement(one: u8, other: u8) -> u8 {
    if one == other { one } else { 3 - one - other }
}

/// What an actor of a fork computes.
pub fn computed() -> f64 {
    black_box(37.2_f64).sin().powi(2)
}

/// A customer is made, or served, in some steps, less than `most` and ten.
pub fn steps(random: &mut R16, most: u32) {
    spin(u64::from(random.below(most)) + 10);
}
