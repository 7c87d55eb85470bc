//! Types that change: what earlier versions have written is read by later ones, and the other way
//! round where that is possible.

use coact_persist::{Event, Format, FormatError, minicbor, read, write};
use minicbor::{Decode, Encode};

/// The first version.
mod v1 {
    use super::{Decode, Encode, Format};

    #[derive(Encode, Decode, Debug, PartialEq)]
    pub enum Changed {
        #[n(0)]
        Opened {
            #[n(0)]
            owner: String,
        },
        #[n(1)]
        Deposited(#[n(0)] u64),
    }

    impl Format for Changed {
        const NAME: &'static str = "bank.changed";
        const VERSION: u32 = 1;
    }
}

/// The second: amounts are cents, and owners have a country, which may be unknown.
mod v2 {
    use super::{Decode, Encode, Format, FormatError, v1};

    #[derive(Encode, Decode, Debug, PartialEq)]
    pub enum Changed {
        #[n(0)]
        Opened {
            #[n(0)]
            owner: String,
            #[n(2)]
            country: Option<String>,
        },
        #[n(1)]
        Deposited {
            #[n(0)]
            cents: i64,
        },
    }

    impl Format for Changed {
        const NAME: &'static str = "bank.changed";
        const VERSION: u32 = 2;

        fn read_earlier(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
            Ok(match v1::Changed::read_version(version, bytes)? {
                v1::Changed::Opened { owner } => Changed::Opened { owner, country: None },
                v1::Changed::Deposited(euros) => {
                    Changed::Deposited { cents: i64::try_from(100 * euros).unwrap_or(i64::MAX) }
                }
            })
        }
    }
}

/// The third takes withdrawals as well.
mod v3 {
    use super::{Decode, Encode, Format, FormatError, v2};

    #[derive(Encode, Decode, Debug, PartialEq)]
    pub enum Changed {
        #[n(0)]
        Opened {
            #[n(0)]
            owner: String,
            #[n(2)]
            country: Option<String>,
        },
        #[n(2)]
        Moved {
            #[n(0)]
            cents: i64,
            #[n(1)]
            why: Option<String>,
        },
    }

    impl Format for Changed {
        const NAME: &'static str = "bank.changed";
        const VERSION: u32 = 3;

        fn read_earlier(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
            Ok(match v2::Changed::read_version(version, bytes)? {
                v2::Changed::Opened { owner, country } => Changed::Opened { owner, country },
                v2::Changed::Deposited { cents } => Changed::Moved { cents, why: None },
            })
        }
    }
}

/// What each version has written, and what it is today. These bytes stay as they are.
const WRITTEN: [(u32, &str); 5] = [
    (1, "82008165616c696365"),
    (1, "8201811864"),
    (2, "820083656f74686572f6624e4c"),
    (2, "8201811903e8"),
    (3, "82028239270f6472656e74"),
];

fn stored(version: u32, hex: &str) -> Event {
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two digits"))
        .collect();
    Event::new("bank.changed", version, bytes)
}

fn hex(event: &Event) -> String {
    event.payload.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_every_version_has_written_is_read_today() {
    let all: Vec<v3::Changed> = WRITTEN
        .iter()
        .map(|(version, hex)| {
            read(&stored(*version, hex)).unwrap_or_else(|why| panic!("{hex}: {why}"))
        })
        .collect();
    let owner = |owner: &str, country: Option<&str>| v3::Changed::Opened {
        owner: owner.into(),
        country: country.map(Into::into),
    };
    let moved = |cents, why: Option<&str>| v3::Changed::Moved { cents, why: why.map(Into::into) };
    let expected = [
        owner("alice", None),
        moved(10_000, None),
        owner("other", Some("NL")),
        moved(1_000, None),
        moved(-10_000, Some("rent")),
    ];
    assert_eq!(all, expected);
}

#[test]
fn every_version_writes_what_it_has_written() {
    let opened = write(&v1::Changed::Opened { owner: "alice".into() }).unwrap();
    let rent = v3::Changed::Moved { cents: -10_000, why: Some("rent".into()) };
    let cents = v2::Changed::Deposited { cents: 1_000 };
    let all = [
        opened,
        write(&v1::Changed::Deposited(100)).unwrap(),
        write(&cents).unwrap(),
        write(&rent).unwrap(),
    ];
    let all: Vec<_> = all.iter().map(|event| (event.version, hex(event))).collect();
    let expected = [WRITTEN[0], WRITTEN[1], WRITTEN[3], WRITTEN[4]];
    assert_eq!(all, expected.map(|(version, hex)| (version, hex.to_owned())));
}

/// A field more, without a new version: both can read both.
#[test]
fn fields_come_and_go_within_a_version() {
    #[derive(Encode, Decode, Debug, PartialEq)]
    struct Small {
        #[n(0)]
        name: String,
    }
    #[derive(Encode, Decode, Debug, PartialEq)]
    struct Large {
        #[n(0)]
        name: String,
        #[n(3)]
        tags: Option<Vec<String>>,
    }
    impl Format for Small {
        const NAME: &'static str = "thing";
        const VERSION: u32 = 1;
    }
    impl Format for Large {
        const NAME: &'static str = "thing";
        const VERSION: u32 = 1;
    }
    let large = Large { name: "a".into(), tags: Some(vec!["x".into()]) };
    assert_eq!(read::<Small>(&write(&large).unwrap()), Ok(Small { name: "a".into() }));
    let small = write(&Small { name: "b".into() }).unwrap();
    assert_eq!(read::<Large>(&small), Ok(Large { name: "b".into(), tags: None }));
}

/// Version 5 in a program that has left out all from 2 to 4.
#[derive(Encode, Decode, Debug, PartialEq)]
struct Later {
    #[n(0)]
    was: Option<v1::Changed>,
}

impl Format for Later {
    const NAME: &'static str = "bank.changed";
    const VERSION: u32 = 5;

    fn read_earlier(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
        Ok(Later { was: Some(v1::Changed::read_version(version, bytes)?) })
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let newer = read::<v1::Changed>(&stored(3, WRITTEN[4].1)).unwrap_err();
    assert_eq!(newer, FormatError::Newer { name: "bank.changed", version: 3, known: 1 });
    let older = read::<v1::Changed>(&stored(0, "80")).unwrap_err();
    assert_eq!(older, FormatError::TooOld { name: "bank.changed", version: 0, oldest: 1 });
    // The oldest type says it, however late the one is that was asked.
    assert!(matches!(
        read::<v3::Changed>(&stored(0, "80")),
        Err(FormatError::TooOld { version: 0, oldest: 1, .. })
    ));
    // Of a version between two that are known, both are named.
    let skipped = read::<Later>(&stored(2, WRITTEN[2].1)).unwrap_err();
    let expected = FormatError::Skipped { name: "bank.changed", version: 2, earlier: 1, later: 5 };
    assert_eq!(skipped, expected);
    assert_eq!(
        skipped.to_string(),
        "it is a `bank.changed` of version 2, and this program knows 1 and 5, but none between: add the type of version 2, as \
         the `earlier` one of 5"
    );
    assert!(matches!(
        read::<Later>(&stored(6, "80")),
        Err(FormatError::Newer { version: 6, known: 5, .. })
    ));
    let other = Event { name: "shop.sold".into(), ..stored(1, WRITTEN[0].1) };
    assert!(matches!(read::<v1::Changed>(&other), Err(FormatError::OtherType { .. })));
    for damaged in
        ["", "82", "820081", "82008165616c6963", "82008165616c69636500", "8209811864", "f7"]
    {
        let why = read::<v1::Changed>(&stored(1, damaged)).unwrap_err();
        assert!(matches!(why, FormatError::Damaged { .. }), "{damaged}: {why:?}");
    }
}
