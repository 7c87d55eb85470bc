//! An actor that is not `Send`, on the main thread, among others on workers.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use coact::prelude::*;
use coact::system::PumpActors;

/// What the library of some user interface would give: for one thread only.
type Canvas = Rc<RefCell<Vec<String>>>;

#[derive(Actor)]
struct Window {
    canvas: Canvas,
}

#[handlers(api = WindowApi)]
impl Window {
    #[message]
    fn draw(&mut self, line: String) -> usize {
        let mut canvas = self.canvas.borrow_mut();
        canvas.push(line);
        canvas.len()
    }
}

#[derive(Actor)]
struct Model {
    value: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workers = Runtime::builder().workers(2).build()?;
    let pump = Runtime::builder().build_pumped()?;
    let canvas = Canvas::default();

    let window = pump.spawn(Window { canvas: Rc::clone(&canvas) });
    let model = workers.run(|| spawn(Model { value: 0 }));

    // Everybody may send to it, and name it in behaviours: they run on this thread.
    let main = thread::current().id();
    let (far, other) = (window.clone(), model.clone());
    let sender = thread::spawn(move || {
        far.draw("from afar".into()).wait().inspect(|_| {
            when((&other, &far), move |(model, window)| {
                assert_eq!(thread::current().id(), main);
                model.value += 1;
                window.canvas.borrow_mut().push(format!("model: {}", model.value));
            });
        })
    });

    // A program with a loop of its own calls `run_pending` in it (see `Builder::on_ready`).
    while !sender.is_finished() {
        pump.run_future(pump.runtime().sleep(std::time::Duration::from_millis(1)))?;
    }
    assert_eq!(sender.join().expect("it does not panic")?, 1);
    pump.run_until_idle(&[workers.handle()]);
    println!("{:?}", canvas.borrow());
    assert_eq!(*canvas.borrow(), ["from afar", "model: 1"]);

    // Its state is dropped here, wherever the last address is.
    thread::spawn(move || drop(window)).join().expect("it does not panic");
    pump.run_until_idle(&[]);
    assert_eq!(Rc::strong_count(&canvas), 1);
    Ok(())
}
