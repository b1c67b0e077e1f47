//! The clips of the experiments, with their mirror images: from BVH files, or of the built-in walkers.

use crate::options::Common;
use crate::verb::mocap::{check_folder, files_of, read_all, read_column, say_failures, usual_manifest};
use anyhow::{Result, bail};
use mtds::{Family, Sequence};
use mtds_experiments::mocap::{Clip, Material, Part};
use mtds_mocap::bvh;
use mtds_mocap::clip::{Clip as MotionClip, ClipSettings, Take};
use mtds_mocap::features::{Features, family, without_heading};
use mtds_mocap::walker::Cast;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The seed of the walkers: that of `mtds data gait` when none is said, so that seeds of learning share the data.
const WALKERS: u64 = 1;

/// A clip before its features are columns of a family.
struct Plain {
    id: String,
    style: String,
    part: Part,
    features: Features,
    mirrored: Features,
}

/// Clips of the files below a folder; of `datasets` alone, by the column `dataset` of its manifest, where some are named.
///
/// # Errors
/// A folder without usable files; a dataset that the manifest does not have.
pub fn of_folder(folder: &Path, datasets: &[String], common: &Common) -> Result<Material> {
    check_folder(folder)?;
    let manifest = usual_manifest(folder);
    let splits = manifest.as_deref().map(|path| read_column(path, "split")).transpose()?.unwrap_or_default();
    let chosen = files_of(manifest.as_deref(), datasets)?;
    let settings = ClipSettings::default();
    let takes = read_all(folder, chosen.as_ref(), &settings)?;
    say_failures(&takes, common);
    let asked = &takes.takes;
    // Where no table says what is for testing, it is the last clip of every style that has several.
    let lasts = last_of_styles(asked.iter().map(|take| (take.style.as_str(), take.id.as_str())));
    let part = |take: &Take| match splits.get(&take.file) {
        Some(split) if split == "test" => Part::Test,
        Some(_) => Part::Train,
        None if splits.is_empty() && lasts.contains(take.id.as_str()) => Part::Test,
        None => Part::Train,
    };
    let plain = asked.par_iter().map(|take| {
        let mirrored = take.clip.mirrored(&settings)?;
        let (id, style) = (take.id.clone(), take.style.clone());
        Ok(Plain { id, style, part: part(take), features: take.clip.features.clone(), mirrored })
    });
    let plain = plain.collect::<Result<Vec<_>>>()?;
    let which = if datasets.is_empty() { String::new() } else { format!(" of {}", datasets.join(", ")) };
    material(format!("{} recorded clips{which}", plain.len()), &plain)
}

/// Clips of the built-in walkers, as `mtds data gait` writes them.
///
/// # Errors
/// None: the walkers are built in.
pub fn of_walkers() -> Result<Material> {
    let walks = Cast::default().walks(WALKERS)?;
    let lasts = last_of_styles(walks.iter().map(|walk| (walk.style.name(), walk.id.as_str())));
    let settings = ClipSettings::default();
    let plain = walks.par_iter().map(|walk| {
        let clip = MotionClip::of_bytes(&bvh::write(&walk.walk.to_bvh()?), &settings)?;
        let part = if lasts.contains(walk.id.as_str()) { Part::Test } else { Part::Train };
        let (id, style) = (walk.id.clone(), walk.style.name().to_owned());
        Ok(Plain { id, style, part, mirrored: clip.mirrored(&settings)?, features: clip.features })
    });
    let plain = plain.collect::<Result<Vec<_>>>()?;
    material(format!("{} walks of the built-in walkers", plain.len()), &plain)
}

/// The last clip of every style that has several.
fn last_of_styles<'a>(clips: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeSet<&'a str> {
    let mut of_styles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    clips.for_each(|(style, id)| of_styles.entry(style).or_default().push(id));
    of_styles.into_values().filter(|ids| ids.len() > 1).filter_map(|ids| ids.last().copied()).collect()
}

/// The clips with inputs that do not say where north is.
fn material(source: String, plain: &[Plain]) -> Result<Material> {
    if plain.is_empty() {
        bail!("expected clips, found none");
    }
    let free = |of: fn(&Plain) -> &Features| -> Result<Family> {
        let sequences = plain.iter().map(|clip| of(clip).to_sequence(&clip.id, &clip.style));
        Ok(without_heading(&family(sequences.collect::<Result<_, _>>()?)?)?)
    };
    let (own, mirrored) = (free(|clip| &clip.features)?, free(|clip| &clip.mirrored)?);
    let bare = |family: &Family, i: usize| -> Result<Sequence> {
        let from = family.sequence(i);
        let bare = Sequence::new(from.id(), from.outputs().clone())?;
        Ok(match family.inputs_of(i) {
            Some(inputs) => bare.with_inputs(inputs.clone())?,
            None => bare,
        })
    };
    let clips = plain.iter().enumerate().map(|(i, clip)| {
        let (id, style, part) = (clip.id.clone(), clip.style.clone(), clip.part);
        Ok(Clip { id, style, part, plain: bare(&own, i)?, mirrored: bare(&mirrored, i)? })
    });
    let columns = [own.output_names().to_vec(), own.input_names().to_vec()];
    Ok(Material::new(source, clips.collect::<Result<_>>()?, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_is_for_the_test() {
        let clips = [("old", "a"), ("proud", "b"), ("old", "c"), ("shy", "d"), ("proud", "e"), ("old", "f")];
        assert_eq!(last_of_styles(clips.into_iter()), BTreeSet::from(["e", "f"]));
    }

    #[test]
    fn walkers_come_in_eight_styles_without_heading() {
        let material = of_walkers().expect("built in");
        assert_eq!((material.clips().len(), material.styles().len(), material.d_obs()), (32, 8, 64));
        assert_eq!(material.clips().iter().filter(|clip| clip.part == Part::Test).count(), 8);
        let inputs = material.clips()[0].plain.inputs().expect("inputs").width();
        assert_eq!(inputs, 20, "the 12 inputs that say where north is are left out");
        assert!(material.phase().is_some());
    }
}
