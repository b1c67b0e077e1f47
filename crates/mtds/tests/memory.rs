//! Memory of learning: it grows with particles × sequences, never with particles × sequences × time.
//!
//! ```text
//! scores, weights     M × N × 4 bytes, and half a byte of sums
//! the family          N × T
//! rollouts            of one pack of 16 particles per thread:  16 T (d_state + d_obs) × 4 bytes per group
//! ```

#![allow(unsafe_code)] // counting allocations needs a global allocator

#[path = "all/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{LOG_NOISE, draw_member, impulse, model, on_threads, own_inputs, spec};
use mtds::parts::{Carriers, MonteCarlo, MonteCarloObjective, ShiftedSobol};
use mtds::random::stream;
use mtds::{Family, Sequence};

/// Counts the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::SeqCst) + layout.size();
        PEAK.fetch_max(now, Ordering::SeqCst);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::SeqCst);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sizes of one gradient: particles M, sequences N, steps T.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    particles: usize,
    sequences: usize,
    steps: usize,
}

impl Sizes {
    /// Bytes of M × N × T numbers in single precision, which must never exist.
    fn product(self) -> f64 {
        4.0 * (self.particles * self.sequences * self.steps) as f64
    }

    /// Bytes of M × N numbers.
    fn scores(self) -> f64 {
        4.0 * (self.particles * self.sequences) as f64
    }
}

/// Who has inputs.
#[derive(Clone, Copy, Debug)]
enum Inputs {
    Common,
    Own,
}

fn objective(sizes: Sizes, inputs: Inputs, carriers: Carriers) -> MonteCarloObjective {
    let model = model(spec(4, 1, 2), 1.0, LOG_NOISE, 42);
    let common = impulse(sizes.steps);
    let member = |i: usize| {
        let mut random = stream(90, i as u64);
        let own = own_inputs(sizes.steps, &mut random);
        let (_, outputs) = draw_member(&model, &own, sizes.steps, &mut random);
        let sequence = Sequence::new(format!("s{i}"), outputs).unwrap();
        match inputs {
            Inputs::Common => sequence,
            Inputs::Own => sequence.with_inputs(own).unwrap(),
        }
    };
    let family = Family::new((0..sizes.sequences).map(member).collect()).unwrap();
    let family = match inputs {
        Inputs::Common => family.with_common_inputs(common).unwrap(),
        Inputs::Own => family,
    };
    MonteCarloObjective::new(model.clone(), &family, None, MonteCarlo { carriers, ..Default::default() })
        .unwrap()
}

/// Peak bytes of one gradient beyond what was in use before it, on one thread.
fn peak(sizes: Sizes, inputs: Inputs, carriers: Carriers) -> f64 {
    on_threads(1, || {
        let mut objective = objective(sizes, inputs, carriers);
        let codes = ShiftedSobol::new(2).unwrap().shifted(sizes.particles, &[0.3, 0.6]);
        let parameters = objective.model().parameters().to_vec();
        let mut gradient = vec![0.0; parameters.len()];
        let uniforms = vec![0.5; 5 * sizes.sequences];
        let before = IN_USE.load(Ordering::SeqCst);
        PEAK.store(before, Ordering::SeqCst);
        let step = objective.gradient_at(&parameters, &codes, &uniforms, &mut gradient);
        assert!(step.log_evidence.iter().all(|x| x.is_finite()));
        (PEAK.load(Ordering::SeqCst) - before) as f64
    })
}

/// One test, because the counters are shared by all threads of the process.
#[test]
fn a_gradient_never_holds_particles_times_sequences_times_steps() {
    let small = Sizes { particles: 768, sequences: 16, steps: 100 };
    for inputs in [Inputs::Common, Inputs::Own] {
        for carriers in [Carriers::Weighted, Carriers::Resampled(5)] {
            check(small, inputs, carriers);
        }
    }
}

fn check(small: Sizes, inputs: Inputs, carriers: Carriers) {
    let longer = Sizes { steps: 2 * small.steps, ..small };
    let more = Sizes { particles: 2 * small.particles, ..small };
    let many = Sizes { sequences: 2 * small.sequences, ..small };
    let both = Sizes { steps: longer.steps, ..more };
    let [base, with_steps, with_particles, with_sequences, with_both] =
        [small, longer, more, many, both].map(|sizes| peak(sizes, inputs, carriers));
    let label = format!("{inputs:?} inputs, {carriers:?}");
    println!(
        "{label}: peak {base:.2e}, T ×2 {with_steps:.2e}, M ×2 {with_particles:.2e}, N ×2 \
         {with_sequences:.2e}, M T ×2 {with_both:.2e}; M N T {:.2e}, M N {:.2e}",
        small.product(),
        small.scores()
    );
    let found = [base, with_steps, with_particles, with_sequences, with_both];
    for (sizes, peak) in [small, longer, more, many, both].into_iter().zip(found) {
        assert!(
            peak < law(sizes, inputs),
            "{label}, {sizes:?}: {peak} bytes, allowed {}",
            law(sizes, inputs)
        );
        assert!(peak < 0.25 * sizes.product(), "{label}, {sizes:?}: {peak} bytes");
    }
    // What grows with particles × time, all else taken away: nothing, but for the rounding of buffers and the
    // few kilobytes that a thread of the pool before may free meanwhile. One f32 for each would be 100 %.
    let cross = (with_both - with_particles) - (with_steps - base);
    let one_each = 4.0 * (small.particles * small.steps) as f64;
    assert!(cross.abs() < 0.05 * one_each, "{label}: {cross} bytes grow with M T");
}

/// The most that one gradient may hold: two and a half tables of scores, one pack's rollout per group (512
/// bytes per step: 16 lanes of state, output, input and their gradients), and 200 kB of buffers of fixed size.
fn law(sizes: Sizes, inputs: Inputs) -> f64 {
    let groups = match inputs {
        Inputs::Common => 1,
        Inputs::Own => sizes.sequences,
    };
    2.5 * sizes.scores() + (512 * groups * sizes.steps) as f64 + 2e5
}
