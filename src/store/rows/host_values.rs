//! The stored form of the values of hosts: two bytes a value, and the names of their series once for all rows that have
//! the same ones.

use aws_lc_rs::digest;

use super::decode::{DecodeError, RowLocator};
use crate::domain::SeriesStatistics;

/// Bits of the mantissa; with the leading one that is not stored, whole numbers up to 1024 are exact.
const MANTISSA_BITS: u32 = 9;
/// The exponent that is stored as 1: values below 2 to its power are stored as 0.
const MIN_EXPONENT: i32 = -10;
/// The greatest exponent, 6 bits.
const MAX_STORED_EXPONENT: i32 = 63;
const SIGN: u16 = 1 << 15;

/// Encodes a value with a sign, an exponent of 6 bits and a mantissa of 9, rounded. What is too large is stored as the
/// largest number, of about 9 petabytes.
pub(in crate::store) fn encode_value(value: f64) -> u16 {
    let sign = if value < 0.0 { SIGN } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() || magnitude < 2_f64.powi(MIN_EXPONENT) {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm within a thousand")]
    let mut exponent = magnitude.log2().floor().clamp(-1e3, 1e3) as i32;
    let mut mantissa = (magnitude / 2_f64.powi(exponent) - 1.0) * f64::from(1 << MANTISSA_BITS);
    // The logarithm may be rounded up to the next power.
    if mantissa < 0.0 {
        exponent -= 1;
        mantissa = (magnitude / 2_f64.powi(exponent) - 1.0) * f64::from(1 << MANTISSA_BITS);
    }
    let mut mantissa = mantissa.round();
    if mantissa >= f64::from(1 << MANTISSA_BITS) {
        (exponent, mantissa) = (exponent + 1, 0.0);
    }
    let stored_exponent = exponent - MIN_EXPONENT + 1;
    if stored_exponent > MAX_STORED_EXPONENT {
        return sign | (SIGN - 1);
    }
    let exponent_bits = u16::try_from(stored_exponent).unwrap_or(0) << MANTISSA_BITS;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0 and below 512")]
    let mantissa_bits = mantissa as u16;
    sign | exponent_bits | mantissa_bits
}

/// Decodes a value.
pub(in crate::store) fn decode_value(stored: u16) -> f64 {
    let magnitude = stored & (SIGN - 1);
    if magnitude == 0 {
        return 0.0;
    }
    let exponent = i32::from(magnitude >> MANTISSA_BITS) + MIN_EXPONENT - 1;
    let mantissa = f64::from(magnitude & ((1 << MANTISSA_BITS) - 1)) / f64::from(1 << MANTISSA_BITS);
    let value = (1.0 + mantissa) * 2_f64.powi(exponent);
    if stored & SIGN == 0 { value } else { -value }
}

/// Returns the number by which rows refer to their series: the start of the SHA-256 of the names.
pub(in crate::store) fn layout_number<'a>(series: impl Iterator<Item = &'a str>) -> i64 {
    let mut context = digest::Context::new(&digest::SHA256);
    for name in series {
        context.update(name.as_bytes());
        context.update(b"\n");
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&context.finish().as_ref()[..8]);
    i64::from_be_bytes(bytes)
}

/// Returns the stored form of the names of series.
pub(in crate::store) fn encode_layout<'a>(series: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for name in series {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(name);
    }
    text
}

/// Encodes the values of a report.
pub(in crate::store) fn encode_report(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(|value| encode_value(value).to_be_bytes()).collect()
}

/// Encodes the statistics of a longer span: all least values, then the means, then the greatest ones.
pub(in crate::store) fn encode_statistics(values: &[SeriesStatistics]) -> Vec<u8> {
    let columns = [
        |value: &SeriesStatistics| value.min,
        |value: &SeriesStatistics| value.mean,
        |value: &SeriesStatistics| value.max,
    ];
    columns.iter().flat_map(|column| encode_report(values.iter().map(column))).collect()
}

/// Decodes the values of a row: those of a report, or statistics, as the number of bytes tells.
pub(in crate::store) fn decode_row(
    host_id: i64,
    layout: &str,
    packed: &[u8],
) -> Result<Vec<SeriesStatistics>, DecodeError> {
    let series: Vec<&str> = layout.split('\n').filter(|name| !name.is_empty()).collect();
    let values: Vec<f64> =
        packed.chunks_exact(2).map(|pair| decode_value(u16::from_be_bytes([pair[0], pair[1]]))).collect();
    let count = series.len();
    let (min, mean, max) = match values.len() {
        length if length == count => (&values[..], &values[..], &values[..]),
        length if length == count * 3 => (&values[..count], &values[count..count * 2], &values[count * 2..]),
        length => {
            let key = [("host_id", host_id)];
            let locator = RowLocator { table: "host_history", key: &key };
            let reason = format!("{length} values for {count} series");
            return Err(locator.decode_error("packed", reason));
        }
    };
    let statistics = series.iter().zip(min.iter().zip(mean).zip(max));
    Ok(statistics
        .map(|(series, ((&min, &mean), &max))| SeriesStatistics {
            series: (*series).to_owned(),
            min,
            mean,
            max,
        })
        .collect())
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "values that are stored exactly")]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_up_to_1024_are_exact() {
        for number in -1024..=1024 {
            assert_eq!(decode_value(encode_value(f64::from(number))), f64::from(number));
        }
    }

    #[test]
    fn other_values_keep_three_digits() {
        let mut value = 0.001;
        while value < 9e15 {
            let decoded = decode_value(encode_value(value));
            assert!(((decoded - value) / value).abs() <= 0.001, "{value} became {decoded}");
            value *= 1.0137;
        }
    }

    #[test]
    fn extremes_are_stored_as_the_nearest_number() {
        assert_eq!(decode_value(encode_value(0.0)), 0.0);
        assert_eq!(decode_value(encode_value(1e-9)), 0.0);
        assert_eq!(decode_value(encode_value(f64::NAN)), 0.0);
        assert!(decode_value(encode_value(1e300)) > 8e15);
        assert!(decode_value(encode_value(f64::NEG_INFINITY)) < -8e15);
        assert_eq!(decode_value(encode_value(1023.9)), 1024.0);
    }

    #[test]
    fn rows_are_decoded_as_reports_or_statistics() {
        let report = decode_row(1, "a\nb", &encode_report([1.0, 2.5].into_iter())).unwrap();
        assert_eq!(report[1], SeriesStatistics { series: "b".to_owned(), min: 2.5, mean: 2.5, max: 2.5 });
        let values = [SeriesStatistics { series: "a".to_owned(), min: 1.0, mean: 2.0, max: 4.0 }];
        assert_eq!(decode_row(1, "a", &encode_statistics(&values)).unwrap(), values);
        assert!(decode_row(1, "a\nb\nc", &[0, 1]).is_err());
    }
}
