use coact_core::*;
use std::time::Instant;
struct Node { next: Option<Cown<Node>>, hops: u64 }
fn hop(n: &mut Node, left: u64) {
    n.hops += 1;
    if left > 0 { let next = n.next.as_ref().unwrap(); when(next, move |n| hop(n, left - 1)); }
}
fn time(name: &str, ops: u64, f: impl FnOnce()) { let t = Instant::now(); f(); println!("{name:20} {:.2} ns", t.elapsed().as_nanos() as f64 / ops as f64); }
fn fib(n: u64, k: Cown<u64>) { // k adds
    let _ = (n, k);
}
fn main() {
    let workers: usize = std::env::args().nth(1).map_or(2, |s| s.parse().unwrap());
    let only = std::env::args().nth(2);
    let on = |n: &str| only.as_deref().is_none_or(|o| o == n);
    let rt = Runtime::builder().workers(workers).build().unwrap();
    let _e = rt.enter();
    for _ in 0..std::env::args().nth(3).map_or(3, |s| s.parse().unwrap()) {
    if on("ring") {
        let nodes: Vec<Cown<Node>> = (0..100).map(|_| Cown::new(Node { next: None, hops: 0 })).collect();
        for i in 0..100 { let nx = nodes[(i + 1) % 100].clone(); when(&nodes[i], move |n| n.next = Some(nx)); }
        rt.wait_idle();
        let hops = 5_000_000;
        time("ring", 2 * hops, || rt.run(|| for t in 0..2 { when(&nodes[t * 50], move |n| hop(n, hops)); }));
        for n in &nodes { when(n, |n| n.next = None); } rt.wait_idle();
    }
    if on("one_cown") {
        let c = Cown::new(0u64); let s = Cown::new(());
        let n = 1_000_000;
        time("one_cown", n, || rt.run(|| { let c = c.clone(); when(&s, move |_| for _ in 0..n { when(&c, |c| *c += 1); }) }));
        assert_eq!(ask(&c, |c| *c).wait().unwrap(), n);
    }
    if on("two_producers") {
        let c = Cown::new(0u64); 
        let n = 1_500_000;
        time("two_producers", 2 * n, || { rt.run(|| std::thread::scope(|s| for _ in 0..2 { s.spawn(|| { let _e = rt.enter(); for _ in 0..n { when(&c, |c| *c += 1); } }); })) });
        assert_eq!(ask(&c, |c| *c).wait().unwrap(), 2 * n);
    }
    if on("transfers") {
        let acc: std::sync::Arc<Vec<Cown<i64>>> = std::sync::Arc::new((0..1000).map(|_| Cown::new(1000)).collect());
        let n = 1_000_000u64; let s = Cown::new(());
        let a2 = acc.clone();
        time("transfers", n, || rt.run(|| when(&s, move |_| { let mut x = 12345u64; for _ in 0..n { x ^= x << 13; x ^= x >> 7; x ^= x << 17; let a = (x >> 20) as usize % 1000; let mut b = (x >> 40) as usize % 1000; if a == b { b = (b + 1) % 1000 } when((&a2[a], &a2[b]), |(a, b)| { *a -= 1; *b += 1; }); } })));
        let a2 = acc.clone();
        time("singles x2", n, || rt.run(|| when(&s, move |_| { let mut x = 12345u64; for _ in 0..n { x ^= x << 13; x ^= x >> 7; x ^= x << 17; let a = (x >> 20) as usize % 1000; let mut b = (x >> 40) as usize % 1000; if a == b { b = (b + 1) % 1000 } when(&a2[a], |a| *a -= 1); when(&a2[b], |a| *a += 1); } })));
        let sum: i64 = ask(&acc[..], |a| a.iter().sum::<i64>()).wait().unwrap();
        assert_eq!(sum, 1_000_000);
    }
    if on("here") {
        let (a, b) = (Cown::new(0u64), Cown::new(0u64));
        let n = 10_000_000;
        time("when_here 2", n, || for _ in 0..n { when_here((&a, &b), |(a, b)| { *a += 1; *b += 1; }); });
        time("when_here 1", n, || for _ in 0..n { when_here(&a, |a| { *a += 1; }); });
        let (a, b) = (std::sync::Mutex::new(0u64), std::sync::Mutex::new(0u64));
        time("mutex 2", n, || for _ in 0..n { let mut a = std::hint::black_box(&a).lock().unwrap(); let mut b = std::hint::black_box(&b).lock().unwrap(); *a += 1; *b += 1; });
    }
    if on("idle") {
        let n = 1_000_000;
        let mut v = Vec::new();
        time("idle create", n, || v = (0..n).map(Cown::new).collect());
        time("idle drop", n, || drop(v));
    }
    let x = std::sync::atomic::AtomicU64::new(0);
    time("atomic add", 100_000_000, || for _ in 0..100_000_000u64 { x.fetch_add(1, std::sync::atomic::Ordering::Relaxed); });
    }
}
