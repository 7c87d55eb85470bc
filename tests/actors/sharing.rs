//! Messages that are shared: who sees what, and what is copied. How little memory a fan-out takes
//! is in `tests/fan_out.rs`, alone in its process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::Context;
use coact::actor::Shared;
use coact::prelude::*;
use coact_tests::{check, finally};

/// Counts how often it is copied.
#[derive(Debug)]
struct Page {
    text: Vec<u8>,
    copies: Arc<AtomicUsize>,
}

impl Clone for Page {
    fn clone(&self) -> Self {
        self.copies.fetch_add(1, Ordering::Relaxed);
        Self { text: self.text.clone(), copies: Arc::clone(&self.copies) }
    }
}

impl Message for Page {
    type Reply = usize;
}

impl Page {
    fn new() -> (Shared<Self>, Arc<AtomicUsize>) {
        let copies = Arc::new(AtomicUsize::new(0));
        (Shared::new(Self { text: vec![0; 4096], copies: Arc::clone(&copies) }), copies)
    }
}

/// Reads pages, or scribbles on them.
struct Reader {
    scribbles: bool,
}

impl Actor for Reader {}

impl Handler<Shared<Page>> for Reader {
    fn handle(&mut self, mut page: Shared<Page>, _: &mut Context<Self>) -> usize {
        if self.scribbles {
            page.make_mut().text.push(1);
        }
        page.text.len()
    }
}

#[test]
fn a_fan_out_copies_nothing() {
    check(|| {
        let (page, copies) = Page::new();
        let readers: Vec<_> = (0..200).map(|_| spawn(Reader { scribbles: false })).collect();
        for reader in &readers {
            reader.send(page.clone()).unwrap();
        }
        finally(move || {
            assert_eq!(copies.load(Ordering::Relaxed), 0);
            // All have let go of it.
            assert!(page.try_unwrap().is_ok());
            drop(readers);
        });
    });
}

#[test]
fn what_one_changes_the_others_do_not_see() {
    check(|| {
        let (page, copies) = Page::new();
        let readers = [false, true, false, true].map(|scribbles| spawn(Reader { scribbles }));
        let asks = readers.each_ref().map(|reader| reader.ask(page.clone()));
        let lengths = asks.map(|ask| ask.wait().unwrap());
        assert_eq!(lengths, [4096, 4097, 4096, 4097]);
        assert_eq!(copies.load(Ordering::Relaxed), 2);
        assert_eq!(page.text.len(), 4096);
    });
}

#[test]
fn the_last_one_changes_without_a_copy() {
    check(|| {
        let (page, copies) = Page::new();
        assert_eq!(spawn(Reader { scribbles: true }).ask(page).wait(), Ok(4097));
        assert_eq!(copies.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn it_is_taken_out_by_value() {
    let (mut page, copies) = Page::new();
    let other = page.clone();
    assert!(page.is_shared() && Shared::same(&page, &other) && page.get_mut().is_none());
    let page = page.try_unwrap().unwrap_err();
    let owned = page.into_inner();
    assert_eq!(copies.load(Ordering::Relaxed), 1);
    assert!(!other.is_shared());
    assert_eq!(other.into_inner().text, owned.text);
    assert_eq!(copies.load(Ordering::Relaxed), 1);
}

#[test]
fn it_is_what_it_points_to() {
    let (one, other) = (Shared::new(7), Shared::from(7));
    assert_eq!(one, other);
    assert!(!Shared::same(&one, &other));
    assert_eq!(format!("{one} {one:?} {}", one.as_ref()), "7 7 7");
    assert_eq!(Shared::<i32>::default(), Shared::from(Arc::new(0)));
    let set = std::collections::HashSet::from([one]);
    assert!(set.contains(&other));
}
