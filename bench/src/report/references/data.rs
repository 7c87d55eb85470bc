//! The figures as they stand in the sources, in milliseconds.

/// Where the figures are from.
pub const SOURCES: [&str; 3] = [
    "L. Cheeseman et al., “When Concurrency Matters: Behaviour-Oriented Concurrency”, OOPSLA 2023, Tables 1, 3 and 4 \
     (BoC: their C++ runtime; Pony 0.53.0)",
    "D. A. Bauer, J. Mäkiö, “Actor4j: A Software Framework for the Actor Model Focusing on the Optimization of Message \
     Passing”, AICT 2018, Section VII and Table VI",
    "“Building an ‘actor’ in F# with higher throughput than Akka and Erlang actors”, 2012",
];

/// A program of the paper's Table 1: times on 1 core and on 8.
pub struct Program {
    /// Our workload.
    pub workload: &'static str,
    /// In Pony.
    pub pony: [f64; 2],
    /// In the paper's runtime, as actors.
    pub actor: [f64; 2],
    /// In the paper's runtime, as behaviours over several cowns (Table 3).
    pub full: Option<[f64; 2]>,
}

const fn program(workload: &'static str, pony: [f64; 2], actor: [f64; 2]) -> Program {
    Program { workload, pony, actor, full: None }
}

const fn in_full(mut program: Program, full: [f64; 2]) -> Program {
    program.full = Some(full);
    program
}

/// The paper's programs.
pub const PAPER: [Program; 22] = [
    in_full(program("banking", [184.0, 48.5], [19.8, 22.6]), [7.9, 9.3]),
    program("big", [250.0, 501.0], [247.0, 202.0]),
    program("bounded-buffer", [2984.0, 406.0], [1593.0, 342.0]),
    in_full(program("chameneos", [110.0, 522.0], [46.1, 94.5]), [49.2, 122.1]),
    program("cigarette-smokers", [1.9, 2.2], [0.7, 1.4]),
    program("concurrent-dictionary", [256.0, 366.0], [22.7, 66.5]),
    program("concurrent-sorted-list", [13653.0, 15059.0], [6206.0, 9913.0]),
    in_full(program("count", [25.1, 120.0], [46.1, 47.7]), [45.4, 46.9]),
    in_full(program("dining-philosophers", [142.0, 560.0], [73.3, 164.9]), [22.2, 16.6]),
    in_full(program("fibonacci", [322.0, 46.7], [29.3, 19.4]), [10.9, 13.5]),
    program("filter-bank", [2787.0, 380.0], [1170.0, 349.0]),
    in_full(program("fork-join-create", [50.2, 31.3], [10.5, 12.4]), [9.6, 11.8]),
    in_full(program("fork-join-throughput", [50.2, 207.0], [53.4, 100.8]), [35.8, 45.8]),
    in_full(program("logistic-map", [832.0, 44.1], [39.0, 41.2]), [17.4, 19.8]),
    program("ping-pong", [7.2, 51.3], [4.6, 5.4]),
    in_full(program("quicksort", [234.0, 67.1], [124.7, 58.8]), [105.9, 78.6]),
    program("radix-sort", [180.0, 210.0], [236.0, 149.0]),
    program("recursive-matrix", [9825.0, 1158.0], [1614.0, 563.0]),
    program("sieve", [222.0, 45.2], [331.0, 104.0]),
    in_full(program("sleeping-barber", [3652.0, 261.0], [1660.0, 3544.0]), [12.5, 16.5]),
    program("thread-ring", [11.0, 95.1], [4.7, 5.5]),
    in_full(program("trapezoid", [842.0, 115.0], [970.0, 172.0]), [958.3, 172.6]),
];

/// A comparison in a source, and the one of ours that stands beside it.
pub struct Other {
    /// Our workload.
    pub workload: &'static str,
    /// Who was the slower there, and under which condition.
    pub slow: &'static str,
    /// Who was the faster there.
    pub fast: &'static str,
    /// How many times as long the slower one took there.
    pub ratio: f64,
    /// Whose time here is divided by that of our first implementation, to be held beside it.
    pub peer: &'static str,
    /// Which of the sources, from 0.
    pub source: usize,
}

/// All others.
pub const OTHERS: [Other; 9] = [
    other("reasonable-banking", ["Pony, 1 core", "BoC"], 987.9 / 7.9, "coact-actors", 0),
    other("reasonable-banking", ["Pony, 8 cores", "BoC"], 344.717 / 9.3, "coact-actors", 0),
    other("ring-nfold-100", ["Akka, at most", "Actor4j"], 7.0, "pekko", 1),
    other("skynet", ["Actor4j", "Akka"], 5911.0 / 2808.0, "pekko", 1),
    other("skynet", ["Actor4j, 1 thread", "Akka"], 4901.0 / 3538.0, "pekko", 1),
    other("skynet-stop", ["Actor4j", "Akka"], 8226.0 / 7236.0, "pekko", 1),
    other("skynet-stop", ["Actor4j, 1 thread", "Akka"], 9011.0 / 8208.0, "pekko", 1),
    other("counter-1", ["Erlang", "an actor built in F#"], 3.8, "erlang", 2),
    other("counter-1", ["Akka", "an actor built in F#"], 1.7, "pekko", 2),
];

const fn other(
    workload: &'static str,
    [slow, fast]: [&'static str; 2],
    ratio: f64,
    peer: &'static str,
    source: usize,
) -> Other {
    Other { workload, slow, fast, ratio, peer, source }
}
