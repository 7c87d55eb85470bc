//! A master deals work to its workers, who give it back in smaller parts, or done.

use std::sync::Arc;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::matrices::Matrices;

/// The part of the product at a row and a column that comes from the columns of A, and rows of B,
/// from `k` on.
#[derive(Clone, Copy, Message)]
struct Work {
    row: usize,
    column: usize,
    k: usize,
    dim: usize,
}

#[derive(Actor)]
struct Worker {
    matrices: Arc<Matrices>,
    master: Addr<Master>,
}

impl Handler<Work> for Worker {
    fn handle(&mut self, work: Work, _: &mut Context<Self>) {
        if work.dim * work.dim > self.matrices.threshold {
            self.split(work);
        } else {
            let values = self.multiply(work);
            let _ = self.master.send(Block { work, values });
        }
    }
}

impl Worker {
    fn split(&self, work: Work) {
        let dim = work.dim / 2;
        let halves = [0, dim];
        for row in halves.map(|half| work.row + half) {
            for column in halves.map(|half| work.column + half) {
                for k in halves.map(|half| work.k + half) {
                    let _ = self.master.send(Work { row, column, k, dim });
                }
            }
        }
    }

    fn multiply(&self, Work { row, column, k, dim }: Work) -> Vec<f64> {
        let mut values = vec![0.0; dim * dim];
        for (i, sums) in values.chunks_exact_mut(dim).enumerate() {
            for (j, a) in self.matrices.a(row + i, k, dim).iter().enumerate() {
                let b = self.matrices.b(k + j, column, dim);
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
            }
        }
        values
    }
}

#[derive(Actor)]
struct Master {
    workers: Vec<Addr<Worker>>,
    turn: usize,
    /// Products of single values that are yet to come.
    missing: usize,
    size: usize,
    product: Vec<f64>,
    done: Finish,
}

impl Handler<Work> for Master {
    fn handle(&mut self, work: Work, _: &mut Context<Self>) {
        let _ = self.workers[self.turn].send(work);
        self.turn = (self.turn + 1) % self.workers.len();
    }
}

#[handlers]
impl Master {
    #[message]
    fn multiply(&mut self, workers: u64, matrices: Arc<Matrices>, context: &mut Context<Self>) {
        let (dim, master) = (self.size, context.address());
        let worker = |_| spawn(Worker { matrices: matrices.clone(), master: master.clone() });
        self.workers = (0..workers).map(worker).collect();
        let _ = master.send(Work { row: 0, column: 0, k: 0, dim });
    }

    #[message]
    fn block(&mut self, work: Work, values: Vec<f64>) {
        let rows = self.product.chunks_exact_mut(self.size).skip(work.row);
        for (row, values) in rows.zip(values.chunks_exact(work.dim)) {
            let sums = row[work.column..].iter_mut().zip(values);
            sums.for_each(|(sum, value)| *sum += value);
        }
        self.missing -= work.dim.pow(3);
        if self.missing == 0 {
            self.workers.clear();
            self.done.part(self.product.iter().sum::<f64>() as u64);
        }
    }
}

pub fn start(workers: u64, matrices: Matrices, done: Finish) {
    let size = matrices.size;
    let (missing, product) = (size.pow(3), vec![0.0; size * size]);
    let master = spawn(Master { workers: Vec::new(), turn: 0, missing, size, product, done });
    let _ = master.send(Multiply { workers, matrices: Arc::new(matrices) });
}
