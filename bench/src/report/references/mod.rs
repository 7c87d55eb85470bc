//! What others have measured, as ratios: their machines are not ours, so their times say nothing
//! beside ours.

mod data;

pub use data::{OTHERS, Other, PAPER, Program, SOURCES};

impl Program {
    /// How many times as long Pony took as the paper's runtime with the same program as actors: on
    /// 1 core and on 8.
    pub fn pony(&self) -> [f64; 2] {
        [self.pony[0] / self.actor[0], self.pony[1] / self.actor[1]]
    }

    /// How many times as long the paper's actor form took as its full form: on 1 core and on 8.
    pub fn full(&self) -> Option<[f64; 2]> {
        self.full.map(|full| [self.actor[0] / full[0], self.actor[1] / full[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::{PAPER, Program};
    use crate::report::study::geometric_mean;

    #[test]
    fn the_paper_is_copied_right() {
        assert_eq!(PAPER.len(), 22);
        assert_eq!(PAPER.iter().filter_map(Program::full).count(), 11);
        // As the paper says of its Table 1, counting the single core.
        let faster = PAPER.iter().filter(|program| program.pony()[0] > 1.0).count();
        assert_eq!(faster, 17);
        let mean = geometric_mean(PAPER.iter().map(|program| program.pony()[0])).expect("of all");
        assert!((1.0..10.0).contains(&mean));
    }
}
