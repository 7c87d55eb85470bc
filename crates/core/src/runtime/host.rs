//! Which threads run the behaviours of a runtime.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Host {
    /// Workers, which must not be blocked.
    Workers,
    /// The one thread that calls the [pump](super::Pump).
    Pump,
    /// The threads of the [blocking pool](super::blocking): a behaviour may block.
    Blocking,
}
