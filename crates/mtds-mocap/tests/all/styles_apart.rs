//! Codes of walkers in all eight styles, learned as `mtds fit` learns motions: each lies nearest to other walks of its own style.

use mtds::{Control, Fit, Member};
use mtds_mocap::features::{FeatureSettings, Features, family, without_heading};
use mtds_mocap::walker::{Cast, Style};

/// Squared distance from a code to the mean of others.
fn distance(code: &[f64], others: &[&Member]) -> f64 {
    let mean = |d: usize| others.iter().map(|other| other.code_mean[d]).sum::<f64>() / others.len() as f64;
    code.iter().enumerate().map(|(d, z)| (z - mean(d)).powi(2)).sum()
}

#[test]
fn codes_tell_all_eight_styles_apart() {
    let cast = Cast { n_per_style: 3, n_frames: 150, ..Cast::default() }.walks(1).unwrap();
    let sequences = cast.iter().map(|one| {
        let features = Features::of_track(&one.walk.track, &FeatureSettings::default()).unwrap();
        features.to_sequence(&one.id, one.style.name()).unwrap()
    });
    let motions = without_heading(&family(sequences.collect()).unwrap()).unwrap();
    // Nothing is asked for but fewer steps: settings are those of every motion.
    let mut fit = Fit { seed: 1, ..Fit::default() };
    fit.wishes.effort = Some(0.15);
    let model = fit.run(&motions, &mut |_| Control::Continue).unwrap().expect("nobody stops it");
    let of_style = |style: &str, but: usize| -> Vec<&Member> {
        let members = model.members.iter().enumerate();
        members.filter(|(i, m)| *i != but && m.label.as_deref() == Some(style)).map(|(_, m)| m).collect()
    };
    assert_eq!(model.members.len(), 24);
    for (i, member) in model.members.iter().enumerate() {
        let far = |style: &Style| distance(&member.code_mean, &of_style(style.name(), i));
        let nearest = Style::ALL.iter().min_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
        assert_eq!(member.label.as_deref(), Some(nearest.name()), "{}", member.id);
    }
}
