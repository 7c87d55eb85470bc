//! Messages that no case takes for now, in order, by their types.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Skipped messages: those of each type of tuples in a queue of their own, so that cases of other
/// types never look at them.
pub(crate) struct SkippedMessages<T> {
    queues: Vec<TypeQueue<T>>,
    /// How many were ever skipped: their numbers in order.
    count: u64,
    len: usize,
}

/// The messages of one type of tuples.
struct TypeQueue<T> {
    type_key: usize,
    /// Whether the present cases have a pattern of these types.
    fits: bool,
    messages: VecDeque<(u64, Option<T>)>,
    /// How many of them are taken, and have their places still.
    taken: usize,
}

/// Where a message is. It stays valid whatever happens to others.
#[derive(Clone, Copy)]
pub(crate) struct SkippedPlace {
    type_key: usize,
    number: u64,
    /// Where it was when this was found: in which queue, and at which position.
    hint: (usize, usize),
}

/// The places of all messages with the types of a pattern, in their order.
pub(crate) struct FittingPlaces(BinaryHeap<Reverse<(u64, usize, usize)>>);

impl FittingPlaces {
    pub(crate) fn next<T>(&mut self, of: &SkippedMessages<T>) -> Option<SkippedPlace> {
        let Reverse((number, queue, at)) = self.0.pop()?;
        let messages = of.queues.get(queue)?;
        if let Some((next, _)) = messages.messages.get(at + 1) {
            self.0.push(Reverse((*next, queue, at + 1)));
        }
        Some(SkippedPlace { type_key: messages.type_key, number, hint: (queue, at) })
    }
}

impl<T> Default for SkippedMessages<T> {
    fn default() -> Self {
        Self { queues: Vec::new(), count: 0, len: 0 }
    }
}

impl<T> SkippedMessages<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a message behind all others; `fits`: whether the present cases have a pattern of its
    /// types.
    pub(crate) fn push(&mut self, type_key: usize, fits: bool, message: T) {
        let known = self.queues.iter().position(|queue| queue.type_key == type_key);
        let queue = known.unwrap_or_else(|| {
            self.queues.push(TypeQueue { type_key, fits, messages: VecDeque::new(), taken: 0 });
            self.queues.len() - 1
        });
        self.queues[queue].fits = fits;
        self.queues[queue].messages.push_back((self.count, Some(message)));
        self.count += 1;
        self.len += 1;
    }

    /// Asks for each type whether the present cases have a pattern of it, given one of the
    /// messages.
    pub(crate) fn refit(&mut self, mut fits: impl FnMut(&T) -> bool) {
        self.queues.retain_mut(|queue| {
            if queue.taken > 0 {
                // By cases that have panicked, or that are still running.
                queue.messages.retain(|(_, message)| message.is_some());
                queue.taken = 0;
            }
            let first = queue.messages.front().and_then(|(_, message)| message.as_ref());
            queue.fits = first.is_some_and(&mut fits);
            first.is_some()
        });
    }

    /// Whether there is one with the types of a pattern.
    pub(crate) fn has_fitting(&self) -> bool {
        self.queues.iter().any(|queue| queue.fits && queue.messages.len() > queue.taken)
    }

    /// The messages with the types of a pattern, oldest first. None may be removed before it is
    /// used up.
    pub(crate) fn fitting(&self) -> FittingPlaces {
        let fitting = self.queues.iter().enumerate().filter(|(_, queue)| queue.fits);
        let firsts = fitting.filter_map(|(queue, of)| {
            let (number, _) = of.messages.front()?;
            Some(Reverse((*number, queue, 0)))
        });
        FittingPlaces(firsts.collect())
    }

    /// Takes a message, whose place stays.
    pub(crate) fn take(&mut self, place: SkippedPlace) -> Option<T> {
        let (queue, at) = self.find(place)?;
        let message = queue.messages[at].1.take()?;
        queue.taken += 1;
        self.len -= 1;
        Some(message)
    }

    /// Puts a message back into its place.
    pub(crate) fn put_back(&mut self, place: SkippedPlace, message: T) {
        self.len += 1;
        if let Some((queue, at)) = self.find(place) {
            queue.messages[at].1 = Some(message);
            queue.taken -= 1;
            return;
        }
        // What has received meanwhile has cleared the places that were empty.
        let known = self.queues.iter().position(|queue| queue.type_key == place.type_key);
        let queue = known.unwrap_or_else(|| {
            let messages = VecDeque::new();
            self.queues.push(TypeQueue {
                type_key: place.type_key,
                fits: true,
                messages,
                taken: 0,
            });
            self.queues.len() - 1
        });
        let messages = &mut self.queues[queue].messages;
        let at = messages.partition_point(|(number, _)| *number < place.number);
        messages.insert(at, (place.number, Some(message)));
    }

    /// Removes the place of a message that was taken for good.
    pub(crate) fn remove(&mut self, place: SkippedPlace) {
        if let Some((queue, at)) = self.find(place) {
            queue.messages.remove(at);
            queue.taken -= 1;
        }
    }

    fn find(&mut self, place: SkippedPlace) -> Option<(&mut TypeQueue<T>, usize)> {
        let (queue, at) = place.hint;
        let is_there = self.queues.get(queue).is_some_and(|queue| {
            queue.type_key == place.type_key
                && queue.messages.get(at).is_some_and(|(n, _)| *n == place.number)
        });
        if is_there {
            return Some((&mut self.queues[queue], at));
        }
        let queue = self.queues.iter_mut().find(|queue| queue.type_key == place.type_key)?;
        let at = queue.messages.partition_point(|(number, _)| *number < place.number);
        queue.messages.get(at).is_some_and(|(n, _)| *n == place.number).then_some((queue, at))
    }

    /// All of them, oldest first.
    pub(crate) fn all(&self) -> Vec<&T> {
        let all = self.queues.iter().flat_map(|queue| &queue.messages);
        let mut all: Vec<_> =
            all.filter_map(|(number, message)| Some((*number, message.as_ref()?))).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, message)| message).collect()
    }

    /// Removes the oldest message.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first =
            |queue: &&mut TypeQueue<T>| queue.messages.front().map_or(u64::MAX, |(n, _)| *n);
        loop {
            let queue = self.queues.iter_mut().min_by_key(first)?;
            let (_, message) = queue.messages.pop_front()?;
            if message.is_some() {
                self.len -= 1;
                return message;
            }
            queue.taken -= 1;
        }
    }
}
