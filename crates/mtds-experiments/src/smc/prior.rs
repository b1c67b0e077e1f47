//! Even draws of the prior: scrambled Sobol points of the unit cube under a random shift.

use mtds::random::Random;
use rand::RngExt;

/// `n` points, at most 65 536; every one of them is uniform, together they are spread evenly.
pub(super) fn sobol_points<const D: usize>(n: usize, random: &mut Random) -> Vec<[f64; D]> {
    let scramble: u32 = random.random();
    // The generator has 24 bits; the shift fills the rest.
    let shift: [f64; D] = std::array::from_fn(|_| random.random());
    let coordinate = |m: usize, d: usize| {
        let u = f64::from(sobol_burley::sample(m as u32, d as u32, scramble)) + shift[d];
        u - u.floor()
    };
    (0..n).map(|m| std::array::from_fn(|d| coordinate(m, d))).collect()
}
