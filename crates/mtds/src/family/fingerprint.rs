//! A short name for the data itself, by which a stored model recognises what it was learned from.
//!
//! ```text
//! h ← offset basis        h ← (h xor byte) · prime  mod 2⁶⁴        over all bytes in order
//! ```
//!
//! 64-bit FNV-1a: Fowler, Noll, Vo, Eastlake, The FNV Non-Cryptographic Hash Algorithm, draft-eastlake-fnv.

use super::{Family, Inputs, Signal};

/// Start value of 64-bit FNV-1a.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// Multiplier of 64-bit FNV-1a.
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// The bits that stand for a missing value.
const MISSING_BITS: u64 = 0x7ff8_0000_0000_0000;

impl Family {
    /// A 64-bit FNV-1a hash of the family, as 16 hexadecimal digits.
    ///
    /// The bytes are: output names, input names, then per sequence its id, the shape and the bits of its
    /// outputs and of its own inputs, then those of the common inputs. Numbers go in as 8 bytes, low
    /// byte first; names and shapes come with their lengths, so that no two families spell the same
    /// bytes. All missing values count as one, labels not at all. The order of sequences matters.
    ///
    /// It notices that data have changed; it does not withstand somebody who wants two to look alike.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Fnv(OFFSET_BASIS);
        hash.names(self.output_names());
        hash.names(self.input_names());
        hash.number(self.n_seq() as u64);
        for sequence in self.sequences() {
            hash.text(sequence.id());
            hash.signal(Some(sequence.outputs()));
            hash.signal(sequence.inputs());
        }
        hash.signal(match self.inputs() {
            Inputs::Common(inputs) => Some(inputs),
            Inputs::None | Inputs::Own => None,
        });
        format!("{:016x}", hash.0)
    }
}

/// The hash so far.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn names(&mut self, names: &[String]) {
        self.number(names.len() as u64);
        names.iter().for_each(|name| self.text(name));
    }

    fn signal(&mut self, signal: Option<&Signal>) {
        let Some(signal) = signal else {
            // No signal has width 0, so this marks an absent one.
            return self.number(0);
        };
        self.number(signal.width() as u64);
        self.number(signal.n_time() as u64);
        for &value in signal.values() {
            // NaN has many bit patterns and readers differ in which they make.
            self.number(if value.is_nan() { MISSING_BITS } else { value.to_bits() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Sequence;

    fn family(ids: [&str; 2], values: [f64; 3]) -> Family {
        let a = Sequence::new(ids[0], Signal::column(values[..2].to_vec())).unwrap();
        let b = Sequence::new(ids[1], Signal::column(values[2..].to_vec())).unwrap();
        Family::new(vec![a, b]).unwrap()
    }

    fn hash_of(bytes: &[u8]) -> u64 {
        let mut hash = Fnv(OFFSET_BASIS);
        hash.bytes(bytes);
        hash.0
    }

    #[test]
    fn hash_matches_published_vectors() {
        assert_eq!(hash_of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_of(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn any_change_of_data_changes_it() {
        let inputs = || Signal::column(vec![1.0, 0.0]);
        let base = family(["a", "b"], [1.0, 2.0, 3.0]);
        let own = |family: &Family| {
            let give = |s: &Sequence| s.clone().with_inputs(inputs()).unwrap();
            Family::new(family.sequences().iter().map(give).collect()).unwrap()
        };
        let all = [
            base.clone(),
            family(["a", "c"], [1.0, 2.0, 3.0]),
            family(["b", "a"], [1.0, 2.0, 3.0]),
            family(["a", "b"], [1.0, 2.0, 3.0 + 1e-15]),
            family(["a", "b"], [1.0, f64::NAN, 3.0]),
            base.clone().with_output_names(["speed"]).unwrap(),
            base.clone().with_common_inputs(inputs()).unwrap(),
            base.clone().with_common_inputs(inputs()).unwrap().with_input_names(["push"]).unwrap(),
            own(&base),
            base.subset(&[0]).unwrap(),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().map(Family::fingerprint).collect();
        assert_eq!(distinct.len(), all.len());
        assert!(distinct.iter().all(|text| text.len() == 16));
    }

    #[test]
    fn labels_and_kinds_of_nan_do_not_count() {
        let plain = family(["a", "b"], [1.0, f64::NAN, 3.0]);
        let other = family(["a", "b"], [1.0, -f64::NAN, 3.0]);
        let label = |s: &Sequence| s.clone().with_label("x");
        let labelled = Family::new(other.sequences().iter().map(label).collect()).unwrap();
        assert_eq!(plain.fingerprint(), labelled.fingerprint());
    }

    /// Stored models carry fingerprints: the recipe must not change unnoticed.
    #[test]
    fn the_recipe_is_frozen() {
        let fingerprint = family(["a", "b"], [1.0, f64::NAN, 3.0]).fingerprint();
        assert_eq!(fingerprint, "ac432cbee7e9ceb6");
    }
}
