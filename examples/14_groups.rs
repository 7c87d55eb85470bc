//! A pipeline whose stages are one group: what they send each other costs no atomic
//! read-modify-write.

use coact::prelude::*;

struct Reader {
    words: Cown<Words>,
}

struct Words {
    sums: Cown<Sums>,
}

#[derive(Default)]
struct Sums {
    words: usize,
    letters: usize,
}

impl Reader {
    fn read(&mut self, line: &'static str) {
        for word in line.split_whitespace() {
            when(&self.words, move |words| words.take(word));
        }
    }
}

impl Words {
    fn take(&mut self, word: &'static str) {
        let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
        when(&self.sums, move |sums| {
            sums.words += 1;
            sums.letters += letters;
        });
    }
}

fn main() {
    // The members are ordinary cowns; they run one at a time, and on one worker at a time.
    let group = Group::new();
    let sums = group.cown(Sums::default());
    let words = group.cown(Words { sums: sums.clone() });
    let reader = group.cown(Reader { words });

    Runtime::global().run(|| {
        for line in ["a pipeline in a group", "whose stages talk", "to each other a lot"] {
            when(&reader, move |reader| reader.read(line));
        }
    });

    // Other cowns can be in the same set as members.
    let report = Cown::new(String::new());
    let told = call((&sums, &report), |(sums, report)| {
        *report = format!("{} words, {} letters", sums.words, sums.letters);
        report.clone()
    });
    assert_eq!(told.wait().as_deref(), Ok("13 words, 47 letters"));
    println!("13 words, 47 letters");
}
