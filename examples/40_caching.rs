//! Caching actors: one load for all askers, bounds, and writes behind to a store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::cache::{
    Backing, BackingError, BoxError, Cache, Caching, Put, RemovalCause, Write, WriteBehind,
};
use coact::prelude::*;
use coact::time::sleep;

/// A table somewhere else, which takes a while for everything.
#[derive(Clone, Default)]
struct Table {
    rows: Arc<Mutex<BTreeMap<u32, String>>>,
    loads: Arc<AtomicU64>,
    batches: Arc<AtomicU64>,
}

impl Backing<u32, String> for Table {
    async fn load(&self, key: u32) -> Result<Option<String>, BoxError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(5)).await?;
        Ok(self.rows.lock().unwrap().get(&key).cloned())
    }

    async fn write(&self, writes: Vec<Write<u32, String>>) -> Result<(), BackingError> {
        self.batches.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(5)).await?;
        let mut rows = self.rows.lock().unwrap();
        for Write { key, value } in writes {
            match value {
                Some(value) => _ = rows.insert(key, value),
                None => _ = rows.remove(&key),
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Table::default();
    table.rows.lock().unwrap().insert(7, "seven".to_owned());

    let settings = WriteBehind::new()
        .delay(Duration::from_millis(20))
        .on_lost(|lost| eprintln!("{} is lost: {}", lost.key, lost.why));
    let spec = Cache::builder()
        .max_entries(1_000)
        .time_to_live(Duration::from_secs(60))
        .load_timeout(Duration::from_secs(5))
        .write_behind(table.clone(), settings)
        .build()?;
    let cache = spec.spawn();

    // A thousand ask, and there is one load.
    let asked: Vec<_> = (0..1_000).map(|_| cache.get(7)).collect();
    for asked in asked {
        assert_eq!(asked.wait()??.as_deref(), Some("seven"));
    }
    assert_eq!(table.loads.load(Ordering::Relaxed), 1);

    // Writes are answered at once, and stored together. Later gets see them.
    for n in 0..50 {
        cache.send(Put { key: n % 10, value: format!("version {n}") })?;
    }
    assert_eq!(cache.get(7).wait()??.as_deref(), Some("version 47"));
    cache.flush().wait()??;
    assert_eq!(table.rows.lock().unwrap().len(), 10);
    assert_eq!(table.rows.lock().unwrap()[&9], "version 49");
    println!("{} batches for 50 writes", table.batches.load(Ordering::Relaxed));

    // A get with its own loader, a refresh before expiry, and a hook for dropped values.
    let (sender, removed) = std::sync::mpsc::channel();
    let quotes = Cache::builder()
        .max_entries(1)
        .expire_after(|_: &&str, quote: &u64| Some(Duration::from_secs(*quote)))
        .refresh_after_write(Duration::from_secs(30))
        .load(|name: &'static str| async move { Ok(Some(name.len() as u64)) })
        .max_loads(10)
        .eviction_listener(move |entry| _ = sender.send((entry.key, entry.value, entry.cause)))
        .build()?
        .spawn();
    assert_eq!(quotes.get("gold").wait()??, Some(4));
    assert_eq!(quotes.get_with("tin", |_| async { Ok(Some(30)) }).wait()??, Some(30));
    assert_eq!(removed.recv()?, ("gold", 4, RemovalCause::Size));

    // A behaviour that reads runs beside others that read.
    let lengths = call(cache.read(), |cache| {
        (0..10).filter_map(|key| cache.cached(&key)).map(String::len).sum::<usize>()
    });
    assert_eq!(lengths.wait()?, 10 * "version 47".len());

    let counts = cache.counts().wait()?;
    println!("{} hits, {} misses, {} load", counts.hits, counts.misses, counts.loads);
    Ok(())
}
