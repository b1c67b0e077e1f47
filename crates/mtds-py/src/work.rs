//! Long work for Python: on threads of its own, while the interpreter is free, stopped by Ctrl-C, heard of as it goes.
//!
//! ```text
//! the caller's thread ── waits, without the interpreter's lock ── every 50 ms: signals? progress? ──→ result, or an exception
//! a pool of threads   ── works, looks at `Watch::is_asked_to_stop` between items and steps ──────────┘
//! ```
//! Pools live as long as the call: one that outlived it would be dead in a process that was forked.

use crate::error::{InternalError, Result, setting_error};
use mtds::Control;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::type_hint_identifier;
use std::any::Any;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// From one look at signals to the next.
const LOOK: Duration = Duration::from_millis(50);
/// More threads than any machine at hand has cores: most likely a typing error.
const MOST_THREADS: usize = 1024;

/// How far the work is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// What it is busy with.
    pub(crate) stage: &'static str,
    /// Steps or sequences done.
    pub(crate) done: u64,
    /// Steps or sequences in all.
    pub(crate) all: u64,
    /// Which of how many parts this is about.
    pub(crate) part: (usize, usize),
    /// The bound that learning has reached.
    pub(crate) bound: Option<f64>,
}

/// What the two sides tell each other.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    heard: Mutex<Option<Heard>>,
}

impl Watch {
    /// Whether the caller wants it to end.
    pub(crate) fn is_asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says how far the work is; whether to go on.
    pub(crate) fn hear(&self, heard: Heard) -> Control {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(heard);
        self.go_on()
    }

    /// For work that asks often and has nothing to say.
    pub(crate) fn go_on(&self) -> Control {
        if self.is_asked_to_stop() { Control::Stop } else { Control::Continue }
    }

    /// For items that threads take in any order: counts one more, or refuses it.
    pub(crate) fn count(&self, stage: &'static str, done: &AtomicUsize, all: usize) -> mtds::Result<()> {
        let done = done.fetch_add(1, Ordering::Relaxed) as u64;
        match self.hear(Heard { stage, done, all: all as u64, part: (0, 1), bound: None }) {
            Control::Continue => Ok(()),
            Control::Stop => Err(mtds::Error::Stopped),
        }
    }

    fn last(&self) -> Option<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Who hears how far the work is; the stub says what it is called with.
pub(crate) struct Progress<'py>(Bound<'py, PyAny>);

impl<'py> FromPyObject<'_, 'py> for Progress<'py> {
    type Error = Infallible;
    const INPUT_TYPE: PyStaticExpr = type_hint_identifier!("pymtds._progress", "Heard");

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> std::result::Result<Self, Infallible> {
        Ok(Self(object.to_owned()))
    }
}

/// How work is done: on how many threads, and who hears of it.
pub(crate) struct Manner<'a, 'py> {
    /// `None`: all cores.
    pub(crate) threads: Option<usize>,
    /// Called as `progress(stage, done, all, part, parts, bound)`, on the caller's thread.
    pub(crate) progress: Option<&'a Progress<'py>>,
}

impl Manner<'_, '_> {
    /// Does `work` and waits for it.
    ///
    /// # Errors
    /// What `work` fails with; what a signal or the progress raised, after the work has ended; `InternalError` for a panic.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Watch) -> Result<T> + Send,
    ) -> PyResult<T> {
        let pool = pool(self.threads)?;
        let progress = self.progress.map(|Progress(progress)| progress.clone().unbind());
        let (done, raised) = py.detach(|| waited(&pool, work, progress.as_ref()));
        match (done, raised) {
            (Err(panic), _) => Err(of_panic(&*panic)),
            (Ok(_), Some(raised)) => Err(raised),
            (Ok(done), None) => done.map_err(PyErr::from),
        }
    }
}

/// Work that is over before anybody would interrupt it.
///
/// # Errors
/// As [`Manner::run`].
pub(crate) fn quick<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let done = py.detach(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    done.map_err(|panic| of_panic(&*panic))?.map_err(PyErr::from)
}

/// What needs the interpreter, such as arrays of NumPy: a panic is an exception there, too.
///
/// # Errors
/// Those of `work`; `InternalError` for a panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(of_panic(&*panic)))
}

/// A pool of so many threads; `None`: of all cores.
///
/// # Errors
/// For a number that cannot be meant, and where the system has no threads left.
pub(crate) fn pool(threads: Option<usize>) -> PyResult<rayon::ThreadPool> {
    if threads.is_some_and(|count| count == 0 || count > MOST_THREADS) {
        let found = threads.unwrap_or_default();
        return Err(setting_error(
            "threads",
            format_args!("expected 1 to {MOST_THREADS}, found {found}; leave it out to use all cores"),
        ));
    }
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or_else(all)).build();
    pool.map_err(|error| InternalError::new_err(error.to_string()))
}

/// What came of the work, and what was raised meanwhile.
type Waited<T> = (std::thread::Result<Result<T>>, Option<PyErr>);

fn waited<T: Send>(
    pool: &rayon::ThreadPool,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
    progress: Option<&Py<PyAny>>,
) -> Waited<T> {
    let watch = Watch::default();
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // Dropped when the work ends, however it ends.
            let _ended = ended;
            pool.install(|| work(&watch))
        });
        let mut raised = None;
        while end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if raised.is_some() {
                continue;
            }
            let looked = Python::attach(|py| look(py, &watch, progress));
            if let Err(error) = looked {
                watch.stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        (worker.join(), raised)
    })
}

fn look(py: Python<'_>, watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(progress), Some(heard)) = (progress, watch.last()) {
        let Heard { stage, done, all, part: (part, parts), bound } = heard;
        progress.call1(py, (stage, done, all, part, parts, bound))?;
    }
    Ok(())
}

fn of_panic(panic: &(dyn Any + Send)) -> PyErr {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    InternalError::new_err(format!("{text}; this is a fault of pymtds, please report it"))
}

/// Panics where work is done, for the test that no panic reaches Python as one.
#[pyfunction]
pub(crate) fn panic_for_tests(py: Python<'_>, at_once: bool) -> PyResult<()> {
    let fault = || -> Result<()> { panic!("a deliberate fault") };
    match at_once {
        true => quick(py, fault),
        false => Manner { threads: Some(1), progress: None }.run(py, |_| fault()),
    }
}
