//! All files below a folder, read in parallel: which clip each became, or why it became none.

use crate::options::Common;
use crate::usage::UsageError;
use anyhow::{Result, bail};
use mtds_mocap::clip::{ClipSettings, Failure, Take, Takes};
use mtds_mocap::files::{bvh_files_below, read_clip, read_rules};
use mtds_mocap::skeleton::Rules;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Names what is left out, and why.
pub(in crate::verb) fn say_failures(takes: &Takes, common: &Common) {
    for Failure { why, .. } in &takes.failures {
        common.say(format_args!("left out: {}", mtds_data::shown(why)));
    }
}

/// Refuses what is no folder.
pub(in crate::verb) fn check_folder(folder: &Path) -> Result<(), UsageError> {
    if folder.is_dir() {
        return Ok(());
    }
    let problem = format!("expected a folder with BVH files, but `{}` is none", folder.display());
    Err(UsageError::new("DIR", problem, "mtds data gait -o walks makes one"))
}

/// Reads every BVH file below a folder, or those that are `chosen` by their paths below it.
///
/// # Errors
/// A folder that cannot be listed or has no BVH file, or none that can be used.
pub(in crate::verb) fn read_all(
    folder: &Path,
    chosen: Option<&HashSet<String>>,
    settings: &ClipSettings,
) -> Result<Takes> {
    let mut paths = bvh_files_below(folder)?;
    paths.retain(|path| chosen.is_none_or(|files| files.contains(&below(folder, path))));
    if paths.is_empty() {
        bail!(
            "`{}`: expected BVH files below it, found none; `mtds data gait -o walks` makes some",
            folder.display()
        );
    }
    let files: Vec<String> = paths.iter().map(|path| below(folder, path)).collect();
    let ids = ids(&files);
    let read: Vec<_> = paths.par_iter().map(|path| read_clip(path, settings)).collect();
    let (mut takes, mut failures) = (Vec::new(), Vec::new());
    for (place, result) in read.into_iter().enumerate() {
        let file = files[place].clone();
        match result {
            Ok(clip) => {
                takes.push(Take { id: ids[place].clone(), style: style(folder, &paths[place]), file, clip });
            }
            Err(error) => failures.push(Failure { file, why: error.to_string() }),
        }
    }
    match (takes.is_empty(), failures.first()) {
        (true, Some(first)) => {
            bail!("none of {} files can be used; the first: {}", failures.len(), first.why)
        }
        _ => Ok(Takes { takes, failures }),
    }
}

/// The built-in skeleton rules, those of the user before them.
///
/// # Errors
/// A file that cannot be read as rules.
pub(super) fn rules(own: Option<&PathBuf>) -> Result<Rules> {
    let built_in = Rules::built_in();
    Ok(match own {
        Some(path) => built_in.extended_by(read_rules(path)?),
        None => built_in,
    })
}

/// The path of a file below a folder, with `/` on every system.
fn below(folder: &Path, path: &Path) -> String {
    let rest = path.strip_prefix(folder).unwrap_or(path);
    rest.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The name of the folder that a file lies in.
fn style(folder: &Path, path: &Path) -> String {
    let parent = path.parent().unwrap_or(folder);
    // `.` has no name until it is made absolute.
    let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf());
    parent.file_name().map_or_else(|| "motion".into(), |name| name.to_string_lossy().into_owned())
}

/// Names of files without folder and ending where these are distinct, with the folder where not.
fn ids(files: &[String]) -> Vec<String> {
    let stem = |file: &String| file.rsplit_once('.').map_or(file.clone(), |(stem, _)| stem.to_owned());
    let name = |file: &String| stem(file).rsplit('/').next().unwrap_or_default().to_owned();
    let mut counts: HashMap<String, usize> = HashMap::new();
    files.iter().for_each(|file| *counts.entry(name(file)).or_default() += 1);
    files.iter().map(|file| if counts[&name(file)] == 1 { name(file) } else { stem(file) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_where_they_can_be() {
        let files = ["old/a.bvh", "old/b.bvh", "proud/b.bvh"].map(String::from);
        assert_eq!(ids(&files), ["a", "old/b", "proud/b"]);
    }
}
