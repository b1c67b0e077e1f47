//! Tests of writing whole or not at all: what is replaced, what is refused, and that nothing is left over.

use super::*;

const FILES: [(&str, &[u8]); 2] = [(MODEL_FILE, b"{}"), ("model.safetensors", &[0, 159, 255])];

fn sandbox() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(path: &Path) -> Vec<String> {
    entries(path).unwrap()
}

#[test]
fn what_is_written_is_read() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    write_directory(&model, &FILES).unwrap();
    let read = read_directory(&model, &["model.safetensors", MODEL_FILE]).unwrap();
    assert_eq!(read[0], ("model.safetensors".to_string(), vec![0, 159, 255]));
    assert_eq!(read[1], (MODEL_FILE.to_string(), b"{}".to_vec()));
    assert_eq!(names(sandbox.path()), ["model"], "the working directory is gone");
}

#[test]
fn a_model_is_replaced_whole() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    write_directory(&model, &[(MODEL_FILE, "old"), ("checkpoint.json", "old")]).unwrap();
    write_directory(&model, &FILES).unwrap();
    assert_eq!(names(&model), [MODEL_FILE, "model.safetensors"]);
    assert_eq!(fs::read(model.join(MODEL_FILE)).unwrap(), b"{}");
    assert_eq!(names(sandbox.path()), ["model"]);
}

#[test]
fn an_empty_directory_may_be_replaced() {
    let sandbox = sandbox();
    write_directory(sandbox.path(), &FILES).unwrap();
    assert_eq!(names(sandbox.path()), [MODEL_FILE, "model.safetensors"]);
}

#[test]
fn what_is_no_model_stays() {
    let sandbox = sandbox();
    let thesis = sandbox.path().join("thesis");
    fs::create_dir(&thesis).unwrap();
    fs::write(thesis.join("chapter.tex"), "words").unwrap();
    let error = write_directory(&thesis, &FILES).unwrap_err();
    assert!(matches!(error, Error::NotAModel { .. }));
    assert!(error.to_string().contains("thesis: will not be replaced, it has no config.json"), "{error}");

    fs::write(thesis.join(MODEL_FILE), "{}").unwrap();
    fs::create_dir(thesis.join("figures")).unwrap();
    let error = write_directory(&thesis, &FILES).unwrap_err();
    assert!(error.to_string().contains("holds `figures`"), "{error}");
    assert_eq!(names(&thesis), ["chapter.tex", MODEL_FILE, "figures"]);
    assert_eq!(names(sandbox.path()), ["thesis"]);
}

#[test]
fn a_file_in_the_way_stays() {
    let sandbox = sandbox();
    let file = sandbox.path().join("notes");
    fs::write(&file, "words").unwrap();
    let error = write_directory(&file, &FILES).unwrap_err();
    assert!(matches!(error, Error::NotADirectory { found: "a file", .. }), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"words");
    assert!(matches!(
        read_directory(&file, &[MODEL_FILE]),
        Err(Error::NotADirectory { found: "a file", .. })
    ));
}

#[test]
fn there_must_be_somewhere_to_write() {
    let sandbox = sandbox();
    let file = sandbox.path().join("notes");
    fs::write(&file, "words").unwrap();
    for parent in [file, sandbox.path().join("absent")] {
        let error = write_directory(&parent.join("model"), &FILES).unwrap_err();
        assert!(matches!(&error, Error::NoParent { path } if *path == parent), "{error}");
        let error = write_file_atomic(&parent.join("table.csv"), b"x").unwrap_err();
        assert!(matches!(&error, Error::NoParent { path } if *path == parent), "{error}");
    }
    assert!(write_directory(Path::new("/"), &FILES).is_err());
    assert!(write_directory(Path::new(""), &FILES).is_err());
    assert!(write_file_atomic(Path::new(""), b"x").is_err());
}

#[test]
fn file_names_stay_inside() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    for name in ["", ".", "..", "../escape", "sub/file", "/absolute", "trailing/"] {
        assert!(matches!(write_directory(&model, &[(name, "x")]), Err(Error::FileName { .. })), "{name}");
        assert!(matches!(read_directory(sandbox.path(), &[name]), Err(Error::FileName { .. })), "{name}");
    }
    let twice = [(MODEL_FILE, "a"), (MODEL_FILE, "b")];
    assert!(matches!(write_directory(&model, &twice), Err(Error::FileName { .. })));
    assert!(names(sandbox.path()).is_empty());
}

/// A name too long for the file system fails in the middle of writing, after the first file.
#[test]
fn a_failure_halfway_leaves_the_old_model() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    write_directory(&model, &FILES).unwrap();
    let long = "x".repeat(4_000);
    let error = write_directory(&model, &[(MODEL_FILE, "new"), (&long, "new")]).unwrap_err();
    assert!(matches!(error, Error::Io { action: "create", .. }), "{error}");
    assert_eq!(fs::read(model.join(MODEL_FILE)).unwrap(), b"{}");
    assert_eq!(names(sandbox.path()), ["model"]);
}

#[test]
fn a_failed_second_move_puts_the_old_model_back() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    write_directory(&model, &FILES).unwrap();
    let work = working_directory(&model).unwrap();
    let absent = work.path().join("absent");
    let error = replace(&model, &absent, work).unwrap_err();
    assert!(matches!(error, Error::Io { action: "move the new directory to", .. }), "{error}");
    assert_eq!(names(&model), [MODEL_FILE, "model.safetensors"]);
    assert_eq!(names(sandbox.path()), ["model"]);
}

#[test]
fn a_missing_file_is_named() {
    let sandbox = sandbox();
    let error = read_directory(sandbox.path(), &[MODEL_FILE]).unwrap_err().to_string();
    assert!(error.ends_with("has no `config.json`; it holds: nothing"), "{error}");
    fs::write(sandbox.path().join("b.csv"), "").unwrap();
    fs::write(sandbox.path().join("a.csv"), "").unwrap();
    let error = read_directory(sandbox.path(), &["a.csv", MODEL_FILE]).unwrap_err().to_string();
    assert!(error.ends_with("has no `config.json`; it holds: a.csv, b.csv"), "{error}");
    let absent = read_directory(&sandbox.path().join("absent"), &[]).unwrap_err();
    assert!(matches!(absent, Error::NotADirectory { found: "nothing", .. }), "{absent}");
    fs::create_dir(sandbox.path().join(MODEL_FILE)).unwrap();
    let error = read_directory(sandbox.path(), &[MODEL_FILE]).unwrap_err();
    assert!(error.to_string().contains("config.json: expected a file"), "{error}");
}

#[test]
fn a_file_is_replaced_whole() {
    let sandbox = sandbox();
    let table = sandbox.path().join("table.csv");
    write_file_atomic(&table, b"first, and longer").unwrap();
    write_file_atomic(&table, b"second").unwrap();
    assert_eq!(fs::read(&table).unwrap(), b"second");
    assert_eq!(names(sandbox.path()), ["table.csv"]);
    let error = write_file_atomic(sandbox.path(), b"x").unwrap_err();
    assert!(matches!(error, Error::NotAFile { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn links_stay_links() {
    let sandbox = sandbox();
    let (model, link) = (sandbox.path().join("model"), sandbox.path().join("latest"));
    write_directory(&model, &[(MODEL_FILE, "old")]).unwrap();
    std::os::unix::fs::symlink(&model, &link).unwrap();
    write_directory(&link, &FILES).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(model.join(MODEL_FILE)).unwrap(), b"{}");
}

/// The working directory is private; what comes out of it has the permissions of any new file.
#[cfg(unix)]
#[test]
fn what_is_written_has_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (plain, model) = (sandbox.path().join("plain"), sandbox.path().join("model"));
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("file"), "").unwrap();
    write_directory(&model, &FILES).unwrap();
    write_file_atomic(&sandbox.path().join("table"), b"x").unwrap();
    assert_eq!(mode(&model), mode(&plain));
    assert_eq!(mode(&model.join(MODEL_FILE)), mode(&plain.join("file")));
    assert_eq!(mode(&sandbox.path().join("table")), mode(&plain.join("file")));
}

#[test]
#[cfg(unix)]
fn a_pipe_or_a_device_in_place_of_a_file_is_refused_and_not_waited_for() {
    let sandbox = sandbox();
    let model = sandbox.path().join("model");
    fs::create_dir(&model).unwrap();
    std::os::unix::fs::symlink("/dev/zero", model.join("endless")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(model.join("pipe")).status().unwrap();
    assert!(made.success());
    fs::create_dir(model.join("folder")).unwrap();
    for name in ["endless", "pipe", "folder"] {
        let error = read_directory(&model, &[name]).unwrap_err();
        assert!(matches!(&error, Error::NotRegular { path } if path.ends_with(name)), "{error}");
    }
}
