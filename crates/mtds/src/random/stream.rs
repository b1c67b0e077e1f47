//! What a seed's streams of random numbers are for: no two uses share one.
//!
//! A run has one seed; every use of randomness in it has a stream of that seed, so that none changes another, and items that are worked on in
//! parallel have one each. The numbers are written down here and nowhere else.

use rand_chacha::rand_core::SeedableRng;

use super::Random;

/// Declares the uses: `once` have one stream, `each` as many as they say, from a first number on.
macro_rules! streams {
    (
        once { $($(#[$once_doc:meta])* $once:ident = $place:expr;)* }
        each { $($(#[$each_doc:meta])* $each:ident = $first:expr, $count:expr;)* }
    ) => {
        /// One use of randomness.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stream {
            /// An item of something whose seed serves nothing else: a seed that was drawn, or a test's.
            Item(u64),
            $($(#[$once_doc])* $once,)*
            $($(#[$each_doc])* $each(u64),)*
        }

        impl Stream {
            /// The number that the generator takes.
            fn number(self) -> u64 {
                match self {
                    Self::Item(i) => i,
                    $(Self::$once => $place,)*
                    $(Self::$each(i) => {
                        assert!(i < $count, "{} {i} has no stream", stringify!($each));
                        $first + i
                    })*
                }
            }
        }

        /// The numbers that each use of a run's seed may take.
        #[cfg(test)]
        const USES: &[(&str, u64, u64)] = &[
            $((stringify!($once), $place, 1),)*
            $((stringify!($each), $first, $count),)*
        ];
    };
}

/// Streams of a use that has one for each sequence.
const MANY: u64 = 1 << 40;

streams! {
    once {
        /// First parameters of a model.
        Initialise = 0;
        /// First beliefs about codes, or codes of random effects.
        FirstCodes = 1;
        /// First parameters of a recurrent rival.
        Network = 0x6772_7500;
        /// First parameters of a classifier.
        Classifier = 0x636c_6173;
        /// Draws of a trainer: batches, particles, noise.
        Training = MANY;
        /// The same in a second stage of learning.
        Refinement = MANY + 1;
        /// Reduction of the prior over codes of new members.
        Reduction = 6 * MANY;
        /// Codes that are drawn from the prior.
        PriorCodes = 9 * MANY;
        /// Which sequence belongs to which part.
        Split = 0x7370_6c69_7400_0000;
        /// Folds by which it is found how much of a style inputs give away.
        StyleLeak = 0x6c65_616b_0000_0000;
    }
    each {
        /// A model that starts from random effects, by rank, or one of several starts.
        Restart = 2, (1 << 20) - 2;
        /// The code of a member, at the end of learning.
        Member = 2 * MANY, MANY;
        /// A sequence by which the length of the code is chosen.
        Selection = 3 * MANY, MANY;
        /// A sequence by which a fit is judged.
        Judge = 4 * MANY, MANY;
        /// A member that teaches where codes of new ones lie.
        Teacher = 5 * MANY, MANY;
        /// A held-out sequence by which priors over codes are compared.
        HeldOut = 7 * MANY, MANY;
        /// A held-out sequence by which process noise is calibrated.
        Calibration = 8 * MANY, MANY;
        /// The noise of a generated sequence.
        Noise = 10 * MANY, MANY;
        /// A sequence whose residuals are looked at.
        Residuals = 11 * MANY, MANY;
        /// A sequence whose code is inferred.
        Infer = 12 * MANY, MANY;
        /// Draws of an inferred code.
        InferredDraws = 13 * MANY, MANY;
        /// A sequence that is forecast.
        Forecast = 14 * MANY, MANY;
        /// A sequence that is evaluated from rolling origins.
        Evaluate = 15 * MANY, MANY;
        /// A sequence that is asked whether it is odd.
        Anomaly = 16 * MANY, MANY;
        /// Ties and gaps of its surprise.
        Surprise = 17 * MANY, MANY;
        /// A single-task rival at one origin of a sequence.
        Single = 18 * MANY, MANY;
        /// Futures that are drawn from a forecast.
        ForecastDraws = 22 * MANY, MANY;
        /// A held-out sequence by which it is decided how what codes leave over goes on.
        LeftOver = 23 * MANY, MANY;
        /// A tracker of a model.
        Tracker = 21 * MANY, MANY;
        /// A patient whose response is forecast.
        PatientForecast = 19 * MANY, MANY;
        /// A patient whose parameters are recovered.
        PatientRecovery = 20 * MANY, MANY;
        /// Evidence of an experiment's test sequence.
        Evidence = 1 << 48, 1 << 48;
        /// A sequence of an experiment that is shown.
        Illustration = 1 << 56, MANY;
        /// A seed of an experiment: repetition and role.
        Experiment = 0x6468_6f00_0000_0000, MANY;
        /// A walk of the procedural walker.
        Walk = 0x6761_6974_0000_0000, 1 << 32;
        /// Values of an oscillator.
        OscillatorValues = 0x6f73_6301_0000_0000, 1 << 32;
        /// Gaps of an oscillator.
        OscillatorGaps = 0x6f73_6302_0000_0000, 1 << 32;
        /// Values of a patient.
        PatientValues = 0x7064_7801_0000_0000, 1 << 32;
        /// Doses of a patient.
        PatientDoses = 0x7064_7802_0000_0000, 1 << 32;
        /// A series of a stream, by a hash of its name.
        Series = 1 << 63, 1 << 63;
    }
}

impl From<u64> for Stream {
    fn from(item: u64) -> Self {
        Self::Item(item)
    }
}

/// The generator for one use of `seed`.
///
/// Streams of one seed never overlap: giving each sequence or each particle block its own makes a result independent of the order, and so of
/// the number of threads, in which they are worked on. A plain number is [`Stream::Item`].
///
/// # Panics
/// For an item whose number is beyond those that its use has.
#[must_use]
pub fn stream(seed: u64, stream: impl Into<Stream>) -> Random {
    let mut random = Random::seed_from_u64(seed);
    random.set_stream(stream.into().number());
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn stream_0_served_initialisation_and_every_trainer() {
        let first = |of: Stream| stream(4, of).random::<u64>();
        let all = [Stream::Initialise, Stream::FirstCodes, Stream::Training, Stream::Refinement].map(first);
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{all:?}");
        }
    }

    #[test]
    fn no_two_uses_share_a_stream() {
        let mut uses = USES.to_vec();
        uses.sort_by_key(|(_, first, _)| *first);
        for pair in uses.windows(2) {
            let [(a, first, count), (b, next, _)] = pair else { unreachable!("windows of two") };
            assert!(first + count <= *next, "{a} runs into {b}");
        }
        let (_, first, count) = uses.last().unwrap();
        assert!(first.checked_add(count - 1).is_some());
    }

    #[test]
    #[should_panic(expected = "Walk")]
    fn an_item_beyond_its_use_is_a_bug() {
        let _ = stream(1, Stream::Walk(1 << 32));
    }
}
