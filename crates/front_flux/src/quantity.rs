//! Numbers with units, as constants are written: `80`, `64k`, `100ms`.
//!
//! Sizes are in bytes and their units are powers of 1024; durations are in milliseconds. The case of a unit matters,
//! as `5m` is five minutes and `5M` five mebibytes.

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nothing in particular.
    One,
    /// Bytes.
    Byte,
    /// Milliseconds.
    Millisecond,
}

/// A number and what it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantity {
    /// The number, in the unit.
    pub value: i64,
    /// What it counts.
    pub unit: Unit,
}

/// Why a text is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// What follows the digits is not a unit.
    UnknownUnit,
    /// The value does not fit 64 bits.
    TooLarge,
    /// A duration is longer than 36,500 days.
    TooLong,
    /// A size or duration below zero.
    Negative,
}

/// The longest duration, in milliseconds. Its nanoseconds fit 64 bits (`flux/process/quantity.hpp`).
const LONGEST_DURATION: i64 = 52_560_000 * 60_000;

/// Reads digits and a unit; `negative` where a minus sign came before them.
pub fn read(spelling: &str, negative: bool) -> Result<Quantity, Fault> {
    let suffix = spelling.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = spelling.strip_suffix(suffix).unwrap_or(spelling);
    let (unit, factor) = match suffix {
        "" => (Unit::One, 1),
        "k" => (Unit::Byte, 1 << 10),
        "M" => (Unit::Byte, 1 << 20),
        "G" => (Unit::Byte, 1 << 30),
        "ms" => (Unit::Millisecond, 1),
        "s" => (Unit::Millisecond, 1_000),
        "m" => (Unit::Millisecond, 60_000),
        _ => return Err(Fault::UnknownUnit),
    };
    if negative && unit != Unit::One {
        return Err(Fault::Negative);
    }
    let sign = if negative { -1 } else { 1 };
    let magnitude: i128 = digits.parse().map_err(|_| Fault::TooLarge)?;
    let value = magnitude.checked_mul(sign * factor).ok_or(Fault::TooLarge)?;
    let value = i64::try_from(value).map_err(|_| Fault::TooLarge)?;
    if unit == Unit::Millisecond && value > LONGEST_DURATION {
        return Err(Fault::TooLong);
    }
    Ok(Quantity { value, unit })
}

/// The unit that is meant by a word which is none, and how many of it the word means.
pub fn meant(word: &str) -> Option<(&'static str, i64)> {
    Some(match word.to_ascii_lowercase().as_str() {
        "byte" | "bytes" => ("", 1),
        "k" | "kb" | "kib" | "kilobytes" => ("k", 1),
        "mb" | "mib" | "megabytes" => ("M", 1),
        "g" | "gb" | "gib" | "gigabytes" => ("G", 1),
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => ("ms", 1),
        "s" | "sec" | "secs" | "second" | "seconds" => ("s", 1),
        "m" if word == "M" => ("M", 1),
        "m" | "min" | "mins" | "minute" | "minutes" => ("m", 1),
        "h" | "hour" | "hours" => ("m", 60),
        "d" | "day" | "days" => ("m", 24 * 60),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_scale() {
        let value = |text| read(text, false).unwrap().value;
        assert_eq!(["80", "64k", "2M", "1G"].map(value), [80, 65_536, 2_097_152, 1_073_741_824]);
        assert_eq!(["100ms", "2s", "5m"].map(value), [100, 2_000, 300_000]);
        assert_eq!(read("2s", false).unwrap().unit, Unit::Millisecond);
        assert_eq!(read("5M", false).unwrap().unit, Unit::Byte);
    }

    #[test]
    fn the_whole_range_is_read_and_no_more() {
        assert_eq!(read("9223372036854775808", true).unwrap().value, i64::MIN);
        assert_eq!(read("9223372036854775807", false).unwrap().value, i64::MAX);
        assert_eq!(read("9223372036854775808", false), Err(Fault::TooLarge));
        assert_eq!(read("9007199254740992G", false), Err(Fault::TooLarge));
        assert_eq!(read(&"9".repeat(99), false), Err(Fault::TooLarge));
        assert_eq!(read("52560000m", false).unwrap().value, LONGEST_DURATION);
        assert_eq!(read("3153600000001ms", false), Err(Fault::TooLong));
    }

    #[test]
    fn words_mean_units() {
        assert_eq!(
            ["minutes", "M", "m", "KB", "hours"].map(meant).map(|meant| meant.unwrap()),
            [("m", 1), ("M", 1), ("m", 1), ("k", 1), ("m", 60),]
        );
        assert_eq!(meant("most"), None);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["5h", "1.5", "0x10", "5K", "7MS", "1e3"] {
            assert_eq!(read(text, false), Err(Fault::UnknownUnit), "{text}");
        }
        assert_eq!(read("5s", true), Err(Fault::Negative));
    }
}
