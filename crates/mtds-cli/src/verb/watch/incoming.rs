//! Lines as they come: read by a thread of its own, so that Ctrl-C is heard while none comes.

use super::line::LONGEST_LINE;
use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// Lines that may wait; the snapshot counts only those that were answered.
const WAITING: usize = 16;

/// What comes.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line beyond the limit; it was skipped.
    TooLong,
    /// Input that cannot be read.
    Failed(io::Error),
}

/// Begins to read; nothing more comes after the end of input or a failure.
pub(super) fn lines(mut input: impl BufRead + Send + 'static) -> Receiver<Incoming> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::spawn(move || {
        loop {
            let (next, is_last) = match next_line(&mut input) {
                Ok(Some(next)) => (next, false),
                Ok(None) => return,
                Err(error) => (Incoming::Failed(error), true),
            };
            if sender.send(next).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

fn next_line(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut line = Vec::new();
    let n = input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)?;
    if n == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if n > LONGEST_LINE {
        input.skip_until(b'\n')?;
        return Ok(Some(Incoming::TooLong));
    }
    Ok(Some(Incoming::Line(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: Vec<u8>) -> Vec<String> {
        let shown = |incoming| match incoming {
            Incoming::Line(line) => String::from_utf8(line).expect("text"),
            Incoming::TooLong => "too long".into(),
            Incoming::Failed(error) => error.to_string(),
        };
        lines(io::Cursor::new(text)).iter().map(shown).collect()
    }

    #[test]
    fn lines_are_cut_at_their_ends_and_long_ones_skipped() {
        assert_eq!(all(b"a\n\nb".to_vec()), ["a", "", "b"]);
        let longest = vec![b'x'; LONGEST_LINE];
        assert_eq!(all([&longest[..], b"\nb\n"].concat())[0].len(), LONGEST_LINE);
        assert_eq!(all([&longest[..], b"xxxx\nb\n"].concat()), ["too long", "b"]);
        assert_eq!(all([&longest[..], b"x"].concat()), ["too long"]);
    }
}
