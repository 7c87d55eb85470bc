//! A message for many that is copied only by those who change it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::Context;
use coact::actor::Shared;
use coact::prelude::*;

/// A picture, which counts how often it is copied.
struct Picture {
    pixels: Vec<u8>,
    copies: Arc<AtomicUsize>,
}

impl Clone for Picture {
    fn clone(&self) -> Self {
        self.copies.fetch_add(1, Ordering::Relaxed);
        Self { pixels: self.pixels.clone(), copies: Arc::clone(&self.copies) }
    }
}

impl Message for Picture {
    type Reply = u8;
}

/// Tells how bright a picture is; the vain one retouches it first.
struct Critic {
    vain: bool,
}

impl Actor for Critic {}

impl Handler<Shared<Picture>> for Critic {
    fn handle(&mut self, mut picture: Shared<Picture>, _: &mut Context<Self>) -> u8 {
        if self.vain {
            // Here, and only here, the picture is copied: others have it too.
            picture.make_mut().pixels[0] = 255;
        }
        picture.pixels[0]
    }
}

fn main() -> Result<(), AskError> {
    let copies = Arc::new(AtomicUsize::new(0));
    let picture = Shared::new(Picture { pixels: vec![100; 1 << 20], copies: Arc::clone(&copies) });

    let critics: Vec<_> = (0..1000).map(|n| spawn(Critic { vain: n == 500 })).collect();
    let asks: Vec<_> = critics.iter().map(|critic| critic.ask(picture.clone())).collect();
    for (n, ask) in asks.into_iter().enumerate() {
        assert_eq!(ask.wait()?, if n == 500 { 255 } else { 100 });
    }
    let copies = copies.load(Ordering::Relaxed);
    println!("1000 critics saw it, and it was copied {copies} times");
    assert_eq!(copies, 1);
    Ok(())
}
