//! Reports the overflow of a fiber's stack: a signal handler that knows of the guards below the
//! stacks.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::{transmute, zeroed};
use std::ptr;

use coact_sync::shim::process::OnceLock;

use super::running::{RunningStack, running_stack};

/// What an access to a guard raises: the first on Linux, the second on some others.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The bytes of a stack for handlers, for a thread that has none: plenty for ours and the standard
/// library's.
const ALTERNATE_BYTES: usize = 64 * 1024;

/// What was done about each of the signals before.
static PREVIOUS: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

thread_local! {
    static HAS_ALTERNATE: Cell<bool> = const { Cell::new(false) };
}

/// Makes sure that overflows on this thread are reported. A fiber stays on the thread that has made
/// it, so it is enough to call this when one is made.
#[inline]
pub(super) fn prepare() {
    if !HAS_ALTERNATE.get() {
        prepare_thread();
    }
}

#[cold]
fn prepare_thread() {
    let mut is_first = false;
    PREVIOUS.get_or_init(|| {
        is_first = true;
        SIGNALS.map(action)
    });
    // Others that come by meanwhile go on without the handlers for a moment. They must not be
    // installed before it is known what to pass on to.
    if is_first {
        SIGNALS.into_iter().for_each(install);
    }
    ensure_alternate_stack();
    HAS_ALTERNATE.set(true);
}

/// Returns what is done about a signal.
fn action(signal: c_int) -> libc::sigaction {
    // SAFETY: integers and an optional address, for which zero is a value. The call only writes to
    // it.
    unsafe {
        let mut action = zeroed();
        libc::sigaction(signal, ptr::null(), &mut action);
        action
    }
}

fn install(signal: c_int) {
    // SAFETY: zero is a value of all fields. The handler has the type that `SA_SIGINFO` calls for,
    // and does only what a handler may do.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

/// Makes sure that the handler has a stack to run on when the thread's own is used up. Where the
/// standard library has a handler, it has given one to each of its threads.
fn ensure_alternate_stack() {
    // SAFETY: integers and an address, for which zero is a value. The call only writes to it.
    let current = unsafe {
        let mut current: libc::stack_t = zeroed();
        libc::sigaltstack(ptr::null(), &mut current);
        current
    };
    if current.ss_flags & libc::SS_DISABLE != 0 {
        install_alternate_stack();
    }
}

/// If there is no memory for it, an overflow ends the process without a report.
fn install_alternate_stack() {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: maps memory where there is none. It is never unmapped, so it stays the thread's for
    // as long as that may take a signal.
    unsafe {
        let memory = libc::mmap(ptr::null_mut(), ALTERNATE_BYTES, protection, flags, -1, 0);
        if memory != libc::MAP_FAILED {
            let mut stack: libc::stack_t = zeroed();
            stack.ss_sp = memory;
            stack.ss_size = ALTERNATE_BYTES;
            libc::sigaltstack(&stack, ptr::null_mut());
        }
    }
}

/// The handler. Calls only what may be called in one.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes what belongs to the signal, which is one that has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    match running_stack().filter(|stack| stack.guard.contains(&address)) {
        Some(stack) => report(&stack),
        // SAFETY: these are the handler's own arguments.
        None => unsafe { pass_on(signal, info, context) },
    }
}

/// Prints which stack has overflowed, and ends the process.
fn report(stack: &RunningStack) -> ! {
    let mut line = ReportLine { bytes: [0; 512], length: 0 };
    line.add("\nthe stack of ");
    line.add(stack.label.name);
    if stack.label.number != 0 {
        line.add(" #");
        line.add_number(stack.label.number);
    }
    line.add(" has overflowed: it has ");
    line.add_number((stack.size / 1024) as u64);
    line.add(" KiB");
    if !stack.label.advice.is_empty() {
        line.add("; ");
        line.add(stack.label.advice);
    }
    line.add("\n");
    // SAFETY: a handler may call both, and the bytes are those of the line.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.length);
        libc::abort()
    }
}

/// Does what would have been done without this handler.
///
/// # Safety
/// The arguments are those of the handler.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let place = SIGNALS.iter().position(|ours| *ours == signal);
    let previous = place.and_then(|place| PREVIOUS.get().map(|actions| actions[place]));
    let Some(previous) = previous.filter(|previous| is_handler(previous.sa_sigaction)) else {
        // SAFETY: as this function requires.
        return unsafe { take_default(signal, info) };
    };
    if previous.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: with this flag, the address is that of a function of this type; the arguments are
        // those that the system would have passed.
        unsafe {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                transmute(previous.sa_sigaction);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: without the flag, it is that of a function of this type.
        unsafe {
            let handler: extern "C" fn(c_int) = transmute(previous.sa_sigaction);
            handler(signal);
        }
    }
}

fn is_handler(action: libc::sighandler_t) -> bool {
    action != libc::SIG_DFL && action != libc::SIG_IGN
}

/// Lets the system do what it does by default, which ends the process: the access that has faulted
/// is repeated when the handler returns. It cannot be ignored.
///
/// # Safety
/// The arguments are those of the handler.
unsafe fn take_default(signal: c_int, info: *mut libc::siginfo_t) {
    // SAFETY: zero is a value of all fields, and among them the default action.
    unsafe {
        let default: libc::sigaction = zeroed();
        libc::sigaction(signal, &default, ptr::null_mut());
    }
    // SAFETY: the system has passed it to the handler.
    if unsafe { (*info).si_code } <= 0 {
        // Sent by a process, so nothing repeats it.
        // SAFETY: a handler may call this. The signal is delivered when the handler returns.
        unsafe { libc::raise(signal) };
    }
}

/// A line that is put together without allocating. What does not fit is cut off.
struct ReportLine {
    bytes: [u8; 512],
    length: usize,
}

impl ReportLine {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    fn add_number(&mut self, number: u64) {
        if number >= 10 {
            self.add_number(number / 10);
        }
        let digit = usize::try_from(number % 10).unwrap_or(0);
        self.add(&"0123456789"[digit..=digit]);
    }
}
