//! CBOR for people: diagnostic notation ([RFC 8949, section
//! 8](https://www.rfc-editor.org/rfc/rfc8949#section-8)), and JSON.

use std::fmt::{self, Display, Formatter};

use coact_persist::minicbor::Decoder;
use coact_persist::minicbor::data::Type;
use serde_json::{Map, Number, Value};

use crate::quoted_name::hex;

/// How deep items may lie in others.
const DEPTH: usize = 128;

/// A data item.
#[derive(Clone, PartialEq, Debug)]
pub enum CborItem {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A text.
    Text(String),
    /// Items in a row.
    Array(Vec<CborItem>),
    /// Pairs of items.
    Map(Vec<(CborItem, CborItem)>),
    /// An item with a tag.
    Tagged(u64, Box<CborItem>),
    /// True or false.
    Bool(bool),
    /// Nothing.
    Null,
    /// Nothing, differently.
    Undefined,
    /// Another simple value.
    Simple(u8),
}

impl CborItem {
    /// Reads bytes that are one item, and nothing else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut decoder = Decoder::new(bytes);
        let item = item(&mut decoder, DEPTH)?;
        (decoder.position() == bytes.len()).then_some(item)
    }

    /// As JSON, in which not everything has a place: bytes become texts as in diagnostic notation,
    /// keys of maps texts, tags are left out. `None` if two keys would become the same one.
    pub fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => number.to_string().into(),
            },
            Self::Float(number) => {
                Number::from_f64(*number).map_or_else(|| self.to_string().into(), Value::Number)
            }
            Self::Text(text) => text.clone().into(),
            Self::Array(items) => {
                Value::Array(items.iter().map(Self::to_json).collect::<Option<_>>()?)
            }
            Self::Map(pairs) => {
                let mut map = Map::new();
                for (key, value) in pairs {
                    let key =
                        if let Self::Text(text) = key { text.clone() } else { key.to_string() };
                    if map.insert(key, value.to_json()?).is_some() {
                        return None;
                    }
                }
                Value::Object(map)
            }
            Self::Tagged(_, item) => item.to_json()?,
            Self::Bool(is_true) => (*is_true).into(),
            Self::Null | Self::Undefined => Value::Null,
            Self::Bytes(_) | Self::Simple(_) => self.to_string().into(),
        })
    }
}

fn item(decoder: &mut Decoder<'_>, depth: usize) -> Option<CborItem> {
    let depth = depth.checked_sub(1)?;
    Some(match decoder.datatype().ok()? {
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::I8
        | Type::I16
        | Type::I32
        | Type::I64
        | Type::Int => CborItem::Integer(decoder.int().ok()?.into()),
        Type::F16 => CborItem::Float(half(decoder)?),
        Type::F32 => CborItem::Float(decoder.f32().ok()?.into()),
        Type::F64 => CborItem::Float(decoder.f64().ok()?),
        Type::Bytes | Type::BytesIndef => {
            let parts: Result<Vec<_>, _> = decoder.bytes_iter().ok()?.collect();
            CborItem::Bytes(parts.ok()?.concat())
        }
        Type::String | Type::StringIndef => {
            let parts: Result<Vec<_>, _> = decoder.str_iter().ok()?.collect();
            CborItem::Text(parts.ok()?.concat())
        }
        Type::Array | Type::ArrayIndef => {
            let length = decoder.array().ok()?;
            CborItem::Array(several(decoder, length, |decoder| item(decoder, depth))?)
        }
        Type::Map | Type::MapIndef => {
            let length = decoder.map().ok()?;
            let pair =
                |decoder: &mut Decoder<'_>| Some((item(decoder, depth)?, item(decoder, depth)?));
            CborItem::Map(several(decoder, length, pair)?)
        }
        Type::Tag => {
            let tag = decoder.tag().ok()?.as_u64();
            CborItem::Tagged(tag, Box::new(item(decoder, depth)?))
        }
        Type::Bool => CborItem::Bool(decoder.bool().ok()?),
        Type::Null => {
            decoder.null().ok()?;
            CborItem::Null
        }
        Type::Undefined => {
            decoder.undefined().ok()?;
            CborItem::Undefined
        }
        Type::Simple => CborItem::Simple(decoder.simple().ok()?),
        Type::Break | Type::Unknown(_) => return None,
    })
}

/// As many items as a header says, or those up to the end mark. A header may lie, so no room is
/// made for them.
fn several<'b, T>(
    decoder: &mut Decoder<'b>,
    length: Option<u64>,
    mut one: impl FnMut(&mut Decoder<'b>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut all = Vec::new();
    if let Some(length) = length {
        for _ in 0..length {
            all.push(one(decoder)?);
        }
    } else {
        while decoder.datatype().ok()? != Type::Break {
            all.push(one(decoder)?);
        }
        decoder.set_position(decoder.position() + 1);
    }
    Some(all)
}

/// A number of 16 bits, which is rare.
fn half(decoder: &mut Decoder<'_>) -> Option<f64> {
    let at = decoder.position();
    let bits: [u8; 2] = decoder.input().get(at + 1..at + 3)?.try_into().ok()?;
    decoder.set_position(at + 3);
    let bits = u16::from_be_bytes(bits);
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1_024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    Some(if bits >> 15 == 1 { -magnitude } else { magnitude })
}

impl Display for CborItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) if number.is_nan() => f.write_str("NaN"),
            Self::Float(number) if number.is_infinite() => {
                f.write_str(if *number > 0.0 { "Infinity" } else { "-Infinity" })
            }
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Bytes(bytes) => write!(f, "h'{}'", hex(bytes)),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Array(items) => {
                f.write_str("[")?;
                separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_str("]")
            }
            Self::Map(pairs) => {
                f.write_str("{")?;
                separated(f, pairs, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_str("}")
            }
            Self::Tagged(tag, item) => write!(f, "{tag}({item})"),
            Self::Bool(is_true) => write!(f, "{is_true}"),
            Self::Null => f.write_str("null"),
            Self::Undefined => f.write_str("undefined"),
            Self::Simple(number) => write!(f, "simple({number})"),
        }
    }
}

fn separated<T>(
    f: &mut Formatter<'_>,
    all: &[T],
    one: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (number, item) in all.iter().enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        one(f, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect()
    }

    /// Most are those of RFC 8949, appendix A.
    #[test]
    fn items_are_read_and_shown() {
        let cases = [
            ("00", "0", json!(0)),
            ("1bffffffffffffffff", "18446744073709551615", json!(u64::MAX)),
            ("3bffffffffffffffff", "-18446744073709551616", json!("-18446744073709551616")),
            ("3863", "-100", json!(-100)),
            ("f93c00", "1.0", json!(1.0)),
            ("f90001", "5.960464477539063e-8", json!(5.960464477539063e-8)),
            ("f9c400", "-4.0", json!(-4.0)),
            ("f97bff", "65504.0", json!(65504.0)),
            ("f97c00", "Infinity", json!("Infinity")),
            ("f97e00", "NaN", json!("NaN")),
            ("fb3ff199999999999a", "1.1", json!(1.1)),
            ("fa47c35000", "100000.0", json!(100000.0)),
            ("f4", "false", json!(false)),
            ("f6", "null", json!(null)),
            ("f7", "undefined", json!(null)),
            ("f0", "simple(16)", json!("simple(16)")),
            ("c11a514b67b0", "1(1363896240)", json!(1_363_896_240)),
            ("4401020304", "h'01020304'", json!("h'01020304'")),
            ("62225c", r#""\"\\""#, json!("\"\\")),
            ("610a", r#""\n""#, json!("\n")),
            ("8301820203820405", "[1, [2, 3], [4, 5]]", json!([1, [2, 3], [4, 5]])),
            ("a201020304", "{1: 2, 3: 4}", json!({"1": 2, "3": 4})),
            ("a26161016162820203", r#"{"a": 1, "b": [2, 3]}"#, json!({"a": 1, "b": [2, 3]})),
            ("5f42010243030405ff", "h'0102030405'", json!("h'0102030405'")),
            ("7f657374726561646d696e67ff", "\"streaming\"", json!("streaming")),
            ("9f018202039f0405ffff", "[1, [2, 3], [4, 5]]", json!([1, [2, 3], [4, 5]])),
            ("bf61610161629f0203ffff", r#"{"a": 1, "b": [2, 3]}"#, json!({"a": 1, "b": [2, 3]})),
            ("80", "[]", json!([])),
        ];
        for (hex, shown, json) in cases {
            let item = CborItem::parse(&bytes(hex)).unwrap_or_else(|| panic!("{hex} is CBOR"));
            assert_eq!((&*item.to_string(), item.to_json()), (shown, Some(json)), "{hex}");
        }
    }

    #[test]
    fn what_is_not_one_item_is_none() {
        let deep = "81".repeat(100_000) + "00";
        let all = [
            "",
            "0000",
            "18",
            "82",
            "8201",
            "ff",
            "62c328",
            "9f01",
            "9bffffffffffffffff",
            "f9",
            "f93c",
            "1c",
            &deep,
        ];
        for hex in all {
            assert_eq!(CborItem::parse(&bytes(hex)), None, "{hex:.40}");
        }
    }

    #[test]
    fn maps_whose_keys_would_fall_together_are_no_json() {
        assert_eq!(
            CborItem::parse(&bytes("a201026131 03".replace(' ', "").as_str())).unwrap().to_json(),
            None
        );
    }
}
