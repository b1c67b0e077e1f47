//! A chain of NUTS: warm-up fits metric and step size, then draws are kept.
//!
//! ```text
//! |— first —|— window 25 —|—— window 50 ——|———— window 100 … ————|— last —|———————— kept ————————|
//!   step size    step size throughout; metric anew after each window     step size    both fixed
//! ```

use super::metric::{Metric, Window};
use super::trajectory::{Density, Mover, Quality, State};
use super::{Nuts, Observer};
use crate::infer::SmoothTarget;
use crate::random::Random;
use crate::{Error, Result};

/// What one chain gave.
pub(super) struct ChainRun {
    /// Kept draws, one point each.
    pub draws: Vec<Vec<f64>>,
    pub divergences: usize,
    pub cut_short: usize,
    /// Mean over the kept draws.
    pub acceptance: f64,
    pub gradient_evaluations: usize,
    pub nonfinite: usize,
}

/// Warms up and draws, from a start with a finite density.
pub(super) fn run_chain(
    settings: &Nuts,
    (target, observe): (&dyn SmoothTarget, &Observer<'_>),
    start: &[f64],
    mut random: Random,
) -> Result<ChainRun> {
    let mut density = Density::new(target.evaluator(), observe);
    let mut gradient = vec![0.0; start.len()];
    let log_density = density.at(start, &mut gradient).ok_or_else(|| match density.is_stopped {
        true => Error::Stopped,
        false => {
            Error::setting("nuts", "the density at a start is not finite for the sampler; try another start")
        }
    })?;
    let metric = Metric::at(start, |point, slope| density.at(point, slope).is_some());
    let state = State { position: start.to_vec(), gradient, log_density };
    let mut chain = Chain { density, metric, state, step_size: 1.0 };
    chain.warm_up(settings, &mut random)?;
    let mut run = ChainRun {
        draws: Vec::with_capacity(settings.draws),
        divergences: 0,
        cut_short: 0,
        acceptance: 0.0,
        gradient_evaluations: 0,
        nonfinite: 0,
    };
    for _ in 0..settings.draws {
        let quality = chain.advance(settings.max_depth, &mut random)?;
        run.draws.push(chain.state.position.clone());
        run.divergences += usize::from(quality.diverged);
        run.cut_short += usize::from(quality.cut_short);
        run.acceptance += quality.acceptance / settings.draws as f64;
    }
    (run.gradient_evaluations, run.nonfinite) = (chain.density.evaluations, chain.density.nonfinite);
    Ok(run)
}

/// A chain between two draws.
struct Chain<'a> {
    density: Density<'a>,
    metric: Metric,
    state: State,
    step_size: f64,
}

impl Chain<'_> {
    fn warm_up(&mut self, settings: &Nuts, random: &mut Random) -> Result<()> {
        let schedule = Schedule::of(settings.warmup);
        let mut steps = self.first_step_size(settings, random);
        let mut window = Window::new(self.state.position.len());
        for draw in 0..settings.warmup {
            let quality = self.advance(settings.max_depth, random)?;
            self.step_size = steps.update(quality.acceptance);
            if schedule.collects(draw) {
                window.add(&self.state.position, &self.state.gradient);
            }
            if schedule.ends.contains(&(draw + 1)) {
                self.metric = window.metric(&self.metric);
                window = Window::new(self.state.position.len());
                steps = self.first_step_size(settings, random);
            }
        }
        self.step_size = steps.settled();
        Ok(())
    }

    /// The next draw; [`Error::Stopped`] where nobody wants it.
    fn advance(&mut self, max_depth: usize, random: &mut Random) -> Result<Quality> {
        let (metric, step_size) = (&self.metric, self.step_size);
        let mut mover = Mover { density: &mut self.density, metric, step_size };
        let (state, quality) = mover.draw(&self.state, max_depth, random);
        if self.density.is_stopped {
            return Err(Error::Stopped);
        }
        self.state = state;
        Ok(quality)
    }

    /// Doubles or halves the step until a single one is accepted with about the wanted probability.
    fn first_step_size(&mut self, settings: &Nuts, random: &mut Random) -> StepSize {
        let mut mover = Mover { density: &mut self.density, metric: &self.metric, step_size: self.step_size };
        let is_good = |acceptance: f64| acceptance > settings.target_accept;
        let grows = is_good(mover.trial(&self.state, random));
        for _ in 0..MOST_DOUBLINGS {
            mover.step_size *= if grows { 2.0 } else { 0.5 };
            if is_good(mover.trial(&self.state, random)) != grows {
                break;
            }
        }
        self.step_size = mover.step_size;
        StepSize::new(self.step_size, settings.target_accept)
    }
}

/// Doublings of a first step size.
const MOST_DOUBLINGS: usize = 60;

/// Dual averaging of log ε towards a wanted acceptance (Hoffman & Gelman 2014, section 3.2).
struct StepSize {
    wanted: f64,
    /// log ε is drawn towards this.
    centre: f64,
    shortfall: f64,
    log_mean: f64,
    n: f64,
}

impl StepSize {
    fn new(first: f64, wanted: f64) -> Self {
        Self { wanted, centre: (10.0 * first).ln(), shortfall: 0.0, log_mean: first.ln(), n: 0.0 }
    }

    /// The next ε.
    fn update(&mut self, acceptance: f64) -> f64 {
        self.n += 1.0;
        let share = 1.0 / (self.n + 10.0);
        self.shortfall = (1.0 - share) * self.shortfall + share * (self.wanted - acceptance);
        let log_size = self.centre - self.n.sqrt() / 0.05 * self.shortfall;
        let weight = self.n.powf(-0.75);
        self.log_mean = weight * log_size + (1.0 - weight) * self.log_mean;
        log_size.exp()
    }

    /// The averaged ε.
    fn settled(&self) -> f64 {
        self.log_mean.exp()
    }
}

/// When the metric is learned.
#[derive(Debug, PartialEq)]
struct Schedule {
    /// Draws before the first window.
    first: usize,
    /// Draws after which a window ends, rising; none in a warm-up too short for one.
    ends: Vec<usize>,
}

impl Schedule {
    fn of(warmup: usize) -> Self {
        let (first, smallest, last) = match warmup {
            0..20 => return Self { first: warmup, ends: vec![] },
            20..150 => (warmup * 15 / 100, warmup * 75 / 100, warmup / 10),
            _ => (75, 25, 50),
        };
        let (mut ends, mut end, mut length) = (vec![], first, smallest);
        let after = warmup - last;
        while end < after {
            // A window whose successor would not fit takes the rest.
            end = if end + 3 * length > after { after } else { end + length };
            ends.push(end);
            length *= 2;
        }
        Self { first, ends }
    }

    fn collects(&self, draw: usize) -> bool {
        draw >= self.first && self.ends.last().is_some_and(|&last| draw < last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_and_fill_the_warm_up() {
        assert_eq!(Schedule::of(1000), Schedule { first: 75, ends: vec![100, 150, 250, 450, 950] });
        assert_eq!(Schedule::of(100), Schedule { first: 15, ends: vec![90] });
        assert_eq!(Schedule::of(10).ends, Vec::<usize>::new());
        for warmup in 20..2000 {
            let Schedule { first, ends } = Schedule::of(warmup);
            assert!(ends.windows(2).all(|pair| pair[0] < pair[1]) && first < ends[0], "{warmup}");
            assert!(*ends.last().unwrap() <= warmup, "{warmup}");
        }
    }

    /// Acceptance that falls with the step: the average must find the step where it is as wanted.
    #[test]
    fn the_step_size_settles_where_acceptance_is_as_wanted() {
        let mut steps = StepSize::new(0.01, 0.8);
        let mut size: f64 = 0.01;
        for _ in 0..2000 {
            size = steps.update((-size).exp());
        }
        let exact = -0.8_f64.ln();
        assert!((steps.settled() / exact - 1.0).abs() < 0.05, "{} {exact}", steps.settled());
    }
}
