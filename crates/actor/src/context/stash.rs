//! The stash of an actor: setting messages aside, to handle them later.

use super::extension::set_aside;
use crate::handler::MessageTo;
use crate::mailbox::StashFull;
use crate::parts::{Actor, Context};
use crate::reply::Reply;

impl<A: Actor> Context<A> {
    /// Sets a message aside, until [`unstash_all`](Self::unstash_all) or a restart. When the actor
    /// ends, its stash is dropped, and asks in it fail like those of messages that wait.
    ///
    /// It no longer counts as waiting in the [`Mailbox`](crate::mailbox::Mailbox), which can limit
    /// the size of the [stash](crate::mailbox::Mailbox::stash).
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::actor::{Receive, Reply};
    ///
    /// #[derive(Default)]
    /// struct Shop { open: bool, sold: Vec<&'static str> }
    /// impl Actor for Shop {}
    ///
    /// struct Buy(&'static str);
    /// impl Message for Buy { type Reply = usize; }
    /// impl Receive<Buy> for Shop {
    ///     fn receive(&mut self, buy: Buy, reply: Reply<usize>, context: &mut Context<Self>) {
    ///         if !self.open {
    ///             return context.stash(buy, reply).expect("there is no limit");
    ///         }
    ///         self.sold.push(buy.0);
    ///         reply.send(self.sold.len());
    ///     }
    /// }
    ///
    /// struct Open;
    /// impl Message for Open { type Reply = (); }
    /// impl Handler<Open> for Shop {
    ///     fn handle(&mut self, _: Open, context: &mut Context<Self>) {
    ///         self.open = true;
    ///         context.unstash_all();
    ///     }
    /// }
    ///
    /// let shop = spawn(Shop::default());
    /// let early = [shop.ask(Buy("tea")), shop.ask(Buy("salt"))];
    /// shop.send(Open)?;
    /// shop.send(Buy("soap"))?;
    /// assert_eq!(early.map(|ask| ask.wait()), [Ok(1), Ok(2)]);
    /// assert_eq!(coact::call(&shop, |shop| shop.sold.clone()).wait()?, ["tea", "salt", "soap"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the message and its reply if there is no room.
    #[doc(alias = "StashBuffer")]
    #[doc(alias = "selective receive")]
    pub fn stash<M>(&mut self, message: M, reply: Reply<M::Reply>) -> Result<(), StashFull<M>>
    where
        M: MessageTo<A>,
    {
        if self.stashed() >= self.stash_limit() {
            return Err(StashFull { message, reply });
        }
        set_aside(self, message, reply);
        Ok(())
    }

    /// Handles the [stashed](Self::stash) messages after the current one, in their order, before
    /// all messages and behaviours that wait. Signals, such as a stop, come before each of them.
    /// Messages that are stashed once more wait for the next call.
    ///
    /// If only a few of them can be handled, [`unstash`](Self::unstash) is cheaper.
    pub fn unstash_all(&mut self) {
        self.unstash(usize::MAX);
    }

    /// Unstashes like [`unstash_all`](Self::unstash_all), but only the first `count` stashed
    /// messages. Several calls in one handler add up.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::actor::{Receive, Reply};
    ///
    /// /// One customer at a time.
    /// #[derive(Default)]
    /// struct Desk { serving: Option<Reply<()>> }
    /// impl Actor for Desk {}
    ///
    /// struct Call;
    /// impl Message for Call { type Reply = (); }
    /// impl Receive<Call> for Desk {
    ///     fn receive(&mut self, call: Call, reply: Reply<()>, context: &mut Context<Self>) {
    ///         match self.serving {
    ///             None => self.serving = Some(reply),
    ///             Some(_) => context.stash(call, reply).expect("there is no limit"),
    ///         }
    ///     }
    /// }
    ///
    /// struct Served;
    /// impl Message for Served { type Reply = usize; }
    /// impl Handler<Served> for Desk {
    ///     fn handle(&mut self, _: Served, context: &mut Context<Self>) -> usize {
    ///         self.serving.take().expect("somebody is served").send(());
    ///         context.unstash(1);
    ///         context.stashed()
    ///     }
    /// }
    ///
    /// let desk = spawn(Desk::default());
    /// let [first, second, _third] = [(); 3].map(|()| desk.ask(Call));
    /// assert_eq!(desk.ask(Served).wait(), Ok(2));
    /// assert_eq!(first.wait(), Ok(()));
    /// assert_eq!(desk.ask(Served).wait(), Ok(1));
    /// assert_eq!(second.wait(), Ok(()));
    /// ```
    pub fn unstash(&mut self, count: usize) {
        if self.stashed() > 0 && count > 0 {
            let stash = self.stash_mut();
            stash.wanted = stash.wanted.saturating_add(count);
            self.weak().interrupt();
        }
    }

    /// Returns how many messages are stashed.
    pub fn stashed(&mut self) -> usize {
        self.stash_mut().aside.len()
    }
}
