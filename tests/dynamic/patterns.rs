//! What each form of pattern takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coact::dynamic::{AnyTuple, Atom, Cases, Element, IntoTuple, Opaque, atom, cases};

/// Applies cases without a context.
fn apply<R>(cases: &mut Cases<'_, (), R>, tuple: impl IntoTuple) -> Option<R> {
    cases.apply(&mut (), AnyTuple::new(tuple)).ok()
}

const LIMIT: u32 = 100;
const STOP: Atom = atom!("stop");

#[test]
fn types_and_values() {
    let mut of: Cases<'_, (), &str> = cases! {
        () => "nothing",
        (5) => "five",
        (-7) => "minus seven",
        (10..=19) => "teen",
        (_: i32) => "an i32",
        (LIMIT: u32) => "the limit",
        (2.5) => "a float",
        ('x') => "x",
        (true) => "yes",
        (7_u8) => "seven bytes",
        ("text") => "text",
        (s: String) if s.is_empty() => "no text",
        (STOP: Atom) => "stop",
        (atom!("go")) => "go",
        (Some(1..): Option<i32>) => "some",
        (None: Option<i32>) => "none",
        (Opaque(()): Opaque<()>) => "opaque",
    };
    assert_eq!(apply(&mut of, ()), Some("nothing"));
    assert_eq!(
        [5, -7, 15, 20].map(|n| apply(&mut of, n)),
        ["five", "minus seven", "teen", "an i32"].map(Some)
    );
    assert_eq!([100, 101_u32].map(|n| apply(&mut of, n)), [Some("the limit"), None]);
    assert_eq!([2.5, 2.4].map(|n| apply(&mut of, n)), [Some("a float"), None]);
    assert_eq!(['x', 'y'].map(|c| apply(&mut of, c)), [Some("x"), None]);
    assert_eq!([true, false].map(|b| apply(&mut of, b)), [Some("yes"), None]);
    assert_eq!([7, 8_u8].map(|n| apply(&mut of, n)), [Some("seven bytes"), None]);
    assert_eq!(
        ["text", "", "other"].map(|s| apply(&mut of, s)),
        [Some("text"), Some("no text"), None]
    );
    let atoms = [STOP, atom!("go"), atom!("stay")];
    assert_eq!(atoms.map(|atom| apply(&mut of, atom)), [Some("stop"), Some("go"), None]);
    let options = [Some(1), Some(0), None];
    assert_eq!(options.map(|n| apply(&mut of, (n,))), [Some("some"), None, Some("none")]);
    assert_eq!(apply(&mut of, Opaque(())), Some("opaque"));
    assert_eq!(apply(&mut of, (5, 5)), None, "of another length");
}

#[test]
fn any_number_of_elements_of_any_types() {
    let mut of: Cases<'_, (), String> = cases! {
        (1, .., last: char) => format!("1 to {last}"),
        (a: u8, b: u8, ..) => format!("{a}, {b} first"),
        (.., "end") => "the end".into(),
        (_, x: f32, _) => format!("{x} in the middle"),
        (..) => "anything".into(),
    };
    assert_eq!(apply(&mut of, (1, 'z')).unwrap(), "1 to z");
    assert_eq!(apply(&mut of, (1, "and", 2.0, 'y')).unwrap(), "1 to y");
    assert_eq!(apply(&mut of, (1_u8, 2_u8)).unwrap(), "1, 2 first");
    assert_eq!(apply(&mut of, (1_u8, 2_u8, "end")).unwrap(), "1, 2 first");
    assert_eq!(apply(&mut of, (1_u8, "end")).unwrap(), "the end");
    assert_eq!(apply(&mut of, "end").unwrap(), "the end");
    assert_eq!(apply(&mut of, ('a', 1.5_f32, 'b')).unwrap(), "1.5 in the middle");
    assert_eq!(apply(&mut of, ()).unwrap(), "anything");
    // One element is not both the first and the last.
    let mut two: Cases<'_, (), ()> = cases! { (_: i32, .., _: i32) => () };
    assert_eq!((apply(&mut two, 1), apply(&mut two, (1, 2))), (None, Some(())));
}

#[test]
fn the_first_that_matches_takes_it() {
    let mut of: Cases<'_, (), u32> = cases! {
        (n: i32) if n > 10 => 1,
        (_: i64) => 2,
        (n: i32) if n > 5 => 3,
        (..) if false => 4,
        (_: i32) => 5,
        rest if rest.len() == 1 => 6,
        _ => 7,
    };
    assert_eq!([11, 10, 5].map(|n| apply(&mut of, n)), [1, 3, 5].map(Some));
    assert_eq!(
        (apply(&mut of, 1_i64), apply(&mut of, 'c'), apply(&mut of, ())),
        (Some(2), Some(6), Some(7))
    );
}

#[test]
fn a_name_takes_the_whole_tuple() {
    let mut of: Cases<'_, (), AnyTuple> = cases! {
        message if message.len() > 1 => message,
        after => after,
    };
    assert_eq!(apply(&mut of, (1, "two")).unwrap().to_string(), "(1, \"two\")");
    assert_eq!(apply(&mut of, 1).unwrap().to_string(), "(1,)");
}

/// A stack of numbers, as a context.
#[derive(Default)]
struct Stack {
    numbers: Vec<i32>,
    room: usize,
}

#[test]
fn guards_see_the_context_and_captures_as_they_are_then() {
    let seen = Arc::new(AtomicUsize::new(0));
    let open = Arc::clone(&seen);
    let mut of = cases! { |stack: &mut Stack|
        (atom!("push"), n: i32) if stack.numbers.len() < stack.room => {
            stack.numbers.push(n);
            n
        }
        (atom!("pop")) if !stack.numbers.is_empty() => stack.numbers.pop().unwrap(),
        (_: i32) if open.load(Ordering::Relaxed) == 1 => 1,
    };
    let mut stack = Stack { room: 1, ..Stack::default() };
    let mut apply = |tuple: AnyTuple| of.apply(&mut stack, tuple).ok();
    let push = AnyTuple::new((atom!("push"), 5));
    assert_eq!((apply(push.clone()), apply(push)), (Some(5), None));
    let pop = AnyTuple::new(atom!("pop"));
    assert_eq!((apply(pop.clone()), apply(pop)), (Some(5), None));
    assert_eq!(apply(AnyTuple::new(9)), None);
    seen.store(1, Ordering::Relaxed);
    assert_eq!(apply(AnyTuple::new(9)), Some(1));
}

#[test]
fn guards_have_copies_or_references() {
    let mut of: Cases<'_, (), i32> = cases! {
        (a: i32, b: i32) if a * 2 == b && i32::abs(a) == a => a,
        (text: String, wanted: usize) if text.len() == wanted && text == "abc" => 3,
        (Some(n): Option<i32>, list: Vec<i32>) if list.contains(&n) => n,
        (list: Vec<i32>) if list.is_sorted() && list[0] > 0 => list[0],
        (parse -> n, m: i32) if n == m => n,
    };
    assert_eq!((apply(&mut of, (2, 4)), apply(&mut of, (2, 5))), (Some(2), None));
    assert_eq!(
        (apply(&mut of, ("abc", 3_usize)), apply(&mut of, ("abd", 3_usize))),
        (Some(3), None)
    );
    assert_eq!(apply(&mut of, (Some(2), vec![1, 2])), Some(2));
    assert_eq!((apply(&mut of, vec![1, 2].clone()), apply(&mut of, vec![2, 1])), (Some(1), None));
    assert_eq!((apply(&mut of, ("4", 4)), apply(&mut of, ("4", 5))), (Some(4), None));
}

fn parse(text: &str) -> Option<i32> {
    text.parse().ok()
}

#[test]
fn projections_see_the_element_and_give_another_value() {
    let scale = 10;
    let mut of: Cases<'_, (), String> = cases! {
        (parse -> n) => format!("a number: {n}"),
        (|n: &i32| n.checked_mul(scale) -> 20) => "two".into(),
        (|n: &i32| (*n > 0).then(|| n.to_string()) -> text: String) => text,
        (_, |all: &[u8]| all.first().copied() -> first, ..) => format!("{first} first"),
        (s: String) => s,
    };
    assert_eq!(apply(&mut of, "12").unwrap(), "a number: 12");
    assert_eq!(apply(&mut of, "twelve").unwrap(), "twelve");
    assert_eq!([2, 3, -3].map(|n| apply(&mut of, n)), [Some("two".into()), Some("3".into()), None]);
    assert_eq!(apply(&mut of, ('a', vec![7_u8])).unwrap(), "7 first");
    assert!(apply(&mut of, ('a', Vec::<u8>::new())).is_none());
}

/// Counts how often it was cloned.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl Element for Counted {}

#[test]
fn bodies_have_values_which_are_moved_unless_they_are_shared() {
    let clones = Arc::<AtomicUsize>::default();
    let count = || clones.swap(0, Ordering::Relaxed);
    let mut of: Cases<'_, (), (Counted, i32)> = cases! {
        (counted: Counted, mut n: i32) if n > 0 && Arc::strong_count(&counted.0) > 1 => {
            n += 1;
            (counted, n)
        }
        (counted: Counted, ..) => (counted, 0),
    };
    let tuple = AnyTuple::new((Counted(Arc::clone(&clones)), 1));
    let other = tuple.clone();
    assert_eq!(of.apply(&mut (), tuple).unwrap().1, 2);
    assert_eq!(count(), 1, "the other has it as well");
    assert_eq!(of.apply(&mut (), other).unwrap().1, 2);
    assert_eq!(count(), 0, "it was the only one");
    assert_eq!(apply(&mut of, (Counted(Arc::clone(&clones)), 'x')).unwrap().1, 0);
    assert_eq!(count(), 1, "taken out of a tuple of any type");
    let refused = of.apply(&mut (), AnyTuple::new((1, Counted(Arc::clone(&clones))))).unwrap_err();
    assert_eq!((refused.len(), count()), (2, 0), "given back as it was");
}

#[test]
fn a_body_ends_itself_by_return_and_by_a_question_mark() {
    let mut of: Cases<'_, (), Result<i32, std::num::ParseIntError>> = cases! {
        (s: String) => {
            let n: i32 = s.parse()?;
            if n == 0 {
                return Ok(-1);
            }
            Ok(n)
        }
    };
    assert_eq!(apply(&mut of, "5").unwrap(), Ok(5));
    assert_eq!(apply(&mut of, "0").unwrap(), Ok(-1));
    assert!(apply(&mut of, "x").unwrap().is_err());
}

#[test]
fn functions_combine() {
    let numbers = || -> Cases<'static, (), &'static str> {
        cases! {
            (_: i32) => "a number",
            after Duration::from_secs(1) => "late",
        }
    };
    let mut of = cases! { (1) => "one" }.or_else(numbers()).or_else(cases! {
        (..) => "anything",
        after Duration::from_secs(2) => "later",
    });
    assert_eq!((apply(&mut of, 1), apply(&mut of, 2)), (Some("one"), Some("a number")));
    assert_eq!(apply(&mut of, 'c'), Some("anything"));
    assert_eq!((of.timeout(), of.time_out(&mut ())), (Some(Duration::from_secs(1)), Some("late")));
    assert!(of.may_take(&AnyTuple::new('c')));
    assert!(!numbers().may_take(&AnyTuple::new('c')));
    let mut none: Cases<'_, (), ()> = cases! {};
    assert_eq!((apply(&mut none, 1), none.timeout(), none.time_out(&mut ())), (None, None, None));
}

#[test]
fn what_no_case_takes_is_explained() {
    let of: Cases<'_, (), ()> = cases! {
        (atom!("push"), _: i64) => (),
        (atom!("push"), _: String, _: i64) => (),
        (atom!("pop")) => (),
    };
    let explain = |tuple: AnyTuple| of.explain(&tuple).to_string();
    assert_eq!(
        explain(AnyTuple::new((atom!("push"), 5))),
        "no case takes ('push', 5): the nearest is `(atom!(\"push\"), _: i64)`, but `5` is `i32`, and `i64` is wanted"
    );
    assert_eq!(
        explain(AnyTuple::new(atom!("peek"))),
        "no case takes ('peek',): the nearest is `(atom!(\"pop\"))`, whose types fit, but not its values"
    );
    assert_eq!(explain(AnyTuple::new(())), "no case takes (): none has 0 elements");
    assert_eq!(
        format!("{of:?}"),
        r#"["(atom!(\"push\"), _: i64)", "(atom!(\"push\"), _: String, _: i64)", "(atom!(\"pop\"))"]"#
    );
}

fn broken() -> bool {
    coact_tests::fail("guard")
}

#[test]
fn a_panic_of_a_guard_or_a_body_comes_out() {
    let mut of: Cases<'_, (), ()> = cases! {
        (1) if broken() => (),
        (2) => coact_tests::fail("body"),
        (_: i32) => (),
    };
    assert_eq!(coact_tests::panic_of(|| apply(&mut of, 1)), "guard");
    assert_eq!(coact_tests::panic_of(|| apply(&mut of, 2)), "body");
    assert_eq!(apply(&mut of, 3), Some(()), "they can be applied again");
}

#[test]
fn callbacks_have_the_last_elements() {
    let mut of: Cases<'_, (), String> = cases! {
        ("say", 42) >> |text: String, n: i32| format!("{text} {n}"),
        (atom!("go"), ..) >> |atom: Atom| atom.to_string(),
        (_: u8, .., _: u8) >> |last: u8| format!("ends with {last}"),
        (_, parse -> 7) >> |n: i32| format!("parsed {n}"),
        (atom!("add"), arg_match) >> |mut a: i32, b: i32| {
            a += b;
            a.to_string()
        },
        (arg_match) >> |list: Vec<i32>| format!("{list:?}"),
        on_arg_match >> |a: char, b: char| [a, b].iter().collect(),
        (Some(_): Option<i32>) >> |some: Option<i32>| format!("{some:?}"),
        _ >> || "other".into(),
    };
    assert_eq!(apply(&mut of, ("say", 42)).unwrap(), "say 42");
    assert_eq!(apply(&mut of, ("say", 43)).unwrap(), "other");
    assert_eq!(apply(&mut of, (atom!("go"), 1)).unwrap(), "go");
    assert_eq!(apply(&mut of, (1_u8, 'x', 9_u8)).unwrap(), "ends with 9");
    assert_eq!(apply(&mut of, ('x', "7")).unwrap(), "parsed 7");
    assert_eq!(apply(&mut of, (atom!("add"), 3, 4)).unwrap(), "7");
    assert_eq!(apply(&mut of, vec![1, 2].clone()).unwrap(), "[1, 2]");
    assert_eq!(apply(&mut of, ('a', 'b')).unwrap(), "ab");
    assert_eq!([Some(5), None].map(|n| apply(&mut of, (n,)).unwrap()), ["Some(5)", "other"]);
    assert_eq!(apply(&mut of, ()).unwrap(), "other");
}

#[test]
fn names_of_the_program_do_not_meet_those_of_the_macro() {
    let (number, chosen, value, call, view, done, result) = (1, 2, 3, 4, 5, 6, 7);
    let mut of: Cases<'_, (), i32> = cases! {
        (x: i32) if x < number + chosen + value => x + number + chosen + value + call + view + done,
        (_: i32) >> |x: i32| -> i32 { x + number + result },
    };
    assert_eq!((apply(&mut of, 5), apply(&mut of, 10)), (Some(26), Some(18)));
}

#[test]
fn a_guard_ends_itself_alone() {
    let mut of: Cases<'_, (), &str> = cases! {
        (s: String) if {
            let Some(first) = s.chars().next() else { return false };
            first == 'a'
        } => "a..",
        (_: String) => "other",
    };
    assert_eq!(["abc", "", "b"].map(|s| apply(&mut of, s).unwrap()), ["a..", "other", "other"]);
}

mod text {
    use coact::dynamic::Element;

    /// A text of a program's own.
    #[derive(Clone, Debug, Element)]
    pub struct String(pub u8);
}

#[test]
fn types_that_are_only_called_alike_are_others() {
    use text::String;

    let mut of: Cases<'_, (), u8> = cases! {
        ("a") => 1,
        (s: String) => s.0,
        (_: std::string::String) => 2,
    };
    assert_eq!(apply(&mut of, "a"), Some(1));
    assert_eq!(apply(&mut of, "b"), Some(2));
    assert_eq!(apply(&mut of, String(7)), Some(7));
}

#[test]
fn patterns_have_alternatives() {
    const ONE: i32 = 1;
    let mut of: Cases<'_, (), u8> = cases! {
        (1 | 2: i32) => 1,
        (ONE | 3: i32) => 2,
        ("a" | "b") => 3,
        (atom!("x") | atom!("y"), ..) => 4,
        (n @ (5 | 6): i32) => n as u8,
        (Some(1) | None: Option<i32>) => 7,
        (atom!("z") | atom!("w")) => 8,
    };
    assert_eq!(
        [1, 2, 3, 4, 5].map(|n| apply(&mut of, n)),
        [Some(1), Some(1), Some(2), None, Some(5)]
    );
    assert_eq!(["a", "b", "c"].map(|s| apply(&mut of, s)), [Some(3), Some(3), None]);
    let atoms = [atom!("x"), atom!("y"), atom!("z"), atom!("w"), atom!("v")];
    assert_eq!(atoms.map(|atom| apply(&mut of, atom)), [Some(4), Some(4), Some(8), Some(8), None]);
    assert_eq!([Some(1), None, Some(2)].map(|n| apply(&mut of, (n,))), [Some(7), Some(7), None]);
}

#[test]
fn what_is_not_bound_is_not_cloned_and_projections_may_be_owned() {
    let clones = Arc::<AtomicUsize>::default();
    let offset = String::from("1");
    let project = move |n: &i32| Some(n + offset.len() as i32);
    let mut of: Cases<'_, (), i32> = cases! {
        (_: Counted, ..) => 0,
        (project -> n) => n,
    };
    let tuple = AnyTuple::new((Counted(Arc::clone(&clones)), 1));
    let _other = tuple.clone();
    assert_eq!(of.apply(&mut (), tuple).unwrap(), 0);
    assert_eq!(clones.load(Ordering::Relaxed), 0);
    assert_eq!([1, 2].map(|n| apply(&mut of, n)), [Some(2), Some(3)]);
}
