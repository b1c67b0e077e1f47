//! Decimal numbers as files write them, read fast: `12.5`, `.5`, `-.5`, `1.87e-05`.
//!
//! ```text
//! digits ≤ 2⁵³ and |exponent| ≤ 22:   value = digits · 10^exponent, one rounding, hence the nearest f64
//! ```
//!
//! Everything else goes to the standard library, with the same result and less speed. Reference: Clinger (1990),
//! How to read floating point numbers accurately.

/// Powers of ten that f64 holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The nearest f64 to the decimal number that `token` spells; none where it spells none, or not a finite one.
pub(super) fn parse(token: &[u8]) -> Option<f64> {
    match fast(token) {
        Some(value) => Some(value),
        None => slow(token),
    }
}

/// Plain decimals with few digits, which are nearly all that files hold.
fn fast(token: &[u8]) -> Option<f64> {
    let (negative, rest) = match token {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    // 15 digits stay below 2⁵³; the point is one more byte.
    if rest.is_empty() || rest.len() > 16 {
        return None;
    }
    let (mut digits, mut n_digits, mut n_decimals, mut after_point) = (0u64, 0, 0, false);
    for &byte in rest {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                n_digits += 1;
                n_decimals += usize::from(after_point);
            }
            b'.' if !after_point => after_point = true,
            _ => return None,
        }
    }
    if n_digits == 0 || n_digits > 15 {
        return None;
    }
    let value = digits as f64 / POWERS[n_decimals];
    Some(if negative { -value } else { value })
}

/// Any spelling of a finite number that the standard library takes, but its words for infinity and NaN.
fn slow(token: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(token).ok()?;
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_the_wild_are_read() {
        for (token, value) in [
            (".5", 0.5),
            ("-.5", -0.5),
            ("5.", 5.0),
            ("+1.25", 1.25),
            ("1.87007e-05", 1.87007e-5),
            ("2E3", 2000.0),
            ("-0.000000", 0.0),
            ("123456789012345678", 123_456_789_012_345_680.0),
        ] {
            assert_eq!(parse(token.as_bytes()), Some(value), "{token}");
        }
        assert!(parse(b"-0").unwrap().is_sign_negative());
    }

    #[test]
    fn what_is_no_finite_number_is_refused() {
        for token in [
            "",
            "-",
            ".",
            "-.",
            "1.2.3",
            "1,5",
            "nan",
            "NaN",
            "inf",
            "-infinity",
            "1e999",
            "0x10",
            "1e",
            "--1",
        ] {
            assert_eq!(parse(token.as_bytes()), None, "{token}");
        }
        assert_eq!(parse(b"\xff"), None);
    }

    proptest! {
        #[test]
        fn equal_to_the_standard_library_for_decimals(text in "-?[0-9]{0,12}\\.?[0-9]{0,12}(e-?[0-9]{1,2})?") {
            prop_assert_eq!(parse(text.as_bytes()), text.parse::<f64>().ok());
        }

        #[test]
        fn equal_to_the_standard_library_for_all_bits(bits: u64) {
            let value = f64::from_bits(bits);
            let expected = value.is_finite().then_some(value);
            prop_assert_eq!(parse(format!("{value}").as_bytes()), expected);
            prop_assert_eq!(parse(format!("{value:e}").as_bytes()), expected);
        }
    }
}
