//! Messages that no case takes for now, in order, by their types.

use std::collections::VecDeque;

/// Skipped messages: those of each type of tuples in a queue of their own, so that cases of other types
/// never look at them.
pub(crate) struct Skipped<T> {
    queues: Vec<Queue<T>>,
    /// How many were ever skipped: their numbers in order.
    count: u64,
    len: usize,
}

/// The messages of one type of tuples.
struct Queue<T> {
    shape: usize,
    /// Whether the present cases have a pattern of these types.
    fits: bool,
    messages: VecDeque<(u64, Option<T>)>,
}

/// Where a message is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    queue: usize,
    at: usize,
    number: u64,
}

impl<T> Default for Skipped<T> {
    fn default() -> Self {
        Self { queues: Vec::new(), count: 0, len: 0 }
    }
}

impl<T> Skipped<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Puts a message behind all others; `fits`: whether the present cases have a pattern of its types.
    pub(crate) fn push(&mut self, shape: usize, fits: bool, message: T) {
        let known = self.queues.iter().position(|queue| queue.shape == shape);
        let queue = known.unwrap_or_else(|| {
            self.queues.push(Queue { shape, fits, messages: VecDeque::new() });
            self.queues.len() - 1
        });
        self.queues[queue].fits = fits;
        self.queues[queue].messages.push_back((self.count, Some(message)));
        self.count += 1;
        self.len += 1;
    }

    /// Asks for each type whether the present cases have a pattern of it, given one of the messages.
    pub(crate) fn refit(&mut self, mut fits: impl FnMut(&T) -> bool) {
        self.queues.retain_mut(|queue| {
            let first = queue.messages.iter().find_map(|(_, message)| message.as_ref());
            queue.fits = first.is_some_and(&mut fits);
            first.is_some()
        });
    }

    /// Whether there is one with the types of a pattern.
    pub(crate) fn has_fitting(&self) -> bool {
        self.queues.iter().any(|queue| queue.fits && !queue.messages.is_empty())
    }

    /// The oldest one with the types of a pattern, of those behind `place`.
    pub(crate) fn next_fitting(&self, behind: Option<Place>) -> Option<Place> {
        let from = behind.map_or(0, |place| place.number + 1);
        let firsts = self.queues.iter().enumerate().filter(|(_, queue)| queue.fits);
        let firsts = firsts.filter_map(|(queue, of)| {
            // Mostly the one behind the last, or the first of all.
            let at = match behind {
                Some(place) if place.queue == queue => place.at + 1,
                _ => of.messages.partition_point(|(number, _)| *number < from),
            };
            let (number, _) = of.messages.get(at)?;
            Some(Place { queue, at, number: *number })
        });
        firsts.min_by_key(|place| place.number)
    }

    /// Takes a message, whose place stays.
    pub(crate) fn take(&mut self, place: Place) -> Option<T> {
        self.queues[place.queue].messages[place.at].1.take()
    }

    /// Puts a message back into its place.
    pub(crate) fn put_back(&mut self, place: Place, message: T) {
        self.queues[place.queue].messages[place.at].1 = Some(message);
    }

    /// Removes a place whose message was taken for good.
    pub(crate) fn remove(&mut self, place: Place) {
        self.queues[place.queue].messages.remove(place.at);
        self.len -= 1;
    }

    /// Removes the oldest message.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = |queue: &&mut Queue<T>| queue.messages.front().map_or(u64::MAX, |(n, _)| *n);
        loop {
            let queue = self.queues.iter_mut().min_by_key(first)?;
            let (_, message) = queue.messages.pop_front()?;
            self.len -= 1;
            if message.is_some() {
                return message;
            }
        }
    }
}
