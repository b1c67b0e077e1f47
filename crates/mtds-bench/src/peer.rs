//! A peer: a worker process that lives for the whole run and answers one request at a time.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use crate::check::Check;
use crate::error::{Error, Result};
use crate::protocol::{self, Ready, Request};

/// How many lines of a dead worker's error output an error shows.
const STDERR_LINES: usize = 8;
/// How much of a wrong answer an error shows.
const SHOWN_CHARS: usize = 120;
/// How long a worker may take to leave after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// A running worker. Dropping it ends the process.
#[derive(Debug)]
pub struct Peer {
    name: String,
    ready: Ready,
    pipe: Pipe,
}

impl Peer {
    /// Starts `command` and waits until it is ready; `patience` bounds the wait for this and every answer.
    ///
    /// # Errors
    /// If the process does not start, ends, stays silent, or says something else than the protocol.
    pub fn start(name: &str, command: &mut Command, patience: Duration) -> Result<Self> {
        let mut pipe = Pipe::open(name, command, patience)?;
        let line = pipe.receive()?;
        let ready = protocol::parse_ready(&line).map_err(|why| pipe.garbage(&line, why))?;
        Ok(Self { name: name.to_string(), ready, pipe })
    }

    /// Short name, e.g. `torch`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Library, version and mode.
    pub fn engine(&self) -> &str {
        &self.ready.engine
    }

    /// Threads that it uses.
    pub fn threads(&self) -> usize {
        self.ready.threads
    }

    /// Times of `n` rounds, in milliseconds.
    ///
    /// # Errors
    /// Whatever the peer did wrong.
    pub fn times(&mut self, request: &Request, n: usize) -> Result<Vec<f64>> {
        let line = self.pipe.ask(&request.rounds(n))?;
        protocol::parse_times(&line, n).map_err(|why| self.pipe.garbage(&line, why))
    }

    /// What the peer computes for this work.
    ///
    /// # Errors
    /// Whatever the peer did wrong.
    pub fn check(&mut self, request: &Request) -> Result<Check> {
        let line = self.pipe.ask(&request.check())?;
        protocol::parse_check(&line).map_err(|why| self.pipe.garbage(&line, why))
    }
}

/// The process and its three streams; owns the clean-up, so that a worker that never got ready ends too.
#[derive(Debug)]
struct Pipe {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
    stderr_tail: Option<JoinHandle<VecDeque<String>>>,
    patience: Duration,
}

impl Pipe {
    fn open(name: &str, command: &mut Command, patience: Duration) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| Error::PeerStart {
            peer: name.to_string(),
            command: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (send, answers) = channel();
        spawn(move || {
            for line in stdout.into_iter().flat_map(|s| BufReader::new(s).lines()).map_while(|l| l.ok()) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr_tail = Some(spawn(move || stderr.map(last_lines).unwrap_or_default()));
        Ok(Self { name: name.to_string(), child, stdin, answers, stderr_tail, patience })
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        let sent =
            self.stdin.as_mut().is_some_and(|s| writeln!(s, "{request}").and_then(|()| s.flush()).is_ok());
        if !sent {
            return Err(self.ended());
        }
        let line = self.receive()?;
        match protocol::refusal(&line) {
            Some(why) => {
                Err(Error::PeerRefused { peer: self.name.clone(), request: request.to_string(), why })
            }
            None => Ok(line),
        }
    }

    fn receive(&mut self) -> Result<String> {
        self.answers.recv_timeout(self.patience).map_err(|e| match e {
            RecvTimeoutError::Timeout => {
                Error::PeerSilent { peer: self.name.clone(), seconds: self.patience.as_secs() }
            }
            RecvTimeoutError::Disconnected => self.ended(),
        })
    }

    fn garbage(&self, line: &str, why: String) -> Error {
        let line = line.chars().take(SHOWN_CHARS).collect();
        Error::PeerGarbage { peer: self.name.clone(), line, why }
    }

    fn ended(&mut self) -> Error {
        let status = match self.wait(QUIT_TIME) {
            Some(status) => status.to_string(),
            None => "it closed its output but runs on".to_string(),
        };
        self.end();
        let tail = self.stderr_tail.take().and_then(|t| t.join().ok()).unwrap_or_default();
        let stderr = tail.iter().map(|line| format!("\n  {line}")).collect();
        Error::PeerEnded { peer: self.name.clone(), status, stderr }
    }

    fn wait(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < patience {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    fn end(&mut self) {
        drop(self.stdin.take());
        if self.wait(QUIT_TIME).is_none() {
            // It may have ended by itself in between: both calls then fail, and that is fine.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let Some(stdin) = self.stdin.as_mut() {
            // A worker that has ended already cannot read it.
            let _ = writeln!(stdin, "{}", protocol::quit());
        }
        self.end();
    }
}

fn last_lines(stream: impl Read) -> VecDeque<String> {
    let mut tail = VecDeque::new();
    for line in BufReader::new(stream).lines().map_while(|l| l.ok()) {
        if tail.len() == STDERR_LINES {
            tail.pop_front();
        }
        tail.push_back(line);
    }
    tail
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const READY: &str = r#"echo '{"ready": true, "engine": "fake 1", "threads": 1}'"#;

    fn start(script: &str) -> Result<Peer> {
        Peer::start("fake", Command::new("sh").args(["-c", script]), Duration::from_secs(2))
    }

    fn times_after(script: &str) -> String {
        let mut peer = start(&format!("{READY}; read line; {script}")).unwrap();
        peer.times(&Request::new("w2"), 2).unwrap_err().to_string()
    }

    #[test]
    fn a_well_behaved_peer_answers_each_request() {
        let script = format!(r#"{READY}; while read line; do echo '{{"ms": [3.0, 4.0]}}'; done"#);
        let mut peer = start(&script).unwrap();
        assert_eq!((peer.name(), peer.engine(), peer.threads()), ("fake", "fake 1", 1));
        for _ in 0..3 {
            assert_eq!(peer.times(&Request::new("w2"), 2).unwrap(), [3.0, 4.0]);
        }
    }

    #[test]
    fn a_peer_that_dies_is_named_with_its_last_words() {
        let error = times_after("echo 'no module named torch' >&2; exit 3");
        assert!(error.contains("peer `fake` ended") && error.contains("exit status: 3"), "{error}");
        assert!(error.contains("no module named torch"), "{error}");
        let error = start("exit 4").unwrap_err().to_string();
        assert!(error.contains("peer `fake` ended") && error.contains("exit status: 4"), "{error}");
    }

    #[test]
    fn a_peer_that_answers_garbage_is_named_with_its_answer() {
        let error = times_after("echo 'Segmentation fault (maybe)'");
        assert!(error.contains("peer `fake` answered `Segmentation fault (maybe)`"), "{error}");
        let error = start("echo hello; sleep 1").unwrap_err().to_string();
        assert!(error.contains("peer `fake` answered `hello`") && error.contains("ready"), "{error}");
    }

    #[test]
    fn a_peer_that_refuses_is_quoted() {
        let error = times_after(r#"echo '{"error": "ValueError: no work"}'"#);
        assert!(error.contains("peer `fake` could not do") && error.contains("no work"), "{error}");
    }

    #[test]
    fn a_silent_peer_does_not_hang_the_run() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 60"]);
        let begin = Instant::now();
        let error = Peer::start("fake", &mut command, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("peer `fake` gave no answer"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_missing_interpreter_is_named() {
        let mut command = Command::new("no-such-interpreter");
        let error = Peer::start("fake", &mut command, Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("peer `fake`: cannot start `no-such-interpreter`"), "{error}");
    }
}
