//! Devices by name: what is listed, and a card that is asked for and cannot be used.

use crate::program::{json, must, must_fail};

#[test]
fn devices_lists_the_processor_and_says_what_a_card_lacks() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let found = json(folder.path(), "devices --threads 3");
    assert_eq!(found["cpu"]["threads"], 3);
    let text = must(folder.path(), "devices");
    assert!(text.starts_with("cpu "), "{text}");
    match found["no_cards"].as_str() {
        Some(why) => assert!(why.contains("--device cpu") && text.contains(why), "{text}"),
        None => assert!(text.contains("cuda:0"), "{text}"),
    }
}

#[test]
fn a_card_that_is_not_there_ends_a_fit_before_it_begins_and_another_name_is_wrong_usage() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    must(folder.path(), "data oscillators -o family.csv --sequences 6");
    // No machine has so many cards.
    let message = must_fail(folder.path(), "fit family.csv -o model --device cuda:99", 1);
    assert!(message.contains("--device cpu"), "{message}");
    assert!(!folder.path().join("model").exists());
    let message = must_fail(folder.path(), "fit family.csv -o model --device gpu", 2);
    assert!(
        message.contains("`gpu`, which is no device") && message.contains("auto, cpu, cuda"),
        "{message}"
    );
}
