//! How a journal uses its store: settings, positions, news of commits, and repeated questions.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Wake;
use std::time::Duration;

use coact_core::credits::{Acquire, Credits};
use coact_core::internals::{beside_decision, catch};
use coact_core::promise::Resolver;
use coact_core::runtime::{OnCancel, RuntimeHandle};
use coact_core::time::{Sleep, Timer, after, sleep};
use coact_core::{Broken, Promise};
use coact_persist::{CommitId, CommitSettlement, Position, Store, StoreCallback, StoreError};

use crate::active_lanes::ActiveLanes;
use crate::future_until::until;
use crate::journal_abandonment::JournalAbandonment;
use crate::latch::Latch;
use crate::store_outages::StoreOutages;

/// A store, with the settings of a journal.
pub(crate) struct StoreClient {
    store: Arc<dyn Store>,
    settings: JournalSettings,
    /// How many may read their history at once.
    recoveries: Credits,
    pub(crate) outages: StoreOutages,
    news: Mutex<CommitNews>,
    /// Whether the journal is closed, or about to be: nothing new is asked.
    closing: Latch,
    /// Whether its last handle is gone, or it is closed: nothing is tried again for it.
    gone: Latch,
    /// Whether those who wait for outcomes that are unknown wait no longer, since the journal is
    /// closed.
    pub(crate) abandonment: JournalAbandonment,
    pub(crate) active_lanes: ActiveLanes,
    /// The position of the last commit that is known to be stored, by this journal or by others.
    position: AtomicU64,
}

/// How many commits were stored, and who waits for another.
#[derive(Default)]
struct CommitNews {
    count: u64,
    waiters: Vec<NewsWaiter>,
}

/// Is told once, by another commit or because some time has passed.
type NewsWaiter = Arc<Mutex<Option<Resolver<()>>>>;

/// Who waits for another commit. If it is dropped, or the runtime ends, the promise ends.
pub(crate) struct NewsWait {
    waiter: NewsWaiter,
    _at_end: OnCancel,
    /// Not longer than it is waited for.
    _alarm: Option<TimeoutGuard>,
}

impl Drop for NewsWait {
    fn drop(&mut self) {
        drop(give_up(&self.waiter));
    }
}

/// Is woken when the runtime is cancelled.
struct NewsCancelWaker {
    home: RuntimeHandle,
    waiter: Weak<Mutex<Option<Resolver<()>>>>,
}

impl Wake for NewsCancelWaker {
    fn wake(self: Arc<Self>) {
        if self.home.is_cancelled() {
            drop(self.waiter.upgrade().and_then(|waiter| give_up(&waiter)));
        }
    }
}

pub(crate) struct JournalSettings {
    pub(crate) patience: Duration,
    pub(crate) most_in_flight: usize,
    pub(crate) recoveries: usize,
    pub(crate) answers_for: Duration,
}

/// A week.
const ANSWERS_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Default for JournalSettings {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(5),
            most_in_flight: 1 << 20,
            recoveries: 64,
            answers_for: ANSWERS_FOR,
        }
    }
}

impl StoreClient {
    pub(crate) fn new(store: Arc<dyn Store>, settings: JournalSettings) -> Self {
        let recoveries = Credits::new(settings.recoveries);
        let (outages, news, position) =
            (StoreOutages::default(), Mutex::default(), AtomicU64::new(0));
        let (closing, gone, abandonment) = Default::default();
        let active_lanes = ActiveLanes::default();
        Self {
            store,
            settings,
            recoveries,
            outages,
            news,
            closing,
            gone,
            abandonment,
            active_lanes,
            position,
        }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the store, unless the journal is closed.
    pub(crate) fn open_store(&self) -> Result<&dyn Store, StoreError> {
        if self.is_closing() { Err(StoreError::Closed) } else { Ok(self.store()) }
    }

    /// From now on, nothing new is asked.
    pub(crate) fn begin_to_close(&self) {
        self.closing.open();
        self.gone.open();
        // Those who wait for another commit.
        self.tell_news();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_open()
    }

    /// The last handle of the journal is gone.
    pub(crate) fn set_gone(&self) {
        self.gone.open();
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_open()
    }

    /// Waits before something is tried again, unless that is for a journal that is gone. Returns
    /// whether it is not.
    pub(crate) async fn pause(&self, pause: impl Future + Unpin) -> bool {
        until(&mut self.gone.opened(), pause).await.is_some()
    }

    /// Returns the time for which those wait who ask.
    pub(crate) fn patience(&self) -> Sleep {
        sleep(self.settings.patience)
    }

    pub(crate) fn is_out_of_patience(&self, since: Duration) -> bool {
        self.now().saturating_sub(since) >= self.settings.patience
    }

    pub(crate) fn most_in_flight(&self) -> usize {
        self.settings.most_in_flight
    }

    /// For how long answers to commands with keys are kept.
    pub(crate) fn answers_for(&self) -> Duration {
        self.settings.answers_for
    }

    /// The clock for outages.
    pub(crate) fn now(&self) -> Duration {
        RuntimeHandle::current().elapsed()
    }

    /// Calls a closure when those who wait have waited for long.
    pub(crate) fn after_patience(&self, call: impl FnOnce() + Send + 'static) -> TimeoutGuard {
        TimeoutGuard(after(self.settings.patience, (), move |()| call()))
    }

    /// Waits until one more entity may be recovered.
    pub(crate) fn may_recover(&self) -> Acquire {
        self.recoveries.acquire(1)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
    }

    /// Raises the position to that of a commit that is stored, before that commit is told. Returns
    /// whether no commit with this position, or a later one, was known.
    fn raise_position(&self, position: Position) -> bool {
        // ORDERING: Relaxed, here and below. Who was told of a commit was told behind this, by what
        // orders it before a look at the position.
        let before = self.position.fetch_max(position.get(), Ordering::Relaxed);
        before < position.get()
    }

    /// Raises the position to what the store has told, before what was read with it is used: it may
    /// have commits of other journals, which logs are to read.
    pub(crate) fn learn_position(&self, position: Position) {
        if self.raise_position(position) {
            self.count_new_commit();
        }
    }

    /// Returns the greatest position of a commit that is known to be stored.
    pub(crate) fn position(&self) -> Position {
        Position::new(self.position.load(Ordering::Relaxed))
    }

    /// Returns how many commits were stored so far.
    pub(crate) fn news(&self) -> u64 {
        lock(&self.news).count
    }

    /// Returns what is told when there are more of them, or after that time; and what is to be kept
    /// until then, if there are none yet.
    pub(crate) fn newer_than(
        &self,
        seen: u64,
        at_most: Option<Duration>,
    ) -> (Promise<()>, Option<NewsWait>) {
        let (resolver, told) = Promise::channel();
        let waiter: NewsWaiter = Arc::new(Mutex::new(Some(resolver)));
        // Without the lock, here and below: these schedule.
        if !self.wait_for_news(seen, &waiter) {
            return (Promise::ready(()), None);
        }
        let home = RuntimeHandle::current();
        let at_end = Arc::new(NewsCancelWaker { home, waiter: Arc::downgrade(&waiter) });
        let _at_end = home.on_cancel(at_end.into());
        let at_last = Arc::clone(&waiter);
        let _alarm =
            at_most.map(|time| TimeoutGuard::new(after(time, (), move |()| tell(&at_last))));
        (told, Some(NewsWait { waiter, _at_end, _alarm }))
    }

    /// Adds one who waits for another commit. Returns false if there is one, or the journal is
    /// closed.
    fn wait_for_news(&self, seen: u64, waiter: &NewsWaiter) -> bool {
        let mut news = lock(&self.news);
        // (Under the lock: those who are told of the end are told behind this.)
        let waits = news.count == seen && !self.is_closing();
        if waits {
            // Those whose time has passed.
            if news.waiters.len() >= 64 && news.waiters.len().is_power_of_two() {
                news.waiters.retain(|waiter| lock(waiter).is_some());
            }
            news.waiters.push(Arc::clone(waiter));
        }
        waits
    }

    /// A commit of this journal is stored, before that is told.
    pub(crate) fn commit_stored(&self, position: Position) {
        self.raise_position(position);
        self.count_new_commit();
    }

    fn count_new_commit(&self) {
        lock(&self.news).count += 1;
        self.tell_news();
    }

    fn tell_news(&self) {
        let waiters = std::mem::take(&mut lock(&self.news).waiters);
        waiters.iter().for_each(tell);
    }

    /// Asks the store until it answers, or the journal is gone.
    pub(crate) async fn ask_again<T: Send + 'static>(
        &self,
        mut question: impl FnMut(&dyn Store, StoreCallback<Result<T, StoreError>>),
    ) -> Result<T, StoreError> {
        let mut backoff = Backoff::default();
        loop {
            let store = self.open_store()?;
            match ask(|done| question(store, done)).await {
                Err(error @ StoreError::Unavailable { .. }) => {
                    if !self.pause(pin!(backoff.wait())).await {
                        return Err(error);
                    }
                }
                answer => return answer,
            }
        }
    }

    /// Settles a commit, however long the store cannot be reached: `None` if the store is closed
    /// first.
    pub(crate) async fn settled(&self, id: CommitId) -> Option<CommitSettlement> {
        let (mut backoff, mut given_up) = (Backoff::default(), self.abandonment.begun());
        loop {
            let settled = pin!(ask(|done| self.store.settle(id, done)));
            match until(&mut given_up, settled).await? {
                Ok(settled) => return Some(settled),
                Err(StoreError::Closed) => return None,
                Err(error) => {
                    tracing::warn!(commit = %id, "it is not known yet whether a commit has happened, and its members wait: {error}");
                    until(&mut given_up, pin!(backoff.wait())).await?;
                }
            }
        }
    }
}

/// (What it returns is dropped without the lock.)
fn give_up(waiter: &NewsWaiter) -> Option<Resolver<()>> {
    lock(waiter).take()
}

fn tell(waiter: &NewsWaiter) {
    give_up(waiter).into_iter().for_each(|resolver| resolver.resolve(()));
}

/// Locks what is changed in one go, so that it is sound after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A timer that is cancelled when this is dropped, so that it does not keep a runtime from being
/// idle.
pub(crate) struct TimeoutGuard(Timer);

impl TimeoutGuard {
    pub(crate) fn new(timer: Timer) -> Self {
        Self(timer)
    }
}

impl Drop for TimeoutGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Asks a store. One that drops the question is not available.
pub(crate) async fn ask<T: Send + 'static>(
    question: impl FnOnce(StoreCallback<Result<T, StoreError>>),
) -> Result<T, StoreError> {
    or_unavailable(asked(question).await)
}

/// The same, for a result that is waited for in some other way.
pub(crate) fn asked<T: Send + 'static>(
    question: impl FnOnce(StoreCallback<Result<T, StoreError>>),
) -> Promise<Result<T, StoreError>> {
    let (resolver, answer) = Promise::channel();
    let done: StoreCallback<_> =
        Box::new(move |result| beside_decision(|| resolver.resolve(result)));
    // A panic of the store drops the question. It was reported.
    let _ = catch(move || question(done));
    answer
}

pub(crate) fn or_unavailable<T>(
    answer: Result<Result<T, StoreError>, Broken>,
) -> Result<T, StoreError> {
    let unanswered = || Err(StoreError::Unavailable { why: "it has given no answer".into() });
    answer.unwrap_or_else(|_| unanswered())
}

/// How long to wait for a store that cannot be reached: from 5 ms on twice as long each time, up to
/// a second.
#[derive(Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) async fn wait(&mut self) {
        // It fails at the end of the runtime, which drops this future.
        let _ = sleep(self.next()).await;
    }

    /// Returns how long the next wait is.
    pub(crate) fn next(&mut self) -> Duration {
        let delay = Duration::from_millis(5 << self.0.min(8)).min(Duration::from_secs(1));
        self.0 += 1;
        delay
    }
}
