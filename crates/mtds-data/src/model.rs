//! Models on disk: [`mtds::store`] for the bytes, [`crate::directory`] for the files, and the file by which a fit is replayed.

use std::path::Path;

use mtds::custom::Kinds;
use mtds::{Model, store};

use crate::directory::{read_directory, write_directory};
use crate::fit_file::{FIT_FILE, FitFile};
use crate::{Error, Result};

/// Writes a model as the directory `path`, whole or not at all; one that is already there is replaced.
///
/// A model that was learned by a fit gets its settings as [`FIT_FILE`], too.
///
/// # Errors
/// [`Error::Model`] for a model that could not be read back, and those of
/// [`write_directory`]. After any of them the destination is as it was.
pub fn save_model(path: &Path, model: &Model) -> Result<()> {
    let mut files = model.to_files().map_err(Error::model(path))?;
    if let Some(settings) = FitFile::of(model) {
        files.push((FIT_FILE.to_owned(), settings.to_text()?.into_bytes()));
    }
    write_directory(path, &files)
}

/// Reads the model in the directory `path`. The model card is not read, and need not be there.
///
/// # Errors
/// [`Error::Model`] names the file inside the directory and what is wrong with it; those of
/// [`read_directory`].
pub fn load_model(path: &Path) -> Result<Model> {
    load_model_of(&Kinds::built_in(), path)
}

/// [`load_model`] where other kinds of base model may be found than those of `mtds`.
///
/// # Errors
/// As [`load_model`].
pub fn load_model_of(kinds: &Kinds, path: &Path) -> Result<Model> {
    let there = store::OPTIONAL_FILE_NAMES.into_iter().filter(|name| path.join(name).exists());
    let names: Vec<&str> = store::REQUIRED_FILE_NAMES.into_iter().chain(there).collect();
    let files = read_directory(path, &names)?;
    Model::from_files_of(kinds, &files).map_err(Error::model(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use mtds::parts::Lds;
    use mtds::store::{CARD_FILE, CONFIG_FILE, WEIGHTS_FILE};
    use mtds::{Architecture, DataColumns, Member, Provenance, Scaling, System, random};

    fn bundle(seed: u64, ids: &[&str]) -> Model {
        let spec = Architecture::new(Lds::new(2, 1, 0), 2);
        let mut random = random::stream(seed, 0);
        let member = |id: &&str| Member {
            id: (*id).to_owned(),
            label: None,
            code_mean: vec![0.5, -0.25],
            code_std_dev: vec![0.125, 0.25],
        };
        let provenance = Provenance {
            seed,
            fingerprint: "0123456789abcdef".into(),
            program_version: "0.1.0".into(),
            notes: r#"{"steps": 10}"#.parse().unwrap(),
        };
        let system = System::initialise(spec, Scaling::identity(1, 0), &mut random).unwrap();
        let columns = DataColumns::named(vec!["y".into()], vec![]);
        Model { members: ids.iter().map(member).collect(), ..Model::by_hand(system, columns, provenance) }
    }

    #[track_caller]
    fn assert_same(found: &Model, wanted: &Model) {
        assert_eq!(found.system.parameters(), wanted.system.parameters());
        assert_eq!(found.provenance, wanted.provenance);
        assert_eq!(found.members, wanted.members);
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let sandbox = tempfile::tempdir().unwrap();
        let path = sandbox.path().join("model");
        save_model(&path, &bundle(1, &["a", "b"])).unwrap();
        assert_same(&load_model(&path).unwrap(), &bundle(1, &["a", "b"]));
        let mut names: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [CARD_FILE, CONFIG_FILE, WEIGHTS_FILE]);
    }

    #[test]
    fn a_network_is_loaded_where_there_is_one() {
        let sandbox = tempfile::tempdir().unwrap();
        let path = sandbox.path().join("model");
        let mut bundle = bundle(1, &["a"]);
        save_model(&path, &bundle).unwrap();
        assert_eq!(load_model(&path).unwrap().network, None);
        let architecture = mtds::parts::InferenceNetwork::for_model(&bundle.system, 2).unwrap();
        let weights = vec![0.25; architecture.n_parameters()];
        bundle.network = Some(mtds::parts::LearnedNetwork::new(architecture, weights).unwrap());
        save_model(&path, &bundle).unwrap();
        let found = load_model(&path).unwrap();
        assert_eq!(found.network, bundle.network);
        assert_same(&found, &bundle);
        let file = path.join(store::NETWORK_FILE);
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let text = load_model(&path).unwrap_err().to_string();
        assert!(text.contains(store::NETWORK_FILE) && text.contains("cut short"), "{text}");
    }

    #[test]
    fn an_existing_model_is_replaced_with_all_its_files() {
        let sandbox = tempfile::tempdir().unwrap();
        let path = sandbox.path().join("model");
        save_model(&path, &bundle(1, &["a", "b"])).unwrap();
        fs::write(path.join("checkpoint"), "old").unwrap();
        save_model(&path, &bundle(2, &["c"])).unwrap();
        assert_same(&load_model(&path).unwrap(), &bundle(2, &["c"]));
        assert!(!path.join("checkpoint").exists());
    }

    #[test]
    fn a_bundle_that_is_refused_leaves_the_old_model() {
        let sandbox = tempfile::tempdir().unwrap();
        let path = sandbox.path().join("model");
        save_model(&path, &bundle(1, &["a"])).unwrap();
        let error = save_model(&path, &bundle(2, &["twin", "twin"])).unwrap_err();
        assert!(matches!(error, Error::Model { .. }), "{error}");
        assert!(error.to_string().contains("model: config.json: two members are called `twin`"), "{error}");
        assert_same(&load_model(&path).unwrap(), &bundle(1, &["a"]));
    }

    #[test]
    fn a_missing_file_is_named() {
        for name in [CONFIG_FILE, WEIGHTS_FILE] {
            let sandbox = tempfile::tempdir().unwrap();
            let path = sandbox.path().join("model");
            save_model(&path, &bundle(1, &[])).unwrap();
            fs::remove_file(path.join(name)).unwrap();
            let error = load_model(&path).unwrap_err();
            assert!(matches!(&error, Error::MissingFile { name: missing, .. } if missing == name), "{error}");
            assert!(error.to_string().contains(&format!("model: has no `{name}`")), "{error}");
        }
    }

    #[test]
    fn the_card_may_be_gone() {
        let sandbox = tempfile::tempdir().unwrap();
        let path = sandbox.path().join("model");
        save_model(&path, &bundle(1, &[])).unwrap();
        fs::remove_file(path.join(CARD_FILE)).unwrap();
        assert_same(&load_model(&path).unwrap(), &bundle(1, &[]));
    }

    #[test]
    fn a_truncated_file_is_named() {
        for name in [CONFIG_FILE, WEIGHTS_FILE] {
            let sandbox = tempfile::tempdir().unwrap();
            let path = sandbox.path().join("model");
            save_model(&path, &bundle(1, &["a"])).unwrap();
            let bytes = fs::read(path.join(name)).unwrap();
            fs::write(path.join(name), &bytes[..bytes.len() / 2]).unwrap();
            let error = load_model(&path).unwrap_err();
            assert!(matches!(&error, Error::Model { path: named, .. } if *named == path), "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("model: {name}: not ")) && text.contains("cut short"), "{text}");
        }
    }

    #[test]
    fn there_must_be_a_directory() {
        let sandbox = tempfile::tempdir().unwrap();
        let error = load_model(&sandbox.path().join("absent")).unwrap_err();
        assert!(matches!(error, Error::NotADirectory { found: "nothing", .. }), "{error}");
    }
}
