//! The cases that the macro compiles, beside an interpreter that tries one pattern after the other.

use coact::dynamic::{AnyTuple, Atom, Cases, atom, cases};
use proptest::prelude::*;

/// An element, as the interpreter knows it.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(i32),
    Byte(u8),
    Text(String),
    Name(Atom),
    List(Vec<i32>),
}

/// What a pattern wants at one position.
enum Wanted {
    Int(fn(i32) -> bool),
    Byte,
    Text(fn(&str) -> bool),
    Name(Option<Atom>),
    List,
    One,
    Rest,
}

use Wanted::{Byte, Int, List, Name, One, Rest, Text};

impl Wanted {
    fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Int(takes), Value::Int(value)) => takes(*value),
            (Text(takes), Value::Text(value)) => takes(value),
            (Name(wanted), Value::Name(value)) => wanted.is_none_or(|wanted| wanted == *value),
            (Byte, Value::Byte(_)) | (List, Value::List(_)) | (One, _) => true,
            _ => false,
        }
    }
}

/// Whether a pattern takes the values, tried at every length of `..`.
fn takes(pattern: &[Wanted], values: &[Value]) -> bool {
    match (pattern, values) {
        ([], []) => true,
        ([Rest, behind @ ..], values) => {
            (0..=values.len()).any(|skipped| takes(behind, &values[skipped..]))
        }
        ([wanted, behind @ ..], [value, rest @ ..]) => wanted.takes(value) && takes(behind, rest),
        _ => false,
    }
}

fn any(_: i32) -> bool {
    true
}

fn even(text: &str) -> Option<usize> {
    text.len().is_multiple_of(2).then_some(text.len())
}

/// The same patterns twice: a number for each. (In guards, both look at the values alone.)
fn both() -> (Cases<'static, (), usize>, Vec<Vec<Wanted>>) {
    let compiled = cases! {
        (atom!("a"), 0) => 0,
        (atom!("b"), n: i32) if n > 1 => 1,
        (atom!("a"), _: i32) => 2,
        (name: Atom, n: i32) if name == atom!("c") && n < 0 => 3,
        ("x", _: u8) => 4,
        (text: String, _: u8) if text.is_empty() => 5,
        (_: u8, ..) => 6,
        (1, .., 2) => 7,
        (.., _: Vec<i32>) => 8,
        (_, "x", _) => 9,
        (_: i32, even -> _, ..) => 10,
        (-1..=1) => 11,
        (_: i32) => 12,
        () => 13,
        (_: Atom, _: Atom, _: Atom) => 14,
        (_: Atom, .., _: Atom) => 15,
    };
    let interpreted = vec![
        vec![Name(Some(atom!("a"))), Int(|n| n == 0)],
        vec![Name(Some(atom!("b"))), Int(|n| n > 1)],
        vec![Name(Some(atom!("a"))), Int(any)],
        vec![Name(Some(atom!("c"))), Int(|n| n < 0)],
        vec![Text(|text| text == "x"), Byte],
        vec![Text(str::is_empty), Byte],
        vec![Byte, Rest],
        vec![Int(|n| n == 1), Rest, Int(|n| n == 2)],
        vec![Rest, List],
        vec![One, Text(|text| text == "x"), One],
        vec![Int(any), Text(|text| text.len() % 2 == 0), Rest],
        vec![Int(|n| (-1..=1).contains(&n))],
        vec![Int(any)],
        vec![],
        vec![Name(None), Name(None), Name(None)],
        vec![Name(None), Rest, Name(None)],
    ];
    (compiled, interpreted)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-2..=3).prop_map(Value::Int),
        (0_u8..2).prop_map(Value::Byte),
        "[x]{0,3}".prop_map(Value::Text),
        prop_oneof![Just(atom!("a")), Just(atom!("b")), Just(atom!("c"))].prop_map(Value::Name),
        prop::collection::vec(0..2, 0..2).prop_map(Value::List),
    ]
}

/// Goes on with what is in a value, whose type the compiler does not know.
macro_rules! with {
    ($value:expr, $name:ident => $body:expr) => {
        match $value.clone() {
            Value::Int($name) => $body,
            Value::Byte($name) => $body,
            Value::Text($name) => $body,
            Value::Name($name) => $body,
            Value::List($name) => $body,
        }
    };
}

/// Makes a tuple of up to three values.
fn tuple(values: &[Value]) -> AnyTuple {
    match values {
        [] => AnyTuple::new(()),
        [a] => with!(a, a => AnyTuple::new((a,))),
        [a, b] => with!(a, a => with!(b, b => AnyTuple::new((a, b)))),
        [a, b, c] => with!(a, a => with!(b, b => with!(c, c => AnyTuple::new((a, b, c))))),
        more => unreachable!("{more:?}"),
    }
}

proptest! {
    #[test]
    fn compiled_cases_are_as_good_as_interpreted_ones(
        tuples in prop::collection::vec(prop::collection::vec(value(), 0..=3), 1..40)
    ) {
        let (mut compiled, interpreted) = both();
        for values in tuples {
            let expected = interpreted.iter().position(|pattern| takes(pattern, &values));
            let found = compiled.apply(&mut (), tuple(&values));
            prop_assert_eq!(found.as_ref().ok(), expected.as_ref(), "{:?}", values);
            if let Err(left) = found {
                prop_assert_eq!(left.to_string(), tuple(&values).to_string());
            }
        }
    }
}
