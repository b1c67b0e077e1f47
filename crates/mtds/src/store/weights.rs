//! `model.safetensors`: the learned tensors and the codes of the training members.

use std::collections::HashMap;

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

use super::config::StoredMember;
use super::{CONFIG_FILE, RESTORE, WEIGHTS_FILE, broken};
use crate::Result;
use crate::generator::Role;
use crate::model::{Member, Model};
use crate::system::{Architecture, System};

const CODES_MEAN: &str = "codes.mean";
const CODES_STD_DEV: &str = "codes.std_dev";

/// A tensor that must be in the file.
#[derive(Debug, PartialEq)]
pub(super) struct Expected {
    pub name: String,
    pub shape: Vec<usize>,
}

/// The tensors of [`System::tensors`] in their order, then, with members, means and deviations of the codes.
///
/// From the architecture alone: there is no model yet, and no memory for its weights, before the file has
/// shown that it holds them.
pub(super) fn expected(spec: &Architecture, n_members: usize) -> Result<Vec<Expected>> {
    let layout = spec.layout().map_err(|error| broken(CONFIG_FILE, format!("{error}; {RESTORE}")))?;
    let generator = spec.network.tensors().into_iter().map(|t| Expected { name: t.name, shape: t.shape });
    let shared = layout.blocks().iter().filter(|block| block.role == Role::Shared);
    let shared = shared
        .map(|block| Expected { name: format!("shared.{}", block.spec.name), shape: vec![block.spec.len] });
    let code = |name: &str| Expected { name: name.into(), shape: vec![n_members, spec.network.d_code] };
    let codes = [CODES_MEAN, CODES_STD_DEV].map(code).into_iter().filter(|_| n_members > 0);
    let front = spec.front.map_or(vec![], |front| front.tensors());
    let front = front.into_iter().map(|t| Expected { name: t.name, shape: t.shape });
    Ok(generator.chain(shared).chain(front).chain(codes).collect())
}

/// The tensors of each companion, under names of its own.
pub(super) fn expected_of_companions(architectures: &[&Architecture]) -> Result<Vec<Vec<Expected>>> {
    let one = |(k, spec): (usize, &&Architecture)| -> Result<Vec<Expected>> {
        let named = |of: Expected| Expected { name: companion_name(k, &of.name), ..of };
        Ok(expected(spec, 0)?.into_iter().map(named).collect())
    };
    architectures.iter().enumerate().map(one).collect()
}

fn companion_name(k: usize, name: &str) -> String {
    format!("companion.{}.{name}", k + 1)
}

/// The tensors of a system.
fn learned(system: &System) -> impl Iterator<Item = (String, Vec<usize>, Vec<u8>)> {
    let parameters = system.parameters();
    system.tensors().into_iter().map(move |tensor| {
        let bytes = to_le_bytes(parameters[tensor.range()].iter().copied());
        (tensor.name, tensor.shape, bytes)
    })
}

/// The file; F32, little endian.
pub(super) fn write(model: &Model) -> Result<Vec<u8>> {
    let members = &model.members;
    let code = |name: &str, of: fn(&Member) -> &[f64]| {
        let bytes = to_le_bytes(members.iter().flat_map(of).map(|&x| x as f32));
        (name.to_owned(), vec![members.len(), model.system.d_code()], bytes)
    };
    let codes = [code(CODES_MEAN, |m| &m.code_mean), code(CODES_STD_DEV, |m| &m.code_std_dev)];
    let codes = codes.into_iter().filter(|_| !members.is_empty());
    let beside = model.companions.iter().enumerate().flat_map(|(k, companion)| {
        learned(&companion.system).map(move |(name, shape, bytes)| (companion_name(k, &name), shape, bytes))
    });
    let arrays: Vec<_> = learned(&model.system).chain(codes).chain(beside).collect();
    archive(&arrays, None).map_err(|error| broken(WEIGHTS_FILE, format!("cannot be written: {error}")))
}

/// One entry of metadata at most: the archive would write several in an order that changes from call to call.
pub(super) fn archive(
    arrays: &[(String, Vec<usize>, Vec<u8>)],
    metadata: Option<(&str, String)>,
) -> std::result::Result<Vec<u8>, SafeTensorError> {
    let views = arrays.iter().map(|(name, shape, bytes)| {
        TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (name.as_str(), view))
    });
    let metadata = metadata.map(|(key, text)| HashMap::from([(key.to_owned(), text)]));
    serialize(views.collect::<std::result::Result<Vec<_>, _>>()?, metadata)
}

pub(super) fn to_le_bytes(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

/// The values of the expected tensors in their order; refuses any other tensor.
pub(super) fn read(bytes: &[u8], expected: &[Expected], n_members: usize) -> Result<Vec<Vec<f32>>> {
    let archive = open(WEIGHTS_FILE, bytes)?;
    check_members(&archive, n_members)?;
    read_all(WEIGHTS_FILE, &archive, expected)
}

/// The archive in the file of this name.
pub(super) fn open<'a>(file: &str, bytes: &'a [u8]) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(bytes).map_err(|error| {
        broken(file, format!("not a safetensors archive, or cut short ({error}); {RESTORE}"))
    })
}

/// Exactly the expected tensors, in their order.
pub(super) fn read_all(file: &str, archive: &SafeTensors, expected: &[Expected]) -> Result<Vec<Vec<f32>>> {
    let arrays = expected.iter().map(|tensor| read_tensor(file, archive, tensor)).collect::<Result<_>>()?;
    let mut names = archive.names();
    names.sort_unstable();
    let extra = names.into_iter().find(|name| !expected.iter().any(|tensor| tensor.name == *name));
    match extra {
        Some(name) => {
            let why =
                format!("tensor `{name}` is not part of the model that {CONFIG_FILE} describes; {RESTORE}");
            Err(broken(file, why))
        }
        None => Ok(arrays),
    }
}

/// A count that differs says more than a shape that does.
fn check_members(archive: &SafeTensors, n_members: usize) -> Result<()> {
    for name in [CODES_MEAN, CODES_STD_DEV] {
        let rows = archive.tensor(name).ok().and_then(|codes| codes.shape().first().copied());
        if let Some(found) = rows.filter(|rows| *rows != n_members) {
            let why = format!(
                "`{name}`: expected {n_members} members, as in {CONFIG_FILE}, found {found}; {RESTORE}"
            );
            return Err(broken(WEIGHTS_FILE, why));
        }
    }
    Ok(())
}

fn read_tensor(file: &str, archive: &SafeTensors, Expected { name, shape }: &Expected) -> Result<Vec<f32>> {
    let Ok(tensor) = archive.tensor(name) else {
        let why = format!("no tensor `{name}`; expected one of shape {shape:?}; {RESTORE}");
        return Err(broken(file, why));
    };
    if tensor.shape() != shape {
        let found = tensor.shape();
        let why = format!("tensor `{name}`: expected shape {shape:?}, found {found:?}; {RESTORE}");
        return Err(broken(file, why));
    }
    if tensor.dtype() != Dtype::F32 {
        let found = tensor.dtype();
        let why = format!("tensor `{name}`: expected F32, found {found:?}; convert it to F32");
        return Err(broken(file, why));
    }
    let (words, _) = tensor.data().as_chunks::<4>();
    let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => {
            let (value, place) = (values[i], position(i, shape));
            let why = format!(
                "tensor `{name}`: found {value} at {place:?}; expected finite numbers; {RESTORE}, or learn it again"
            );
            Err(broken(file, why))
        }
        None => Ok(values),
    }
}

/// Row, column, … of the `flat`-th entry, all counted from 0.
fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut place: Vec<usize> = vec![];
    for &size in shape.iter().rev() {
        place.push(flat % size);
        flat /= size;
    }
    place.reverse();
    place
}

/// The flat parameter vector, and the members with their codes; `arrays` as [`expected`] with
/// `records.len()` members asks for them.
pub(super) fn divide(
    mut arrays: Vec<Vec<f32>>,
    records: Vec<StoredMember>,
    d_code: usize,
) -> (Vec<f32>, Vec<Member>) {
    let codes = arrays.split_off(arrays.len() - if records.is_empty() { 0 } else { 2 });
    let code = |which: usize, i: usize| -> Vec<f64> {
        codes[which][i * d_code..(i + 1) * d_code].iter().map(|&x| f64::from(x)).collect()
    };
    let member = |(i, record): (usize, StoredMember)| Member {
        id: record.id,
        label: record.label,
        code_mean: code(0, i),
        code_std_dev: code(1, i),
    };
    let members = records.into_iter().enumerate().map(member).collect();
    (arrays.concat(), members)
}
