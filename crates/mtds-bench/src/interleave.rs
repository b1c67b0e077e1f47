//! Lets our works and the peers take turns, so that a busy moment of the machine hits all of them.

use std::time::Duration;

use crate::check::Check;
use crate::error::Result;
use crate::peer::Peer;
use crate::protocol::Request;
use crate::work::Work;

/// A pause before each turn: idle threads of the engine before may spin for up to 200 ms (OpenMP's block time).
const PAUSE: Duration = Duration::from_millis(250);

/// The peers that ratios refer to; every work has at most one of them.
const REFERENCES: [&str; 3] = ["torch", "numpyro", "torch_cuda"];

/// How many rounds, and how they are cut into turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// How often every engine gets its turn.
    pub turns: usize,
    /// Rounds in one turn.
    pub rounds: usize,
    /// Before them, rounds that do not count for this long, none for 0: after a pause the system may run all threads of an
    /// engine on one core, and takes some 50 ms to spread them.
    pub warm_up_ms: f64,
}

/// Whoever does one work.
pub enum Contestant<'a> {
    /// In this process.
    Own(&'a mut dyn Work),
    /// In a worker process.
    Peer(&'a mut Peer, &'a Request),
}

/// What one contestant did.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name of the engine, with its version.
    pub engine: String,
    /// Threads that it used.
    pub threads: usize,
    /// Whether the ratios refer to it.
    pub is_reference: bool,
    /// Time of every round, in milliseconds.
    pub ms: Vec<f64>,
    /// What it computed.
    pub check: Option<Check>,
}

impl Contestant<'_> {
    fn describe(&self) -> (String, usize, bool) {
        match self {
            Self::Own(work) => (format!("mtds {}", env!("CARGO_PKG_VERSION")), work.threads(), false),
            Self::Peer(peer, _) => {
                (peer.engine().to_string(), peer.threads(), REFERENCES.contains(&peer.name()))
            }
        }
    }

    fn check(&mut self) -> Result<Option<Check>> {
        match self {
            Self::Own(work) => work.check(),
            Self::Peer(peer, request) => peer.check(request).map(Some),
        }
    }

    /// Rounds that do not count, for about `ms` milliseconds.
    fn warm_up(&mut self, ms: f64) -> Result<()> {
        let mut left = ms;
        let mut n = 1;
        while left > 0.0 {
            let took = self.times(n)?.into_iter().sum::<f64>();
            left -= took;
            n = (left / took.max(0.1) * n as f64).ceil().clamp(1.0, 1000.0) as usize;
        }
        Ok(())
    }

    fn times(&mut self, n: usize) -> Result<Vec<f64>> {
        match self {
            Self::Own(work) => (0..n).map(|_| work.round()).collect(),
            Self::Peer(peer, request) => peer.times(request, n),
        }
    }
}

/// Checks every contestant, lets each warm up with one round, then interleaves the turns, each of which begins
/// with rounds that do not count.
///
/// The order rotates from turn to turn, so that nobody always follows the same engine.
///
/// # Errors
/// The first failure of a work or of a peer.
pub fn measure(contestants: &mut [Contestant], schedule: Schedule) -> Result<Vec<Measured>> {
    let mut measured = Vec::with_capacity(contestants.len());
    for contestant in contestants.iter_mut() {
        let (engine, threads, is_reference) = contestant.describe();
        let check = contestant.check()?;
        contestant.times(1)?;
        measured.push(Measured { engine, threads, is_reference, ms: Vec::new(), check });
    }
    for turn in 0..schedule.turns {
        for i in 0..contestants.len() {
            let who = (turn + i) % contestants.len();
            std::thread::sleep(PAUSE);
            contestants[who].warm_up(schedule.warm_up_ms)?;
            measured[who].ms.extend(contestants[who].times(schedule.rounds)?);
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Logged {
        label: char,
        log: Rc<RefCell<String>>,
    }

    impl Work for Logged {
        fn name(&self) -> &str {
            "w2"
        }
        fn threads(&self) -> usize {
            3
        }
        fn round(&mut self) -> Result<f64> {
            self.log.borrow_mut().push(self.label);
            Ok(self.log.borrow().len() as f64)
        }
        fn check(&mut self) -> Result<Option<Check>> {
            Ok(None)
        }
    }

    #[test]
    fn turns_interleave_and_their_order_rotates() {
        let log = Rc::new(RefCell::new(String::new()));
        let mut works = ['a', 'b', 'c'].map(|label| Logged { label, log: Rc::clone(&log) });
        let mut contestants: Vec<_> = works.iter_mut().map(|w| Contestant::Own(w)).collect();
        let measured = measure(&mut contestants, Schedule { turns: 2, rounds: 2, warm_up_ms: 0.0 }).unwrap();
        assert_eq!(*log.borrow(), "abcaabbccbbccaa");
        assert_eq!(measured[0].ms, [4.0, 5.0, 14.0, 15.0]);
        assert!(measured.iter().all(|m| m.threads == 3 && !m.is_reference && m.engine.starts_with("mtds ")));
    }

    #[cfg(unix)]
    #[test]
    fn a_peer_called_torch_is_the_reference() {
        let script = r#"echo '{"ready": true, "engine": "torch 0", "threads": 1}'
            while read line; do case "$line" in
                *check*) echo '{"loss": 1.0, "gradient_norms": {}}';;
                *) echo '{"ms": [2.0]}';;
            esac; done"#;
        let mut command = std::process::Command::new("sh");
        let mut peer = Peer::start("torch", command.args(["-c", script]), Duration::from_secs(5)).unwrap();
        let request = Request::new("w2");
        let schedule = Schedule { turns: 3, rounds: 1, warm_up_ms: 0.0 };
        let measured = measure(&mut [Contestant::Peer(&mut peer, &request)], schedule).unwrap();
        assert!(measured[0].is_reference && measured[0].check.is_some());
        assert_eq!(measured[0].ms, [2.0; 3]);
    }
}
