//! The program `mtds-bench`: reads the options, runs every work, prints the table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use mtds_bench::agreement::{Agreement, compare};
use mtds_bench::check::Check;
use mtds_bench::interleave::{Contestant, Measured, Schedule, measure};
use mtds_bench::peer::Peer;
use mtds_bench::problem::AdaisProblem;
use mtds_bench::protocol::Request;
use mtds_bench::report::{self, Report, Settings};
use mtds_bench::work::{Work, WorkSettings, own_works};
use mtds_bench::{Error, Result, inputs};

/// The peers, each with its worker `<name>_worker.py`; the ratios refer to `torch`.
const PEERS: [&str; 2] = ["torch", "jax"];
/// An ESS can never be twice the number of draws: every pass is taken.
const NEVER_STOP: f64 = 2.0;
/// Compilation by a peer on a busy machine takes minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Times mtds, and with --peers also PyTorch and JAX, interleaved in one run
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Python interpreter that has the packages of bench/peers/requirements.txt
    #[arg(long, value_name = "PYTHON")]
    peers: Option<PathBuf>,
    /// Folder of the workers
    #[arg(long, value_name = "DIR", default_value = "bench/peers")]
    workers: PathBuf,
    /// Fewer rounds
    #[arg(long)]
    quick: bool,
    /// Write the result as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Threads of every engine
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Only these works: w2, adais-all, adais-early, tracked
    #[arg(long, value_name = "WORK", value_delimiter = ',', value_parser = ["w2", "adais-all", "adais-early", "tracked"])]
    only: Vec<String>,
    /// The step at which the update of the posterior is timed
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(10..=80))]
    at: u16,
    /// Seed of whatever is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// One work, whoever does it.
struct Assignment {
    name: &'static str,
    /// What a peer is asked; `None` for a work that only we do.
    request: Option<Request>,
    /// Known numbers, to compare with where there are no peers.
    golden: Option<Check>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("mtds-bench: two engines disagree; their times cannot be compared");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("mtds-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything; whether all engines agree.
fn run(arguments: &Arguments) -> Result<bool> {
    let settings = work_settings(arguments)?;
    // Inside the pool, so that a round does not begin with waking all of its threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let pool = pool.map_err(|e| Error::Threads(e.to_string()))?;
    let report = pool.install(|| measure_all(arguments, &settings))?;
    print(&report);
    if let Some(path) = &arguments.json {
        report.write(path)?;
    }
    Ok(report.checks.iter().all(|check| check.agrees))
}

fn measure_all(arguments: &Arguments, settings: &WorkSettings) -> Result<Report> {
    let folder = tempfile::tempdir().map_err(|source| Error::File { path: std::env::temp_dir(), source })?;
    let problem = settings.problem.write(folder.path())?;
    let mut works = own_works(settings)?;
    let mut peers = start_peers(arguments)?;
    let schedule = schedule(arguments);
    let wanted =
        |a: &Assignment| arguments.only.is_empty() || arguments.only.iter().any(|name| name == a.name);
    let (mut rows, mut checks) = (Vec::new(), Vec::new());
    for assignment in assignments(settings, &problem).into_iter().filter(wanted) {
        let measured = measure(&mut contestants(&assignment, &mut works, &mut peers), schedule)?;
        rows.extend(report::rows(assignment.name, &measured));
        checks.extend(agreements(&assignment, &measured));
    }
    let settings = report_settings(schedule, settings);
    Ok(Report { rows, checks, settings, seed: arguments.seed, version: env!("CARGO_PKG_VERSION") })
}

fn work_settings(arguments: &Arguments) -> Result<WorkSettings> {
    Ok(WorkSettings {
        threads: arguments.threads.into(),
        seed: arguments.seed,
        at: arguments.at.into(),
        ess_stop: 0.6,
        problem: AdaisProblem::oscillators()?,
    })
}

fn schedule(arguments: &Arguments) -> Schedule {
    let warm_up_ms = 150.0;
    match arguments.quick {
        true => Schedule { turns: 3, rounds: 5, warm_up_ms },
        false => Schedule { turns: 10, rounds: 10, warm_up_ms },
    }
}

fn report_settings(schedule: Schedule, settings: &WorkSettings) -> Settings {
    Settings {
        turns: schedule.turns,
        rounds: schedule.rounds,
        threads: settings.threads,
        at: settings.at,
        ess_stop: settings.ess_stop,
    }
}

fn start_peers(arguments: &Arguments) -> Result<Vec<Peer>> {
    let Some(python) = &arguments.peers else { return Ok(Vec::new()) };
    let start = |name: &&str| {
        let script = arguments.workers.join(format!("{name}_worker.py"));
        let mut command = Command::new(python);
        command.arg(script).args(["--threads", &arguments.threads.to_string()]);
        Peer::start(name, &mut command, PATIENCE)
    };
    PEERS.iter().map(start).collect()
}

fn assignments(settings: &WorkSettings, problem: &Path) -> [Assignment; 4] {
    let adais = |ess_stop: f64| {
        let request = Request::new("adais").with("problem", problem.to_string_lossy().as_ref());
        request.with("at", settings.at).with("seed", settings.seed).with("ess_stop", ess_stop)
    };
    [
        Assignment { name: "w2", request: Some(Request::new("w2")), golden: Some(inputs::w2_reference()) },
        Assignment { name: "adais-all", request: Some(adais(NEVER_STOP)), golden: None },
        Assignment { name: "adais-early", request: Some(adais(settings.ess_stop)), golden: None },
        Assignment { name: "tracked", request: None, golden: None },
    ]
}

fn contestants<'a>(
    assignment: &'a Assignment,
    works: &'a mut [Box<dyn Work>],
    peers: &'a mut [Peer],
) -> Vec<Contestant<'a>> {
    let own = works.iter_mut().filter(|w| w.name() == assignment.name).map(|w| Contestant::Own(w.as_mut()));
    let request = assignment.request.as_ref();
    own.chain(peers.iter_mut().filter_map(|p| Some(Contestant::Peer(p, request?)))).collect()
}

/// Everyone against the reference engine; without it against the known numbers.
fn agreements(assignment: &Assignment, measured: &[Measured]) -> Vec<Agreement> {
    let known = assignment.golden.as_ref().map(|check| ("known numbers", check));
    let torch = measured.iter().find(|m| m.is_reference);
    let Some(reference) = torch.and_then(|m| Some((m.engine.as_str(), m.check.as_ref()?))).or(known) else {
        return Vec::new();
    };
    let others = measured.iter().filter(|m| !m.is_reference);
    others.filter_map(|m| Some(compare(assignment.name, (&m.engine, m.check.as_ref()?), reference))).collect()
}

fn print(report: &Report) {
    print!("{}", report::table(&report.rows));
    for c in &report.checks {
        let verdict = if c.agrees { "agrees" } else { "DISAGREES" };
        println!("{}: {} {verdict} with {}: {}", c.work, c.engine, c.reference, c.detail);
    }
    if report.rows.is_empty() {
        println!("nothing was timed: no work of our own is registered; try --peers");
    }
}
