//! The program `mtds-bench`: reads the options, runs every work, prints the table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use mtds::Device;
use mtds::parts::Products;
use mtds_bench::agreement::{Agreement, compare};
use mtds_bench::check::Check;
use mtds_bench::interleave::{Contestant, Measured, Schedule, measure};
use mtds_bench::peer::Peer;
use mtds_bench::problem::AdaisProblem;
use mtds_bench::protocol::Request;
use mtds_bench::report::{self, Note, Report, Row, Settings};
use mtds_bench::work::{Work, WorkSettings, own_works, seed, stl, w1, w2};
use mtds_bench::{Error, Result, inputs, w1_inputs};

/// The peers, each with its worker `<name>_worker.py`.
const FRAMEWORKS: &[&str] = &["torch", "jax"];
/// The peer on a graphics card: steps of learning as a CUDA graph.
const ON_CARD: &[&str] = &["torch_cuda"];
const SAMPLERS: &[&str] = &["numpyro"];
/// An ESS can never be twice the number of draws: every pass is taken.
const NEVER_STOP: f64 = 2.0;
/// What `--only` takes.
const NAMES: [&str; 10] = [
    w1::NAME,
    w1::Generate::NAME,
    w1::ALL_SIZES,
    w2::NAME,
    "adais-all",
    "adais-early",
    "tracked",
    seed::NAMES[0],
    seed::NAMES[1],
    stl::NAME,
];
/// Compilation by a peer on a busy machine takes minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Times mtds, and with --peers also PyTorch, JAX and NumPyro, interleaved in one run
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
    /// Only these works: w1, w1-generate, w2, adais-all, adais-early, tracked, seed-map, seed-importance,
    /// stl-nuts, and w1-sizes, which is not run otherwise
    #[arg(long, value_name = "WORK", value_delimiter = ',', value_parser = NAMES)]
    only: Vec<String>,
    /// The step at which the update of the posterior is timed
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(10..=80))]
    at: u16,
    /// Where w1, w1-sizes and w2 are computed, the only works then: cpu, or the first graphics card
    #[arg(long, default_value = "cpu", value_parser = ["cpu", "cuda"])]
    device: String,
    /// Products on the card: exact (as f32) or tf32, of ours and of the peer
    #[arg(long, default_value = "exact", value_parser = ["exact", "tf32"])]
    products: String,
    /// Seed of whatever is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// One work, whoever does it.
struct Assignment {
    name: &'static str,
    /// Who else does it.
    peers: &'static [&'static str],
    /// What a peer is asked.
    request: Request,
    /// Known numbers, to compare with where there are no peers.
    golden: Option<Check>,
}

impl Assignment {
    /// Fewer and single rounds for works that take seconds, for `stl-nuts` one per sequence.
    fn schedule(&self, usual: Schedule) -> Schedule {
        match self.name {
            stl::NAME => Schedule { turns: usual.turns.min(stl::N_SEQ), rounds: 1, warm_up_ms: 0.0 },
            w1::NAME => Schedule { rounds: usual.rounds.min(3), ..usual },
            _ if self.is_size() => Schedule { turns: usual.turns.min(5), rounds: 2, warm_up_ms: 0.0 },
            _ => usual,
        }
    }

    fn is_size(&self) -> bool {
        w1::SIZES.iter().any(|(name, _)| *name == self.name)
    }

    /// Whether a graphics card does it: steps of learning.
    fn runs_on_card(&self) -> bool {
        [w1::NAME, w2::NAME].contains(&self.name) || self.is_size()
    }

    fn is_wanted(&self, only: &[String]) -> bool {
        let named = |name: &str| only.iter().any(|wanted| wanted == name);
        if self.is_size() { named(w1::ALL_SIZES) } else { only.is_empty() || named(self.name) }
    }
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
    let schedule = schedule(arguments);
    let mut assignments = assignments(settings, &problem);
    assignments.retain(|assignment| assignment.is_wanted(&arguments.only));
    if settings.card.is_some() {
        assignments.retain(Assignment::runs_on_card);
        assignments.iter_mut().for_each(|assignment| assignment.peers = ON_CARD);
    }
    let mut peers = start_peers(arguments, &assignments)?;
    let (mut rows, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for assignment in assignments {
        let schedule = assignment.schedule(schedule);
        let measured = measure(&mut contestants(&assignment, &mut works, &mut peers), schedule)?;
        let own_rows = report::rows(assignment.name, &measured);
        notes.extend(note(&mut works, &own_rows));
        rows.extend(own_rows);
        let found = agreements(&assignment, &measured);
        checks.extend(
            found.into_iter().map(|check| if is_rounded(arguments) { check.of_rounded() } else { check }),
        );
    }
    let settings = report_settings(schedule, settings, arguments);
    Ok(Report { rows, checks, notes, settings, seed: arguments.seed, version: env!("CARGO_PKG_VERSION") })
}

/// What our own work says about its row, the first of a work.
fn note(works: &mut [Box<dyn Work>], rows: &[Row]) -> Option<Note> {
    let row = rows.first()?;
    let work = works.iter_mut().find(|work| work.name() == row.work)?;
    Some(Note { work: row.work.clone(), text: work.note(row.median_ms)? })
}

fn work_settings(arguments: &Arguments) -> Result<WorkSettings> {
    Ok(WorkSettings {
        threads: arguments.threads.into(),
        seed: arguments.seed,
        at: arguments.at.into(),
        ess_stop: 0.6,
        problem: AdaisProblem::oscillators()?,
        card: card(arguments)?,
    })
}

/// Whether products are of rounded factors.
fn is_rounded(arguments: &Arguments) -> bool {
    arguments.device != "cpu" && arguments.products == "tf32"
}

/// The card, where it is asked for.
fn card(arguments: &Arguments) -> Result<Option<Device>> {
    if arguments.device == "cpu" {
        return Ok(None);
    }
    let products = if arguments.products == "tf32" { Products::Tf32 } else { Products::Exact };
    let opened = Device::cuda(0, products, None);
    opened.map(Some).map_err(|source| Error::Own { work: w1::NAME.into(), source })
}

fn schedule(arguments: &Arguments) -> Schedule {
    let warm_up_ms = 150.0;
    match arguments.quick {
        true => Schedule { turns: 3, rounds: 5, warm_up_ms },
        false => Schedule { turns: 10, rounds: 10, warm_up_ms },
    }
}

fn report_settings(schedule: Schedule, settings: &WorkSettings, arguments: &Arguments) -> Settings {
    Settings {
        device: settings.card.as_ref().map_or("cpu", Device::name).to_owned(),
        products: arguments.products.clone(),
        turns: schedule.turns,
        rounds: schedule.rounds,
        threads: settings.threads,
        at: settings.at,
        ess_stop: settings.ess_stop,
    }
}

/// Those that some work needs.
fn start_peers(arguments: &Arguments, assignments: &[Assignment]) -> Result<Vec<Peer>> {
    let Some(python) = &arguments.peers else { return Ok(Vec::new()) };
    let needed = |name: &&&str| assignments.iter().any(|a| a.peers.contains(*name));
    let start = |name: &&str| {
        let script = arguments.workers.join(format!("{name}_worker.py"));
        let mut command = Command::new(python);
        command.arg(script).args(["--threads", &arguments.threads.to_string()]);
        if ON_CARD.contains(name) {
            command.args(["--products", &arguments.products]);
        }
        Peer::start(name, &mut command, PATIENCE)
    };
    FRAMEWORKS.iter().chain(SAMPLERS).chain(ON_CARD).filter(needed).map(start).collect()
}

fn assignments(settings: &WorkSettings, problem: &Path) -> Vec<Assignment> {
    let on_problem = |work: &str| {
        let request = Request::new(work).with("problem", problem.to_string_lossy().as_ref());
        request.with("at", settings.at).with("seed", settings.seed)
    };
    let adais = |name: &'static str, ess_stop: f64| Assignment {
        name,
        peers: FRAMEWORKS,
        request: on_problem("adais").with("ess_stop", ess_stop),
        golden: None,
    };
    let own = |name: &'static str| Assignment { name, peers: &[], request: Request::new(name), golden: None };
    let sized = |&(name, size): &(&'static str, w1_inputs::W1Size)| Assignment {
        name,
        peers: FRAMEWORKS,
        request: Request::new(w1::NAME).with("hidden", size.hidden).with("batch", size.batch),
        golden: None,
    };
    let (known_w1, known_w2) = (w1_inputs::w1_reference(), inputs::w2_reference());
    let mut assignments = vec![
        Assignment {
            name: w1::NAME,
            peers: FRAMEWORKS,
            request: Request::new(w1::NAME),
            golden: Some(known_w1),
        },
        own(w1::Generate::NAME),
        Assignment {
            name: w2::NAME,
            peers: FRAMEWORKS,
            request: Request::new(w2::NAME),
            golden: Some(known_w2),
        },
        adais("adais-all", NEVER_STOP),
        adais("adais-early", settings.ess_stop),
        own("tracked"),
        own(seed::NAMES[0]),
        own(seed::NAMES[1]),
        Assignment {
            name: stl::NAME,
            peers: SAMPLERS,
            request: on_problem(stl::NAME).with("n_seq", stl::N_SEQ),
            golden: None,
        },
    ];
    assignments.extend(w1::SIZES.iter().map(sized));
    assignments
}

fn contestants<'a>(
    assignment: &'a Assignment,
    works: &'a mut [Box<dyn Work>],
    peers: &'a mut [Peer],
) -> Vec<Contestant<'a>> {
    let own = works.iter_mut().filter(|w| w.name() == assignment.name).map(|w| Contestant::Own(w.as_mut()));
    let asked = peers.iter_mut().filter(|p| assignment.peers.contains(&p.name()));
    own.chain(asked.map(|p| Contestant::Peer(p, &assignment.request))).collect()
}

/// Everyone against the reference engine; without it against the known numbers.
fn agreements(assignment: &Assignment, measured: &[Measured]) -> Vec<Agreement> {
    let known = assignment.golden.as_ref().map(|check| ("known numbers", check));
    let peer = measured.iter().find(|m| m.is_reference);
    let Some(reference) = peer.and_then(|m| Some((m.engine.as_str(), m.check.as_ref()?))).or(known) else {
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
    for note in &report.notes {
        println!("{}: {}", note.work, note.text);
    }
    if report.rows.is_empty() {
        println!("nothing was timed: no work of our own is registered; try --peers");
    }
}
