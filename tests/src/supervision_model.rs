//! What supervision comes to, as plain code: a tree of flags and counters, with the time as a
//! number.
//!
//! It knows nothing of the implementation, and must stay readable as a specification.

/// Time, in whatever unit.
pub type Time = u64;

/// Which children are restarted with one that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// No other.
    One,
    /// All others.
    All,
    /// Those behind.
    Rest,
}

/// After which ends a child comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comeback {
    /// After every one.
    Always,
    /// After failures.
    AfterFailure,
    /// After none.
    Never,
}

/// A tree as it is declared.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A leaf.
    Worker(Comeback),
    /// An inner node.
    Supervisor {
        /// Whether it comes back itself.
        comeback: Comeback,
        /// Who is restarted together.
        group: Group,
        /// How many restarts it allows,
        most: usize,
        /// and within how long.
        within: Time,
        /// How long a child waits for its restart.
        delay: Time,
        /// Its children.
        children: Vec<Shape>,
    },
}

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Up,
    /// It is down, together with its supervisor.
    Down,
    /// It is down until that time.
    Waits(Time),
    /// It does not come back.
    Ended,
}

/// A node of a tree that lives.
#[derive(Debug)]
pub struct Node {
    /// As it was declared.
    pub shape: Shape,
    /// Where it is.
    pub life: Life,
    /// How often it was started.
    pub starts: usize,
    /// Whether it gave up since its children failed too often, the last time it went down.
    pub gave_up: bool,
    parent: Option<usize>,
    children: Vec<usize>,
    restarts: Vec<Time>,
}

/// A tree that lives: nodes in the order in which they are declared, parents first.
#[derive(Debug)]
pub struct Family {
    /// All nodes; the root is the first.
    pub nodes: Vec<Node>,
    now: Time,
}

impl Family {
    /// Starts a tree.
    pub fn start(shape: &Shape) -> Self {
        let mut family = Self { nodes: Vec::new(), now: 0 };
        family.declare(shape, None);
        family.bring_up(0);
        family
    }

    /// Lets time pass: those whose time has come are restarted, the earliest first.
    pub fn advance(&mut self, to: Time) {
        while let Some((time, node)) = self.next_due(to) {
            self.now = time;
            self.bring_up(node);
        }
        self.now = to;
    }

    /// A node that is up goes down by itself, or because it is told to.
    pub fn fall(&mut self, node: usize, failed: bool) {
        self.bring_down(node);
        let comes_back = match self.comeback(node) {
            Comeback::Always => true,
            Comeback::AfterFailure => failed,
            Comeback::Never => false,
        };
        match self.nodes[node].parent {
            Some(parent) if comes_back => self.restart_or_give_up(parent, node),
            _ => self.end(node),
        }
    }

    fn restart_or_give_up(&mut self, parent: usize, node: usize) {
        let Shape::Supervisor { group, most, within, delay, .. } = self.nodes[parent].shape else {
            unreachable!("parents are supervisors")
        };
        let now = self.now;
        let past = &mut self.nodes[parent].restarts;
        past.retain(|time| now - time <= within);
        if past.len() >= most {
            self.nodes[parent].gave_up = true;
            return self.fall(parent, true);
        }
        past.push(now);
        let runtimes_of_its_group = self.nodes[parent].children.clone();
        let place =
            runtimes_of_its_group.iter().position(|sibling| *sibling == node).expect("a child");
        let together = match group {
            Group::One => &runtimes_of_its_group[place..=place],
            Group::All => &runtimes_of_its_group[..],
            Group::Rest => &runtimes_of_its_group[place..],
        };
        for &sibling in together {
            match self.nodes[sibling].life {
                Life::Ended => {}
                _ if sibling != node && self.comeback(sibling) == Comeback::Never => {
                    self.end(sibling);
                }
                life => {
                    let before = if let Life::Waits(time) = life { time } else { 0 };
                    self.bring_down(sibling);
                    self.nodes[sibling].life = Life::Waits(before.max(now + delay));
                }
            }
        }
        self.advance(now);
    }

    fn bring_up(&mut self, node: usize) {
        let this = &mut self.nodes[node];
        (this.life, this.gave_up) = (Life::Up, false);
        this.starts += 1;
        this.restarts.clear();
        for child in this.children.clone() {
            if self.nodes[child].life != Life::Ended {
                self.bring_up(child);
            }
        }
    }

    fn bring_down(&mut self, node: usize) {
        if self.nodes[node].life != Life::Ended {
            self.nodes[node].life = Life::Down;
            self.nodes[node].children.clone().into_iter().for_each(|child| self.bring_down(child));
        }
    }

    fn end(&mut self, node: usize) {
        self.nodes[node].life = Life::Ended;
        self.nodes[node].children.clone().into_iter().for_each(|child| self.end(child));
    }

    fn comeback(&self, node: usize) -> Comeback {
        match self.nodes[node].shape {
            Shape::Worker(comeback) | Shape::Supervisor { comeback, .. } => comeback,
        }
    }

    fn next_due(&self, to: Time) -> Option<(Time, usize)> {
        let due = self.nodes.iter().enumerate().filter_map(|(index, node)| match node.life {
            Life::Waits(time) if time <= to => Some((time, index)),
            _ => None,
        });
        due.min()
    }

    fn declare(&mut self, shape: &Shape, parent: Option<usize>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node {
            shape: shape.clone(),
            life: Life::Down,
            starts: 0,
            gave_up: false,
            parent,
            children: Vec::new(),
            restarts: Vec::new(),
        });
        if let Shape::Supervisor { children, .. } = shape {
            let children = children.iter().map(|child| self.declare(child, Some(index))).collect();
            self.nodes[index].children = children;
        }
        index
    }
}
