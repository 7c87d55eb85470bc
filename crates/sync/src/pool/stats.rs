//! What the pool reports.

/// A snapshot of the pool, for leak tests and reports.
///
/// The fast path counts nothing. `outstanding` is what has been carved minus what is in the depots
/// and in the calling thread's magazines; free blocks in the magazines of *other* threads count as
/// in use. The figures are exact when all other threads that used the pool have ended or called
/// [`flush_thread`](super::flush_thread).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes of slabs that the program's allocator has given to the pool.
    pub reserved_bytes: usize,
    /// Blocks that are in use, in or beside the pool.
    pub outstanding_blocks: usize,
    /// The bytes of those blocks, rounded up to their size classes.
    pub outstanding_bytes: usize,
    /// Free blocks that lie in the depots.
    pub depot_blocks: usize,
    /// The outstanding blocks that were passed on to the program's allocator.
    pub passed_on_blocks: usize,
}
