//! Durable actors: what is stored, who sees it when, and failures of the store.

mod answers;
mod bank;
mod changed;
mod closing;
mod confirmed;
mod corners;
mod damage;
mod decisions;
mod ends;
mod every_wait;
mod evolution;
mod failures;
mod histories;
mod layers;
mod letters;
mod logs;
mod manual;
mod once;
mod outbox;
mod passive;
mod pipelined;
mod positions;
mod recovery;
mod slow;
mod states;
mod steps;
mod tags;
mod timers;

mod waits;
