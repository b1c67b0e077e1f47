//! A queue of work on a card: memory, copies, launches, and sequences of launches that are recorded once and replayed.
#![allow(unsafe_code)] // launches, and raw addresses in their arguments

use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::{CUfunction_attribute, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaFunction, CudaGraph, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits,
    result, sys,
};
use cudarc::nvrtc::Ptx;

use crate::compile::Program;
use crate::device::Gpu;
use crate::{Error, Result};

/// Whether a driver is there.
pub(crate) fn has_driver() -> bool {
    // Safety: looks for a library by name.
    unsafe { sys::is_culib_present() }
}

/// Numbers on the card.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    slice: CudaSlice<T>,
    address: u64,
}

impl<T> Buffer<T> {
    /// Address of a number.
    pub(crate) fn at(&self, place: usize) -> u64 {
        debug_assert!(place <= self.slice.len());
        self.address + (place * size_of::<T>()) as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.slice.len()
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// Where numbers lie, or nowhere (0).
    At(u64),
    /// A whole number.
    Int(i32),
    /// A struct of the same layout on both sides.
    Struct(&'a dyn Plain),
}

/// Plain data in the layout of C.
///
/// # Safety
/// The type is `repr(C)` and has only numbers.
pub(crate) unsafe trait Plain {
    /// Where it lies.
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast::<c_void>().cast_mut()
    }
}

impl From<u64> for Arg<'_> {
    fn from(address: u64) -> Self {
        Self::At(address)
    }
}

impl From<usize> for Arg<'_> {
    fn from(n: usize) -> Self {
        Self::Int(i32::try_from(n).expect("sizes were checked to be small"))
    }
}

/// Blocks of a grid, threads of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub grid: [usize; 3],
    pub block: [usize; 2],
    /// Whether blocks wait for each other, so that all must run at once.
    pub waits: bool,
}

impl Extent {
    /// So many threads in all, in blocks of 256.
    pub(crate) fn of(n: usize) -> Self {
        Self::blocks([n.div_ceil(256).max(1), 1, 1], 256)
    }

    pub(crate) fn blocks(grid: [usize; 3], threads: usize) -> Self {
        Self { grid, block: [threads, 1], waits: false }
    }
}

/// The queue, with the kernels of one program.
pub(crate) struct Queue {
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
    functions: Mutex<HashMap<&'static str, CudaFunction>>,
}

/// Recorded launches.
pub(crate) struct Recorded(CudaGraph);

// Safety: only `Queue::replay` uses a graph, for `Learning::step`, which holds both mutably: one thread at a time.
unsafe impl Send for Recorded {}
unsafe impl Sync for Recorded {}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recorded")
    }
}

impl Queue {
    /// Compiles the kernels of a program and opens a queue.
    pub(crate) fn new(gpu: &Gpu, program: &Program) -> Result<Self> {
        let code = crate::compile::kernels(&gpu.arch, program, gpu.cache.as_deref())?;
        let loading = Error::driver("loading kernels");
        // Safety: everything of a queue happens on its one stream, in order.
        unsafe { gpu.context.disable_event_tracking() };
        let module = gpu.context.load_module(Ptx::from_binary(code)).map_err(&loading)?;
        Ok(Self { stream: gpu.context.new_stream().map_err(&loading)?, module, functions: Mutex::default() })
    }

    /// So many zeros.
    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, n: usize) -> Result<Buffer<T>> {
        let slice = self.stream.alloc_zeros(n.max(1)).map_err(Error::driver("taking memory"))?;
        let address = slice.device_ptr(&self.stream).0;
        Ok(Buffer { slice, address })
    }

    /// Copies numbers to the card.
    pub(crate) fn upload<T: DeviceRepr>(&self, numbers: &[T], to: &mut Buffer<T>, at: usize) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut place = to.slice.slice_mut(at..at + numbers.len());
        self.stream.memcpy_htod(numbers, &mut place).map_err(Error::driver("copying to it"))
    }

    /// A buffer of these numbers.
    pub(crate) fn uploaded<T: DeviceRepr + ValidAsZeroBits>(&self, numbers: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.zeros(numbers.len())?;
        self.upload(numbers, &mut buffer, 0)?;
        Ok(buffer)
    }

    /// Makes room for so many numbers, which may have any value then.
    pub(crate) fn grow<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        buffer: &mut Buffer<T>,
        n: usize,
    ) -> Result<()> {
        if buffer.len() < n {
            *buffer = self.zeros(n)?;
        }
        Ok(())
    }

    /// Copies numbers to the beginning of a buffer, which grows if it has to.
    pub(crate) fn put<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        buffer: &mut Buffer<T>,
        numbers: &[T],
    ) -> Result<()> {
        self.grow(buffer, numbers.len())?;
        self.upload(numbers, buffer, 0)
    }

    /// Copies numbers from the card, after all that was asked for before.
    pub(crate) fn download<T: DeviceRepr + Default + Clone>(
        &self,
        from: &Buffer<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>> {
        let mut numbers = vec![T::default(); range.len()];
        let failed = Error::driver("computing, or copying from it");
        if !numbers.is_empty() {
            self.stream.memcpy_dtoh(&from.slice.slice(range), &mut numbers[..]).map_err(&failed)?;
        }
        self.stream.synchronize().map_err(&failed)?;
        Ok(numbers)
    }

    /// Fills with zeros.
    pub(crate) fn clear<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        buffer: &mut Buffer<T>,
        range: Range<usize>,
    ) -> Result<()> {
        let mut place = buffer.slice.slice_mut(range);
        self.stream.memset_zeros(&mut place).map_err(Error::driver("clearing memory"))
    }

    /// Launches a kernel.
    pub(crate) fn launch(&self, kernel: &'static str, extent: Extent, args: &[Arg<'_>]) -> Result<()> {
        let function = self.function(kernel)?;
        let mut raw: Vec<*mut c_void> = args
            .iter()
            .map(|arg| match arg {
                Arg::At(address) => std::ptr::from_ref(address).cast::<c_void>().cast_mut(),
                Arg::Int(n) => std::ptr::from_ref(n).cast::<c_void>().cast_mut(),
                Arg::Struct(plain) => plain.address(),
            })
            .collect();
        let small = |n: usize| u32::try_from(n).expect("sizes were checked to be small");
        let grid = extent.grid.map(small);
        let (grid, block) =
            ((grid[0], grid[1], grid[2]), (small(extent.block[0]), small(extent.block[1]), 1));
        self.stream.context().bind_to_thread().map_err(Error::driver("launching a kernel"))?;
        let stream = self.stream.cu_stream();
        // Safety: arguments are those of the kernel's declaration, which tests of every kernel compare with plain numbers; they live
        // until the call returns, which copies them.
        let launched = unsafe {
            match extent.waits {
                true => result::launch_cooperative_kernel(
                    function.cu_function(),
                    grid,
                    block,
                    0,
                    stream,
                    &mut raw,
                ),
                false => result::launch_kernel(function.cu_function(), grid, block, 0, stream, &mut raw),
            }
        };
        launched.map_err(Error::driver("launching a kernel"))
    }

    fn function(&self, kernel: &'static str) -> Result<CudaFunction> {
        let mut functions = self.functions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(function) = functions.get(kernel) {
            return Ok(function.clone());
        }
        let function = self.module.load_function(kernel).map_err(Error::driver("looking up a kernel"))?;
        functions.insert(kernel, function.clone());
        Ok(function)
    }

    /// Bytes per thread that a kernel keeps outside of registers: spills show here.
    pub(crate) fn local_bytes(&self, kernel: &'static str) -> Result<usize> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
        let bytes = self
            .function(kernel)?
            .get_attribute(attribute)
            .map_err(Error::driver("asking about a kernel"))?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }

    /// Records what `work` launches and copies, instead of doing it.
    pub(crate) fn record(&self, work: impl FnOnce() -> Result<()>) -> Result<Recorded> {
        let failed = Error::driver("recording a step");
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(&failed)?;
        let worked = work();
        let graph = self.stream.end_capture(CUgraphInstantiate_flags(0)).map_err(&failed);
        worked?;
        let nothing = || Error::Driver { doing: "recording a step", why: "nothing was recorded".into() };
        Ok(Recorded(graph?.ok_or_else(nothing)?))
    }

    /// Does what was recorded.
    pub(crate) fn replay(&self, recorded: &Recorded) -> Result<()> {
        recorded.0.launch().map_err(Error::driver("replaying a step"))
    }
}
