//! How programs and their parts are written in messages.

use std::fmt;

use crate::program::{
    Access, BehaviourId, CownIndex, Op, Program, SetMember, SpawnCall, Spawner, Variable,
};

impl fmt::Display for CownIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for BehaviourId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl fmt::Display for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spawner::Thread(thread) => write!(f, "thread {thread}"),
            Spawner::Behaviour(id) => write!(f, "{id}"),
        }
    }
}

impl fmt::Display for SetMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.access {
            Access::Write => "",
            Access::Read => "read ",
            Access::Checked => "checked ",
            Access::Clear => "clear ",
        };
        write!(f, "{access}{}", self.variable)
    }
}

/// Prints the program as a listing, one behaviour a line.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cown) in self.variables().iter().enumerate() {
            write!(f, "{}{} = {cown}", if i == 0 { "let " } else { ", " }, Variable(i))?;
        }
        for (i, ops) in self.threads().iter().enumerate() {
            write!(f, "\n{} {{", Spawner::Thread(i))?;
            list(f, ops, 1)?;
            write!(f, "\n}}")?;
        }
        Ok(())
    }
}

fn list(f: &mut fmt::Formatter<'_>, ops: &[Op], depth: usize) -> fmt::Result {
    for op in ops {
        match op {
            Op::Spawn(spawn) => list_spawn(f, spawn, depth)?,
            Op::Batch(spawns) => {
                line(f, depth, "batch {")?;
                spawns.iter().try_for_each(|spawn| list_spawn(f, spawn, depth + 1))?;
                line(f, depth, "}")?;
            }
        }
    }
    Ok(())
}

fn list_spawn(f: &mut fmt::Formatter<'_>, spawn: &SpawnCall, depth: usize) -> fmt::Result {
    let set: Vec<_> = spawn.set.iter().map(SetMember::to_string).collect();
    line(f, depth, &format!("{}: when({}) {{", spawn.id, set.join(", ")))?;
    list(f, &spawn.body, depth + 1)?;
    if spawn.panics {
        line(f, depth + 1, "panic")?;
    }
    if spawn.body.is_empty() && !spawn.panics { write!(f, " }}") } else { line(f, depth, "}") }
}

fn line(f: &mut fmt::Formatter<'_>, depth: usize, text: &str) -> fmt::Result {
    write!(f, "\n{:indent$}{text}", "", indent = 4 * depth)
}
