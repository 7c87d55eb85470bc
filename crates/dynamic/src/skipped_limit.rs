//! What becomes of the messages that an actor has skipped: at its mailbox's limit, and at its end.

use coact_actor::actor::{Context, Reply};
use coact_actor::internals::{drop_kept, limit_of_kept, set_aside};

use crate::dyn_actor::{DynActor, DynMessage};
use crate::received::QueuedMessage;
use crate::skipped::SkippedMessages;

/// Drops the oldest if there are too many, and that is the mailbox's policy.
pub(crate) fn limit(skipped: &mut SkippedMessages<QueuedMessage>, context: &Context<DynActor>) {
    let limit = limit_of_kept::<DynActor, DynMessage>(context).unwrap_or(usize::MAX);
    if skipped.len() > limit
        && let Some(oldest) = skipped.pop()
    {
        let reply = oldest.reply.unwrap_or_else(Reply::unwanted);
        drop_kept(context, oldest.message, reply);
    }
}

/// Puts them into the stash, but for those that another state of the actor does not get.
pub(crate) fn give_back(
    skipped: &mut SkippedMessages<QueuedMessage>,
    context: &mut Context<DynActor>,
) {
    while let Some(queued) = skipped.pop() {
        if !queued.message.is_notice() {
            set_aside(context, queued.message, queued.reply.unwrap_or_else(Reply::unwanted));
        }
    }
}
