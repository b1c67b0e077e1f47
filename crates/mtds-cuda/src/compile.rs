//! Kernels from their source: for a card and the sizes of a model, by NVIDIA's run-time compiler, kept on disk between runs.
#![allow(unsafe_code)] // calls into the compiler's library

use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use cudarc::nvrtc::{result, sys};

use crate::linear::LinearShape;
use crate::shape::Shape;
use crate::{Error, Result};

/// All kernels of layered networks, one after the other.
pub(crate) const NETWORKS: &str = concat!(
    include_str!("kernels/common.cuh"),
    include_str!("kernels/activation.cuh"),
    include_str!("kernels/product.cu"),
    include_str!("kernels/gated.cu"),
    include_str!("kernels/head.cu"),
    include_str!("kernels/generator.cu"),
    include_str!("kernels/learning.cu"),
);

/// All kernels of linear systems.
pub(crate) const LINEAR: &str = concat!(
    include_str!("kernels/common.cuh"),
    include_str!("kernels/activation.cuh"),
    include_str!("kernels/columns.cu"),
    include_str!("kernels/weights.cu"),
    include_str!("kernels/linear.cu"),
);

/// Kernels and the sizes that they are compiled for.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Program {
    pub source: &'static str,
    pub definitions: Vec<String>,
}

/// An architecture to compile for, such as `sm_90`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arch(String);

impl Arch {
    /// That of a card.
    #[must_use]
    pub fn of((major, minor): (i32, i32)) -> Self {
        Self(format!("sm_{major}{minor}"))
    }
}

/// Whether the compiler is there.
pub(crate) fn has_compiler() -> bool {
    // Safety: looks for a library by name.
    unsafe { sys::is_culib_present() }
}

/// Compiles the kernels of networks for an architecture and a shape, on any machine that has the compiler; bytes of code.
///
/// # Errors
/// No compiler, or what it says of the source.
pub fn check_kernels(arch: (i32, i32), shape: &Shape) -> Result<usize> {
    check(arch, &shape.program())
}

/// The same for the kernels of linear systems.
///
/// # Errors
/// As [`check_kernels`].
pub fn check_linear_kernels(arch: (i32, i32), shape: &LinearShape) -> Result<usize> {
    check(arch, &shape.program())
}

fn check(arch: (i32, i32), program: &Program) -> Result<usize> {
    if !has_compiler() {
        return Err(Error::NoCompiler);
    }
    Ok(compile(&Arch::of(arch), program)?.len())
}

/// Machine code of a program, from the cache where it has it.
pub(crate) fn kernels(arch: &Arch, program: &Program, cache: Option<&Path>) -> Result<Vec<u8>> {
    let kept = cache.map(|folder| kept_at(folder, arch, program));
    if let Some(code) =
        kept.as_ref().and_then(|path| std::fs::read(path).ok()).filter(|code| !code.is_empty())
    {
        return Ok(code);
    }
    let code = compile(arch, program)?;
    if let Some(path) = kept {
        keep(&path, &code);
    }
    Ok(code)
}

fn kept_at(folder: &Path, arch: &Arch, program: &Program) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (program, arch, version()).hash(&mut hasher);
    folder.join(format!("{}-{:016x}.cubin", arch.0, hasher.finish()))
}

/// A cache that cannot be written costs a second at the next start, and is no reason to fail.
fn keep(path: &Path, code: &[u8]) {
    let Some(folder) = path.parent() else { return };
    let partial = path.with_extension(format!("{}.part", std::process::id()));
    let kept = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&partial, code))
        .and_then(|()| std::fs::rename(&partial, path));
    if kept.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}

/// Version of the compiler.
fn version() -> (i32, i32) {
    let (mut major, mut minor) = (0, 0);
    // Safety: writes two numbers; if it cannot, they stay.
    let _ = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    (major, minor)
}

/// A program as the compiler holds it, given back when it is dropped.
struct Held(sys::nvrtcProgram);

impl Drop for Held {
    fn drop(&mut self) {
        // Safety: it was created, and is not used again.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn compile(arch: &Arch, program: &Program) -> Result<Vec<u8>> {
    let fail = |log: String| Error::Compile { arch: arch.0.clone(), log };
    let source = CString::new(program.source).map_err(|_| fail("the source has a zero byte".into()))?;
    let held = Held(result::create_program(&source, None).map_err(|why| fail(format!("{why:?}")))?);
    let mut options =
        vec![format!("--gpu-architecture={}", arch.0), "--std=c++17".into(), "-default-device".into()];
    options.extend(program.definitions.iter().map(|definition| format!("-D{definition}")));
    // Safety: the program lives.
    unsafe { result::compile_program(held.0, &options) }.map_err(|why| {
        // Safety: the program lives; the log ends with a zero.
        let log =
            unsafe { result::get_program_log(held.0).map(|log| CStr::from_ptr(log.as_ptr()).to_owned()) };
        fail(log.map_or(format!("{why:?}"), |log| log.to_string_lossy().into_owned()))
    })?;
    let mut size = 0;
    // Safety: writes one number.
    unsafe { sys::nvrtcGetCUBINSize(held.0, &raw mut size) }
        .result()
        .map_err(|why| fail(format!("{why:?}")))?;
    let mut code = vec![0u8; size];
    // Safety: writes `size` bytes.
    unsafe { sys::nvrtcGetCUBIN(held.0, code.as_mut_ptr().cast()) }
        .result()
        .map_err(|why| fail(format!("{why:?}")))?;
    Ok(code)
}
