//! Durable entities behind a cache.

use std::sync::Mutex;
use std::time::Duration;

use coact::cache::{
    Backing, BackingError, BoxError, Cache, CacheSpec, Caching, Write, WriteBehind,
};
use coact::durable::store::{InTransit, StoreFault};
use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, stored};
use coact::prelude::*;
use coact_tests::{Dice, everywhere};

/// A page of a wiki, as an entity.
#[derive(Default)]
struct Page {
    text: Option<String>,
}

#[stored(name = "wiki.page-event")]
enum PageEvent {
    #[n(0)]
    Written(#[n(0)] String),
    #[n(1)]
    Removed,
}

impl EventSourced for Page {
    const KIND: &'static str = "wiki.page";
    type Event = PageEvent;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &PageEvent) {
        self.text = match event {
            PageEvent::Written(text) => Some(text.clone()),
            PageEvent::Removed => None,
        };
    }
}

#[derive(Message)]
#[message(reply = Option<String>)]
struct Read;

impl Decide<Read> for Page {
    fn decide(page: &mut Durable<Self>, _: Read) -> Option<String> {
        page.text.clone()
    }
}

#[derive(Message)]
struct Set(Option<String>);

impl Decide<Set> for Page {
    fn decide(page: &mut Durable<Self>, Set(text): Set) {
        match text {
            Some(text) => page.persist(PageEvent::Written(text)),
            None if page.text.is_some() => page.persist(PageEvent::Removed),
            None => {}
        }
    }
}

/// The pages of a journal.
struct Pages(Journal);

impl Backing<String, String> for Pages {
    async fn load(&self, key: String) -> Result<Option<String>, BoxError> {
        Ok(self.0.entity::<Page>(&*key).ask(Read).await?)
    }

    async fn write(&self, writes: Vec<Write<String, String>>) -> Result<(), BackingError> {
        let of = |key: &str| self.0.entity::<Page>(key);
        let asked: Vec<_> =
            writes.into_iter().map(|write| of(&write.key).ask(Set(write.value))).collect();
        for asked in asked {
            asked.await?;
        }
        Ok(())
    }
}

fn journal(store: &MemoryStore) -> Journal {
    Journal::new(store.clone())
}

fn through(store: &MemoryStore) -> CacheSpec<String, String> {
    Cache::builder().max_entries(2).write_through(Pages(journal(store))).build().unwrap()
}

fn failing(store: &MemoryStore, seed: u64) {
    let dice = Mutex::new(Dice::new(seed));
    store.fail(move |_| match dice.lock().unwrap().below(8) {
        0 => StoreFault::Unavailable,
        1 => StoreFault::AnswerLost,
        2 => StoreFault::InTransit(InTransit::new()),
        _ => StoreFault::None,
    });
}

#[test]
fn c6_what_is_written_through_to_entities_survives_a_restart() {
    everywhere(|| {
        for seed in 0..3 {
            let store = MemoryStore::new();
            failing(&store, seed);
            let cache = through(&store).spawn();
            let mut told = Vec::new();
            for n in 0..20 {
                let key = format!("page {}", n % 4);
                let is_told = matches!(cache.put(key.clone(), format!("{n}")).wait(), Ok(Ok(())));
                told.push((key, n, is_told));
            }
            store.fail(|_| StoreFault::None);
            // The next process.
            let again = through(&store).spawn();
            for page in 0..4 {
                let key = format!("page {page}");
                let seen = again.get(key.clone()).wait().unwrap().unwrap();
                let seen: i32 = seen.map_or(-1, |text| text.parse().unwrap());
                let of_key = || told.iter().filter(|(of, ..)| *of == key);
                let last =
                    of_key().filter(|(.., is_told)| *is_told).map(|(_, n, _)| *n).next_back();
                assert!(seen >= last.unwrap_or(-1), "{key}: {seen}, though {last:?} was told");
                assert!(seen == -1 || of_key().any(|(_, n, _)| *n == seen));
            }
        }
    });
}

#[test]
fn c9_what_is_written_behind_to_entities_is_stored_in_the_end() {
    everywhere(|| {
        let store = MemoryStore::new();
        failing(&store, 7);
        let ms = Duration::from_millis(1);
        let settings = WriteBehind::new().delay(ms).backoff(ms, 4 * ms);
        let spec = Cache::builder().max_entries(2).write_behind(Pages(journal(&store)), settings);
        let cache = spec.build().unwrap().spawn();
        for n in 0..30 {
            let put = cache.put(format!("page {}", n % 4), format!("{n}"));
            assert!(put.wait().unwrap().is_ok());
        }
        assert!(cache.remove("page 0".into()).wait().unwrap().is_ok());
        assert!(cache.flush().wait().unwrap().is_ok());
        store.fail(|_| StoreFault::None);
        let again = through(&store).spawn();
        let seen = |page: i32| again.get(format!("page {page}")).wait().unwrap().unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(seen),
            [None, Some("29"), Some("26"), Some("27")].map(|text| text.map(str::to_owned))
        );
    });
}
