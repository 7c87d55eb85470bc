//! What can be an element of dynamically typed messages.

use coact_tuple::Element;

use crate::any_addr::AnyAddr;
use crate::exit::{ExitReason, Stopped};
use crate::id::ActorId;
use crate::message::Message;
use crate::monitor::{Down, Exited, MonitorId};
use crate::parts::{Actor, Addr, WeakAddr};
use crate::recipient::{Recipient, WeakRecipient};
use crate::send_error::AskError;

impl<A: Actor> Element for Addr<A> {}
impl<A: Actor> Element for WeakAddr<A> {}
impl<M: Message> Element for Recipient<M> {}
impl<M: Message> Element for WeakRecipient<M> {}
impl Element for ActorId {}
impl Element for AnyAddr {}
impl Element for AskError {}
impl Element for Down {}
impl Element for Exited {}
impl Element for ExitReason {}
impl Element for MonitorId {}
impl Element for Stopped {}
