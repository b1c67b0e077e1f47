//! Where somebody wants models to be computed: a device by name, and the rule that chooses one.

use std::path::PathBuf;
use std::str::FromStr;

use super::cuda::Takes;
use super::{Device, Products};
use crate::model::Model;
use crate::{Error, Result};

/// A device by name: `auto`, `cpu`, `cuda`, `cuda:1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceName {
    /// A card, where there is one that can be used and the work gains by it.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The card of this number.
    Cuda(usize),
}

impl FromStr for DeviceName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match (name, name.strip_prefix("cuda:").map(str::parse)) {
            ("auto", _) => Ok(Self::Auto),
            ("cpu", _) => Ok(Self::Cpu),
            ("cuda", _) => Ok(Self::Cuda(0)),
            (_, Some(Ok(ordinal))) => Ok(Self::Cuda(ordinal)),
            _ => {
                let why = format!("found `{name}`, which is no device; expected auto, cpu, cuda or cuda:1");
                Err(Error::setting("device", why))
            }
        }
    }
}

impl DeviceName {
    /// The device to learn with; kernels are kept in the folder `cache`, if one is given.
    ///
    /// # Errors
    /// [`Error::Device`]: a card that was asked for and cannot be used.
    pub fn open(self, products: Products, cache: Option<PathBuf>) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::cpu()),
            Self::Auto => Ok(Device::card(0, products, cache, Takes::Large).unwrap_or_default()),
            Self::Cuda(ordinal) => Device::cuda(ordinal, products, cache),
        }
    }

    /// The device to use a model with: by itself a card only for layered models, which gain by it.
    ///
    /// # Errors
    /// As [`DeviceName::open`].
    pub fn open_for(self, model: &Model, products: Products, cache: Option<PathBuf>) -> Result<Device> {
        match self {
            Self::Auto if model.system.spec().front.is_none() => Ok(Device::cpu()),
            name => name.open(products, cache),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for (name, device) in [
            ("auto", DeviceName::Auto),
            ("cpu", DeviceName::Cpu),
            ("cuda", DeviceName::Cuda(0)),
            ("cuda:3", DeviceName::Cuda(3)),
        ] {
            assert_eq!(name.parse::<DeviceName>().unwrap(), device);
        }
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "CUDA", "cuda:one"] {
            let refused = wrong.parse::<DeviceName>().unwrap_err().to_string();
            assert!(refused.contains("no device") && refused.contains("cuda:1"), "{refused}");
        }
    }
}
