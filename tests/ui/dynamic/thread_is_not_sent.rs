//! What a thread has for itself is of this thread.

use coact::dynamic::this_thread;

fn main() {
    let me = this_thread();
    std::thread::spawn(move || drop(me));
}
