//! A cown a list; a behaviour over two parts and the whole puts them together.

use std::mem::take;

use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::sorting::{self, Pivots, digest, split};

struct List {
    values: Vec<u64>,
    is_sorted: bool,
}

fn sort(values: Vec<u64>, threshold: usize) -> Cown<List> {
    let list = Cown::new(List { values, is_sorted: false });
    when(list.clone(), move |mut list| {
        if list.values.len() <= threshold {
            list.values.sort_unstable();
            list.is_sorted = true;
            return;
        }
        let (less, pivots, greater) = split(take(&mut list.values));
        join(list.into_cown(), sort(less, threshold), pivots, sort(greater, threshold));
    });
    list
}

/// A part that is not sorted yet waits for a join of its own, and this one comes again behind that.
fn join(whole: Cown<List>, less: Cown<List>, pivots: Pivots, greater: Cown<List>) {
    when((whole, less, greater), move |(mut whole, mut less, mut greater)| {
        if !(less.is_sorted && greater.is_sorted) {
            return join(whole.into_cown(), less.into_cown(), pivots, greater.into_cown());
        }
        whole.values = sorting::join(take(&mut less.values), pivots, take(&mut greater.values));
        whole.is_sorted = true;
    });
}

/// Comes again behind the joins, too.
fn finish(list: Cown<List>, done: Finish) {
    when(list, move |list| {
        if !list.is_sorted {
            return finish(list.into_cown(), done);
        }
        done.part(digest(&list.values));
    });
}

pub fn start(list: Vec<u64>, threshold: usize, done: Finish) {
    finish(sort(list, threshold), done);
}
