//! Chooses the instruction set at run time, so that one binary is fast everywhere.

use super::pack::{Arch, Fused, Separate, Wide};

/// A computation that can be compiled for several instruction sets.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// The computation; must be `#[inline(always)]`, and so must everything hot that it calls.
    fn run<A: Arch>(self) -> Self::Output;
}

/// The instruction sets there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Whatever the target's baseline is, without fused multiply-add.
    Baseline,
    /// Fused multiply-add on 256-bit registers (x86-64), or as part of the baseline (aarch64).
    Fused,
    /// The same on 512-bit registers (x86-64), of which there are twice as many.
    Wide,
}

impl Level {
    /// All of them, for twins.
    #[cfg(test)]
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Fused, Self::Wide];

    /// The best this machine can do.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let is_fused = has!("avx2") && has!("fma");
            if is_fused && has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw") {
                return Self::Wide;
            }
            if is_fused {
                return Self::Fused;
            }
        }
        if cfg!(target_arch = "aarch64") { Self::Fused } else { Self::Baseline }
    }
}

/// Runs a kernel with the best instruction set of this machine.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_at(Level::detect(), kernel)
}

/// Runs a kernel at a given level; a level above [`Level::detect`] falls back to the baseline.
#[inline]
pub fn dispatch_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match level {
        // SAFETY: `detect` has just found the features that `wide` needs.
        Level::Wide if Level::detect() >= Level::Wide => return unsafe { wide(kernel) },
        // SAFETY: likewise for `fused`.
        Level::Fused if Level::detect() >= Level::Fused => return unsafe { fused(kernel) },
        _ => {}
    }
    #[cfg(not(target_arch = "x86_64"))]
    if level >= Level::Fused && Level::detect() >= Level::Fused {
        return kernel.run::<Fused>();
    }
    kernel.run::<Separate>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn wide<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Wide>()
}

/// Work on `W` that is compiled as a function of its own; see [`Scalar::outline`](super::Scalar::outline).
///
/// A trait, because a function that is handed over as a value is called through a shim without the instructions of the level.
pub trait Outlined<W> {
    /// What it returns.
    type Output;
    /// The work; must be `#[inline(always)]`, and so must everything hot that it calls.
    fn run(with: W) -> Self::Output;
}

/// Does the work in a function of its own, compiled for fused instructions.
///
/// # Panics
/// If this machine lacks them.
#[inline(always)]
pub(super) fn outline_fused<K: Outlined<W>, W>(with: W) -> K::Output {
    assert!(Level::detect() >= Level::Fused, "fused packs on a machine without fused instructions");
    // SAFETY: they have just been detected.
    #[cfg(target_arch = "x86_64")]
    return unsafe { outlined_fused::<K, W>(with) };
    #[cfg(not(target_arch = "x86_64"))]
    outline_baseline::<K, W>(with)
}

/// Does the work in a function of its own, compiled for wide registers.
///
/// # Panics
/// If this machine lacks them.
#[inline(always)]
pub(super) fn outline_wide<K: Outlined<W>, W>(with: W) -> K::Output {
    assert!(Level::detect() >= Level::Wide, "wide packs on a machine without wide registers");
    // SAFETY: they have just been detected.
    #[cfg(target_arch = "x86_64")]
    return unsafe { outlined_wide::<K, W>(with) };
    #[cfg(not(target_arch = "x86_64"))]
    outline_baseline::<K, W>(with)
}

/// Does the work in a function of its own, compiled for the baseline.
#[inline(never)]
pub(super) fn outline_baseline<K: Outlined<W>, W>(with: W) -> K::Output {
    K::run(with)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn outlined_fused<K: Outlined<W>, W>(with: W) -> K::Output {
    K::run(with)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn outlined_wide<K: Outlined<W>, W>(with: W) -> K::Output {
    K::run(with)
}
