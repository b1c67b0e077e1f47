//! Fused multiply-add of whole packs in 512-bit registers.
//!
//! Written out, because the compiler, left to itself, cuts tiles of 7, 8 and 13 to 16 rows across their lanes, which makes them
//! seventy times slower. Everything else about a pack vectorises well as loops over lanes.

use std::any::TypeId;
use std::arch::x86_64::{__m512, __m512d, _mm512_fmadd_pd, _mm512_fmadd_ps};
use std::mem::transmute_copy;

use super::pack::LANES;
use super::scalar::Real;

/// `a · b + c` in every lane.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
pub(super) unsafe fn mul_add<R: Real>(a: [R; LANES], b: [R; LANES], c: [R; LANES]) -> [R; LANES] {
    let mut out = c;
    if TypeId::of::<R>() == TypeId::of::<f32>() {
        // SAFETY: R is f32, and sixteen of them are as many bytes as the register has.
        unsafe {
            let [a, b, c]: [__m512; 3] = [transmute_copy(&a), transmute_copy(&b), transmute_copy(&c)];
            out = transmute_copy::<__m512, _>(&_mm512_fmadd_ps(a, b, c));
        }
    } else if TypeId::of::<R>() == TypeId::of::<f64>() {
        // SAFETY: R is f64, and sixteen of them are as many bytes as two registers have.
        unsafe {
            let [a, b, c]: [[__m512d; 2]; 3] = [transmute_copy(&a), transmute_copy(&b), transmute_copy(&c)];
            let halves = [_mm512_fmadd_pd(a[0], b[0], c[0]), _mm512_fmadd_pd(a[1], b[1], c[1])];
            out = transmute_copy::<[__m512d; 2], _>(&halves);
        }
    } else {
        for i in 0..LANES {
            out[i] = a[i].fused_mul_add(b[i], c[i]);
        }
    }
    out
}
