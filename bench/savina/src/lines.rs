//! How long the programs are, beside those of the paper.
//!
//! Counted are the lines of a program's file that are neither empty nor a comment alone, as
//! formatted by rustfmt; the paper's are the lines of its C++ programs (L. Cheeseman et al., OOPSLA
//! 2023, Tables 1 and 3, "BoC (Actor)" and "BoC (Full)").

/// A form of a program.
#[derive(Clone, Copy)]
pub struct Form {
    source: &'static str,
    /// Lines in the paper.
    pub paper: usize,
}

impl Form {
    /// Lines of ours.
    pub fn ours(&self) -> usize {
        let code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        self.source.lines().filter(code).count()
    }
}

/// A program.
pub struct Lines {
    /// Its workload.
    pub name: &'static str,
    /// As actors.
    pub actor: Form,
    /// As behaviours over several cowns.
    pub full: Option<Form>,
}

macro_rules! lines {
    ($name:literal, $file:literal, $actor:literal) => {
        Lines {
            name: $name,
            actor: Form { source: include_str!(concat!("actors/", $file, ".rs")), paper: $actor },
            full: None,
        }
    };
    ($name:literal, $file:literal, $actor:literal, $full:literal) => {
        Lines {
            name: $name,
            actor: Form { source: include_str!(concat!("actors/", $file, ".rs")), paper: $actor },
            full: Some(Form {
                source: include_str!(concat!("behaviours/", $file, ".rs")),
                paper: $full,
            }),
        }
    };
}

/// Every program.
pub const LINES: &[Lines] = &[
    lines!("banking", "banking", 117, 78),
    lines!("big", "big", 83),
    lines!("bounded-buffer", "bounded_buffer", 142),
    lines!("chameneos", "chameneos", 105, 85),
    lines!("cigarette-smokers", "cigarette_smokers", 66),
    lines!("concurrent-dictionary", "concurrent_dictionary", 84),
    lines!("concurrent-sorted-list", "concurrent_sorted_list", 108),
    lines!("count", "count", 40, 30),
    lines!("dining-philosophers", "dining_philosophers", 94, 61),
    lines!("fibonacci", "fibonacci", 51, 28),
    lines!("filter-bank", "filter_bank", 247),
    lines!("fork-join-create", "fork_join_create", 42, 42),
    lines!("fork-join-throughput", "fork_join_throughput", 53, 52),
    lines!("logistic-map", "logistic_map", 133, 52),
    lines!("ping-pong", "ping_pong", 43),
    lines!("quicksort", "quicksort", 121, 85),
    lines!("radix-sort", "radix_sort", 105),
    lines!("recursive-matrix", "recursive_matrix", 156),
    lines!("sieve", "sieve", 68),
    lines!("sleeping-barber", "sleeping_barber", 127, 106),
    lines!("thread-ring", "thread_ring", 46),
    lines!("trapezoid", "trapezoid", 72, 68),
];

#[cfg(test)]
mod tests {
    use super::{Form, LINES};

    #[test]
    fn lines_without_code_do_not_count() {
        let form = Form { source: "// why\n\nfn main() {\n    run() // now\n}\n", paper: 3 };
        assert_eq!(form.ours(), 3);
    }

    #[test]
    fn no_program_is_longer_than_in_the_paper() {
        for program in LINES {
            for form in [Some(program.actor), program.full].into_iter().flatten() {
                assert!(
                    form.ours() <= form.paper,
                    "{}: {} lines, {} in the paper",
                    program.name,
                    form.ours(),
                    form.paper
                );
            }
        }
    }
}
