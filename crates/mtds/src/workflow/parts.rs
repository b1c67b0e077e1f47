//! The family, divided by sequence.

use crate::Result;
use crate::family::{Family, Origin, SplitPlan, Strata};
use crate::infer::GaussianMixture;
use crate::learn::{Choices, CutFrom};
use crate::model::SegmentCode;

/// The family, divided by sequence.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Sequences to learn from, whole.
    pub(super) training: Family,
    /// Sequences that decide when to stop, whole.
    pub(super) held_out: Option<Family>,
    /// Sequences to choose the length of the code by, whole.
    pub(super) apart: Option<Family>,
    /// Training sequences as they are learned: cut, if they are to be.
    pub(super) pieces: Family,
    /// Held-out sequences, likewise.
    pub(super) held_out_pieces: Option<Family>,
    /// Numbers of the training sequences in the family, and of the held-out ones.
    pub(super) numbers: [Vec<usize>; 2],
    /// The training sequence that each piece comes from, and its first step there; likewise of held-out ones.
    pieces_of: [Vec<Origin>; 2],
}

impl Parts {
    /// Divides and cuts, with those held out that this one of so many folds has.
    ///
    /// # Errors
    /// Too few sequences for every part.
    pub(super) fn of(
        family: &Family,
        choices: &Choices,
        (seed, fold): (u64, (usize, usize)),
    ) -> Result<Self> {
        let plan =
            SplitPlan { validation: choices.validation, test: choices.selection, strata: Strata::Whole };
        let split = plan.fold(family, seed, fold)?;
        let part = |numbers: &[usize]| match numbers {
            [] => Ok(None),
            _ => family.subset(numbers).map(Some),
        };
        let training = family.subset(&split.train)?;
        let (held_out, apart) = (part(&split.validation)?, part(&split.test)?);
        let cut = |family: &Family| match choices.segments() {
            None => {
                let whole = (0..family.n_seq()).map(|sequence| Origin { sequence, start: 0 });
                Ok((family.clone(), whole.collect()))
            }
            Some(segments) => segments.cut(family).map(|cut| (cut.family, cut.origins)),
        };
        let (pieces, piece_of): (Family, Vec<Origin>) = cut(&training)?;
        let (held_out_pieces, held_out_of) = held_out.as_ref().map(cut).transpose()?.unzip();
        Ok(Self {
            pieces,
            held_out_pieces,
            training,
            held_out,
            apart,
            numbers: [split.train, split.validation],
            pieces_of: [piece_of, held_out_of.unwrap_or_default()],
        })
    }

    /// What is known of the code of every training and every held-out sequence, from what is known of their pieces: one Gaussian each.
    ///
    /// # Errors
    /// None in practice: averages of Gaussians have moments.
    pub(super) fn by_member(&self, pieces: &[Vec<Option<GaussianMixture>>; 2]) -> Result<Known> {
        let n_held_out = self.held_out.as_ref().map_or(0, Family::n_seq);
        Ok([
            gathered(&pieces[0], &self.pieces_of[0], self.training.n_seq())?,
            gathered(&pieces[1], &self.pieces_of[1], n_held_out)?,
        ])
    }

    /// What is known of the code of each piece that was cut, in the order of their sequences, those that were learned from first; none
    /// where every sequence is one piece.
    pub(super) fn segments(&self, known: &[Vec<Option<GaussianMixture>>; 2]) -> Vec<SegmentCode> {
        if self.pieces.n_seq() == self.training.n_seq() {
            return vec![];
        }
        let training = Some((&self.training, &self.pieces));
        let held_out = self.held_out.as_ref().zip(self.held_out_pieces.as_ref());
        let mut found = vec![];
        for (part, families) in [training, held_out].into_iter().enumerate() {
            let Some((whole, pieces)) = families else { continue };
            for ((place, origin), code) in self.pieces_of[part].iter().enumerate().zip(&known[part]) {
                let Some(code) = code else { continue };
                let (k, covariance) = (code.dim(), code.covariance());
                found.push(SegmentCode {
                    member: whole.sequence(origin.sequence).id().to_owned(),
                    start: origin.start,
                    n_time: pieces.sequence(place).n_time(),
                    code_mean: code.mean(),
                    code_std_dev: (0..k).map(|d| covariance[d * k + d].sqrt()).collect(),
                });
            }
        }
        found
    }

    /// The training sequences, and where the pieces were cut from them.
    pub(super) fn cut_from(&self) -> CutFrom {
        CutFrom { family: self.training.clone(), origins: self.pieces_of[0].clone() }
    }

    /// Sequences that forecasts are judged by: those that decided least.
    pub(super) fn judges(&self) -> Option<&Family> {
        self.apart.as_ref().or(self.held_out.as_ref())
    }

    /// Ids of the sequences that learning did not see.
    pub(super) fn unseen(&self) -> Vec<String> {
        let unseen = self.held_out.iter().chain(&self.apart);
        unseen.flat_map(|family| family.sequences()).map(|sequence| sequence.id().to_owned()).collect()
    }
}

/// What is known of codes of training sequences, and of held-out ones.
pub(super) type Known = [Vec<Option<GaussianMixture>>; 2];

fn gathered(
    pieces: &[Option<GaussianMixture>],
    piece_of: &[Origin],
    n_seq: usize,
) -> Result<Vec<Option<GaussianMixture>>> {
    let mut by_member = vec![vec![]; n_seq];
    for (piece, origin) in pieces.iter().zip(piece_of) {
        by_member[origin.sequence].extend(piece.as_ref().map(|code| (1.0, code)));
    }
    let one = |codes: &Vec<(f64, &GaussianMixture)>| match &codes[..] {
        [] => Ok(None),
        [(_, code)] => Ok(Some((*code).clone())),
        several => GaussianMixture::average(several)?.collapsed().map(Some),
    };
    by_member.iter().map(one).collect()
}
