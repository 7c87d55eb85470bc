//! A cache as an actor: what it does with each message.

use coact_actor::actor::{Actor, Context, ExitReason, Handler, Receive, Reply};

use crate::cache::Cache;
use crate::counts::CacheCounts;
use crate::errors::{LoadError, WriteError};
use crate::key_value::{Key, Value};
use crate::messages::{
    Counts, Flush, Get, GetCached, GetWith, Invalidate, InvalidateAll, Put, Remove,
};

impl<K: Key, V: Value> Actor for Cache<K, V> {
    fn started(&mut self, context: &mut Context<Self>) {
        self.start(context.id(), context.weak());
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.end();
    }
}

impl<K: Key, V: Value> Receive<Get<K, V>> for Cache<K, V> {
    fn receive(
        &mut self,
        get: Get<K, V>,
        reply: Reply<Result<Option<V>, LoadError>>,
        context: &mut Context<Self>,
    ) {
        self.get(get.0, None, reply, context);
    }
}

impl<K: Key, V: Value> Receive<GetWith<K, V>> for Cache<K, V> {
    fn receive(
        &mut self,
        GetWith { key, load }: GetWith<K, V>,
        reply: Reply<Result<Option<V>, LoadError>>,
        context: &mut Context<Self>,
    ) {
        self.get(key, Some(load), reply, context);
    }
}

impl<K: Key, V: Value> Receive<GetCached<K, V>> for Cache<K, V> {
    fn receive(&mut self, get: GetCached<K, V>, reply: Reply<Option<V>>, _: &mut Context<Self>) {
        self.get_cached(get.0, reply);
    }
}

impl<K: Key, V: Value> Receive<Put<K, V>> for Cache<K, V> {
    fn receive(
        &mut self,
        Put { key, value }: Put<K, V>,
        reply: Reply<Result<(), WriteError>>,
        context: &mut Context<Self>,
    ) {
        self.write(key, Some(value), reply, context);
    }
}

impl<K: Key, V: Value> Receive<Remove<K>> for Cache<K, V> {
    fn receive(
        &mut self,
        Remove(key): Remove<K>,
        reply: Reply<Result<(), WriteError>>,
        context: &mut Context<Self>,
    ) {
        self.write(key, None, reply, context);
    }
}

impl<K: Key, V: Value> Receive<Invalidate<K>> for Cache<K, V> {
    fn receive(
        &mut self,
        Invalidate(key): Invalidate<K>,
        reply: Reply<()>,
        context: &mut Context<Self>,
    ) {
        self.invalidate(key, reply, context);
    }
}

impl<K: Key, V: Value> Handler<InvalidateAll> for Cache<K, V> {
    fn handle(&mut self, _: InvalidateAll, context: &mut Context<Self>) {
        self.invalidate_all(context);
    }
}

impl<K: Key, V: Value> Receive<Flush> for Cache<K, V> {
    fn receive(
        &mut self,
        _: Flush,
        reply: Reply<Result<(), WriteError>>,
        context: &mut Context<Self>,
    ) {
        self.flush(reply, context);
    }
}

impl<K: Key, V: Value> Handler<Counts> for Cache<K, V> {
    fn handle(&mut self, _: Counts, _: &mut Context<Self>) -> CacheCounts {
        self.counts()
    }
}
