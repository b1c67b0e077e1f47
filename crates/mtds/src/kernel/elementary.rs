//! Elementary functions without branches, so that a loop over lanes vectorises.
//!
//! ```text
//! exp x       = 2^n · e^r,            n = round(x / ln 2),   r = x − n ln 2 ∈ [−0.35, 0.35]
//! sin, cos x  from sin r, cos r,      n = round(x · 2/π),    r = x − n π/2 ∈ [−π/4, π/4]
//! ```
//! The reductions subtract a constant split in parts whose products with n are exact (Cody & Waite 1980);
//! e^r, sin r and cos r are Taylor polynomials cut where the next term falls below the last digit.
//!
//! ```text
//! tanh x = x P(x²) / Q(x²)   for |x| ≤ 9 in f32, beyond which it stays: 1 but for the last digit
//! ```
//! P and Q were fitted by `tanh_fit.py` beside this file, to a relative error of 2e-8.

/// Adding and subtracting 1.5 · 2^23 rounds an f32 to the nearest integer.
const ROUND_F32: f32 = 12_582_912.0;
/// The same for f64: 1.5 · 2^52.
const ROUND_F64: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
pub(super) fn exp_f32(x: f32, mul_add: impl Fn(f32, f32, f32) -> f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let n = mul_add(x, std::f32::consts::LOG2_E, ROUND_F32) - ROUND_F32;
    let r = mul_add(n, -0.693_359_4, x); // 355/512, exact in 9 bits
    let r = mul_add(n, 2.121_944_4e-4, r);
    let mut p = 1.0 / 5_040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = mul_add(p, r, c);
    }
    // `clamp` would keep NaN, which must not reach the conversion; `max` drops it.
    #[allow(clippy::manual_clamp)]
    // SAFETY: n is an integer in [−126, 127] by the clamp above; NaN becomes some integer, and p is NaN.
    let n = unsafe { (n + 127.0).max(0.0).min(254.0).to_int_unchecked::<i32>() };
    p * f32::from_bits((n as u32) << 23)
}

#[inline(always)]
pub(super) fn exp_f64(x: f64, mul_add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8; // 33 bits of ln 2
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const COEFFICIENTS: [f64; 13] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let x = x.clamp(-708.0, 709.0);
    let n = mul_add(x, std::f64::consts::LOG2_E, ROUND_F64);
    // The integer sits in the low bits of the rounded sum: no conversion instruction needed.
    let bits = n.to_bits();
    let n = n - ROUND_F64;
    let r = mul_add(n, -LN2_LOW, mul_add(n, -LN2_HIGH, x));
    let mut p = 1.0 / 6_227_020_800.0;
    for c in COEFFICIENTS {
        p = mul_add(p, r, c);
    }
    p * f64::from_bits(bits.wrapping_add(1_023) << 52)
}

#[inline(always)]
pub(super) fn sin_cos_f32(x: f32, mul_add: impl Fn(f32, f32, f32) -> f32) -> (f32, f32) {
    let n = mul_add(x, std::f32::consts::FRAC_2_PI, ROUND_F32) - ROUND_F32;
    let r = mul_add(n, -1.570_312_5, x); // π/2 in three parts
    let r = mul_add(n, -4.837_513e-4, r);
    let r = mul_add(n, -7.549_79e-8, r);
    let r2 = r * r;
    let mut sin = 1.0 / 362_880.0;
    for c in [-1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0] {
        sin = mul_add(sin, r2, c);
    }
    let sin = sin * r;
    let mut cos = -1.0 / 3_628_800.0;
    for c in [1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0] {
        cos = mul_add(cos, r2, c);
    }
    // Quadrant q ∈ {−2, −1, 0, 1, 2} of n modulo 4.
    let q = n - 4.0 * ((n * 0.25 + ROUND_F32) - ROUND_F32);
    let odd = q.abs() == 1.0;
    let (s, c) = if odd { (cos, sin) } else { (sin, cos) };
    let s = if q == -1.0 || q.abs() == 2.0 { -s } else { s };
    let c = if q == 1.0 || q.abs() == 2.0 { -c } else { c };
    (s, c)
}

#[inline(always)]
pub(super) fn tanh_f32(x: f32, mul_add: impl Fn(f32, f32, f32) -> f32) -> f32 {
    let x = x.clamp(-9.0, 9.0);
    let t = x * x;
    let mut p = 1.337_069_2e-8;
    for c in [2.062_095_1e-5, 3.496_325_8e-3, 0.133_816_53, 0.999_999_98] {
        p = mul_add(p, t, c);
    }
    let mut q = 7.783_201_5e-7;
    for c in [3.286_829e-4, 0.025_879_808, 0.467_149_7, 1.0] {
        q = mul_add(q, t, c);
    }
    (x * p / q).clamp(-1.0, 1.0)
}

#[inline(always)]
pub(super) fn tanh_f64(x: f64, mul_add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    2.0 / (1.0 + exp_f64(-2.0 * x, mul_add)) - 1.0
}

#[inline(always)]
pub(super) fn sigmoid_f32(x: f32, mul_add: impl Fn(f32, f32, f32) -> f32) -> f32 {
    0.5 + 0.5 * tanh_f32(0.5 * x, mul_add)
}

#[inline(always)]
pub(super) fn sigmoid_f64(x: f64, mul_add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    1.0 / (1.0 + exp_f64(-x, mul_add))
}

#[inline(always)]
pub(super) fn sin_cos_f64(x: f64, _: impl Fn(f64, f64, f64) -> f64) -> (f64, f64) {
    x.sin_cos() // no hot loop needs it in f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(low: f64, high: f64, n: usize) -> impl Iterator<Item = f64> {
        (0..=n).map(move |i| low + (high - low) * i as f64 / n as f64)
    }

    #[test]
    fn exp_matches_the_standard_library() {
        for x in sweep(-86.0, 87.0, 100_003) {
            let x = x as f32;
            let want = f64::from(x).exp();
            let got = f64::from(exp_f32(x, f32::mul_add));
            assert!((got / want - 1.0).abs() < 3e-7, "{x}: {got} {want}");
        }
        for x in sweep(-700.0, 700.0, 100_003) {
            assert!((exp_f64(x, f64::mul_add) / x.exp() - 1.0).abs() < 2e-15, "{x}");
        }
    }

    #[test]
    fn exp_saturates_and_keeps_nan() {
        assert!(exp_f32(1e9, f32::mul_add).is_finite());
        assert!(exp_f32(-1e9, f32::mul_add) < 1e-37);
        assert!(exp_f32(f32::NAN, f32::mul_add).is_nan());
        assert!(exp_f64(1e9, f64::mul_add).is_finite());
        assert!(exp_f64(f64::NEG_INFINITY, f64::mul_add) < 1e-300);
        assert!(exp_f64(f64::NAN, f64::mul_add).is_nan());
    }

    #[test]
    fn tanh_and_sigmoid_match_the_standard_library() {
        for x in sweep(-20.0, 20.0, 200_003).chain(sweep(-0.01, 0.01, 1_001)) {
            let single = x as f32;
            let want = f64::from(single).tanh();
            let got = f64::from(tanh_f32(single, f32::mul_add));
            assert!((got - want).abs() <= 4e-7 * want.abs(), "{x}: {got} {want}");
            let logistic = 1.0 / (1.0 + (-x).exp());
            assert!((f64::from(sigmoid_f32(single, f32::mul_add)) - logistic).abs() < 2e-7);
            assert!((tanh_f64(x, f64::mul_add) - x.tanh()).abs() < 1e-15);
            assert!((sigmoid_f64(x, f64::mul_add) - logistic).abs() < 1e-15);
        }
        let ends = [tanh_f32(1e9, f32::mul_add), -tanh_f32(-1e9, f32::mul_add)];
        assert!(ends.iter().all(|end| (1.0 - 1e-7..=1.0).contains(end)), "{ends:?}");
        assert!(tanh_f32(f32::NAN, f32::mul_add).is_nan() && tanh_f64(f64::NAN, f64::mul_add).is_nan());
    }

    #[test]
    fn sin_cos_match_the_standard_library() {
        for x in sweep(-8_000.0, 8_000.0, 300_007).chain(sweep(-7.0, 7.0, 50_001)) {
            let x = x as f32;
            let (sin, cos) = sin_cos_f32(x, f32::mul_add);
            let (s, c) = f64::from(x).sin_cos();
            assert!((f64::from(sin) - s).abs() < 4e-7 && (f64::from(cos) - c).abs() < 4e-7, "{x}");
        }
    }
}
