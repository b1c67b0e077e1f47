//! Files for clips: the ending of the name says what goes in.

use crate::usage::Refusal;
use std::path::Path;

/// What follows the last dot of a name, in small letters.
pub(super) fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Refuses a file with none of these endings, of which there are at least two.
pub(super) fn clip_file(
    endings: &'static [&'static str],
) -> impl Fn(&Path) -> Result<(), Refusal> + Clone + Send + Sync {
    move |path| match endings.contains(&ending(path).as_str()) {
        true => Ok(()),
        false => {
            let named: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
            let (last, others) = named.split_last().expect("some endings");
            let problem = format!("expected {} or {last}, found `{}`", others.join(", "), path.display());
            Err((problem, "clip.bvh".into()))
        }
    }
}
