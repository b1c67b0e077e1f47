//! A model of walks that is learned in seconds: two walkers of every style, five seconds each.

use std::sync::OnceLock;

use mtds::parts::RemainderRule;
use mtds::{Control, Fit, Model};
use mtds_mocap::bvh::write;
use mtds_mocap::features::{FeatureSettings, Features, family, without_heading};
use mtds_mocap::walker::{Cast, Style, Walk, Walker};

/// The model; learned once for all tests.
pub fn walkers() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let cast = Cast { n_per_style: 2, n_frames: 150, ..Cast::default() }.walks(1).unwrap();
        let sequences = cast.iter().map(|one| {
            let features = Features::of_track(&one.walk.track, &FeatureSettings::default()).unwrap();
            features.to_sequence(&one.id, one.style.name()).unwrap()
        });
        let motions = without_heading(&family(sequences.collect()).unwrap()).unwrap();
        let mut fit = Fit { seed: 1, ..Fit::default() };
        fit.wishes.refine_steps = Some(800);
        fit.wishes.front = Some(32);
        fit.wishes.state = Some(16);
        fit.wishes.code = Some(3);
        fit.wishes.remainder = Some(RemainderRule::Never);
        fit.wishes.validation = Some(0.0);
        fit.run(&motions, &mut |_| Control::Continue).unwrap().expect("nobody stops it")
    })
}

/// A walk of somebody whom the model has not met.
pub fn walk(style: Style, n_frames: usize, seed: u64) -> Walk {
    Walker::new(style.parameters()).walk(n_frames, &mut mtds::random::stream(seed, 0)).unwrap()
}

/// The same as a file.
pub fn bvh(style: Style, n_frames: usize, seed: u64) -> Vec<u8> {
    write(&walk(style, n_frames, seed).to_bvh().unwrap())
}
