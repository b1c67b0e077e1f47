//! Random damage: loading never panics, and what still loads is a model that works.

use proptest::prelude::*;

use super::*;
use crate::family::Signal;

/// A change to the bytes of a file; places are taken modulo its length.
#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    /// Replaces the next digit by another, so that the numbers change and the JSON stays.
    Digit(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    Truncate(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0..1_000_000usize;
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (place.clone(), b'0'..=b'9').prop_map(|(at, digit)| Damage::Digit(at, digit)),
        (place.clone(), prop_oneof![b'0'..=b'9', any::<u8>()]).prop_map(|(at, b)| Damage::Insert(at, b)),
        place.clone().prop_map(Damage::Remove),
        place.prop_map(Damage::Truncate),
    ]
}

fn inflict(bytes: &mut Vec<u8>, damage: &Damage) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match *damage {
        Damage::Set(at, byte) => bytes[at % len] = byte,
        Damage::Digit(at, digit) => {
            let from = at % len;
            if let Some(found) = bytes[from..].iter_mut().find(|b| b.is_ascii_digit()) {
                *found = digit;
            }
        }
        Damage::Insert(at, byte) => bytes.insert(at % len, byte),
        Damage::Remove(at) => drop(bytes.remove(at % len)),
        Damage::Truncate(at) => bytes.truncate(at % len),
    }
}

/// A model that works: finite, able to generate, able to be stored again.
fn assert_works(bundle: &Model) {
    assert!(bundle.system.parameters().iter().all(|x| x.is_finite()));
    assert!((0..bundle.system.scaling().d_obs()).all(|d| bundle.system.scaling().scale(d) > 0.0));
    let stored = bundle.to_files().unwrap();
    assert_eq!(load(&stored).unwrap().members, bundle.members);
    let inputs = Signal::new(3, 1, vec![0.0; 3]).unwrap();
    // Damaged weights may be so large that outputs overflow, which is an error and not a panic.
    let _ = bundle.system.generate(&bundle.members[0].code_mean, Some(&inputs), 3);
}

fn survives(file: usize, damages: &[Damage]) {
    let mut files = files();
    damages.iter().for_each(|damage| inflict(&mut files[file].1, damage));
    match load(&files) {
        Ok(bundle) => assert_works(&bundle),
        Err(error) => {
            let Error::Store { file: named, .. } = &error else { panic!("{error}") };
            assert!(REQUIRED_FILE_NAMES.contains(&named.as_str()), "{error}");
            assert_ne!(file, 2, "the card is never read: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn of_the_configuration(damages in prop::collection::vec(damage(), 1..4)) {
        survives(0, &damages);
    }

    #[test]
    fn of_the_weights(damages in prop::collection::vec(damage(), 1..4)) {
        survives(1, &damages);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn of_the_card(damages in prop::collection::vec(damage(), 1..4)) {
        survives(2, &damages);
    }
}

/// Every bit of the archive's header, where the structure is, one at a time.
#[test]
fn of_every_bit_of_the_header() {
    let whole = files();
    let length = u64::from_le_bytes(whole[1].1[..8].try_into().unwrap());
    for at in 0..8 + length as usize {
        for bit in 0..8 {
            let byte = whole[1].1[at] ^ (1 << bit);
            survives(1, &[Damage::Set(at, byte)]);
        }
    }
}
