//! Walks over the bytes of a file, token by token, and says where in it an error is.

use super::number;
use crate::{Error, Result};

/// A place in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Longest piece of the file that an error quotes.
const LONGEST_QUOTE: usize = 40;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c')
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// What ends a word besides blanks and line ends: braces may touch it.
fn ends_word(byte: u8) -> bool {
    is_blank(byte) || is_line_end(byte) || matches!(byte, b'{' | b'}')
}

impl<'a> Scanner<'a> {
    /// At the start of a file, past a byte-order mark.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at }
    }

    /// Past blanks and line ends.
    pub(super) fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| is_blank(byte) || is_line_end(byte)) {
            self.at += 1;
        }
    }

    /// Past blanks, not past the line.
    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// The byte at this place.
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Whether the rest of this line is blank; true at the end of the file.
    pub(super) fn line_is_over(&mut self) -> bool {
        self.skip_blanks();
        self.peek().is_none_or(is_line_end)
    }

    /// The next word: up to a blank, a line end or a brace; a brace is a word of its own; empty at the end.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let start = self.at;
        if matches!(self.peek(), Some(b'{' | b'}')) {
            self.at += 1;
        } else {
            while self.peek().is_some_and(|byte| !ends_word(byte)) {
                self.at += 1;
            }
        }
        &self.bytes[start..self.at]
    }

    /// Takes the next word if it is `keyword`, upper and lower case alike.
    pub(super) fn take(&mut self, keyword: &str) -> bool {
        let mut ahead = *self;
        let taken = ahead.word().eq_ignore_ascii_case(keyword.as_bytes());
        if taken {
            *self = ahead;
        }
        taken
    }

    /// Takes `keyword`, or says what stands in its place.
    pub(super) fn require(&mut self, keyword: &str, hint: &'static str) -> Result<()> {
        if self.take(keyword) { Ok(()) } else { Err(self.error(format!("`{keyword}`"), hint)) }
    }

    /// Takes this text, upper and lower case alike, even where other text touches its end: `Frames:12`.
    pub(super) fn take_text(&mut self, text: &str) -> bool {
        self.skip_space();
        let end = self.at + text.len();
        let taken =
            self.bytes.get(self.at..end).is_some_and(|bytes| bytes.eq_ignore_ascii_case(text.as_bytes()));
        if taken {
            self.at = end;
        }
        taken
    }

    /// The rest of the line up to an opening brace, without blanks at its ends.
    pub(super) fn name(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while self.peek().is_some_and(|byte| !is_line_end(byte) && !matches!(byte, b'{' | b'}')) {
            self.at += 1;
        }
        let mut end = self.at;
        while end > start && is_blank(self.bytes[end - 1]) {
            end -= 1;
        }
        &self.bytes[start..end]
    }

    /// The next word as a finite number.
    #[inline]
    pub(super) fn number(&mut self) -> Result<f64> {
        let before = *self;
        let word = self.word();
        number::parse(word).ok_or_else(|| before.error("a finite number", number_hint(word)))
    }

    /// Whether the next word is the last of the file and could be the beginning of a number.
    pub(super) fn is_cut_off_number(mut self) -> bool {
        let word = self.word();
        let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        !word.is_empty() && word.iter().all(numeric) && self.peek().is_none()
    }

    /// An error at the next word.
    pub(super) fn error(mut self, expected: impl Into<String>, hint: &'static str) -> Error {
        self.skip_space();
        let (line, column) = self.line_and_column();
        let word = self.word();
        let found = match word {
            [] => "the end of the file".to_string(),
            _ => {
                let cut = &word[..word.len().min(LONGEST_QUOTE)];
                let more = if cut.len() < word.len() { "…" } else { "" };
                format!("`{}{more}`", String::from_utf8_lossy(cut).escape_debug())
            }
        };
        Error::Bvh { line, column, expected: expected.into(), found, hint }
    }

    /// Line and column of this place, both from 1; a column is one character, tabs count as one.
    pub(super) fn line_and_column(&self) -> (usize, usize) {
        let before = &self.bytes[..self.at];
        let (mut line, mut start) = (1, 0);
        for (place, &byte) in before.iter().enumerate() {
            // A carriage return ends a line by itself unless a line feed follows.
            if byte == b'\n' || (byte == b'\r' && self.bytes.get(place + 1) != Some(&b'\n')) {
                (line, start) = (line + 1, place + 1);
            }
        }
        let column = 1 + before[start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        (line, column)
    }
}

/// What may be wrong with a word that should have been a number.
fn number_hint(word: &[u8]) -> &'static str {
    let has = |text: &str| word.to_ascii_lowercase().windows(text.len()).any(|part| part == text.as_bytes());
    if word.is_empty() {
        "the file may be cut off"
    } else if has("nan") || has("inf") || has("#") {
        "the exporter wrote a value that is not finite; export again, or delete the frame"
    } else if has(",") {
        "write decimals with a point"
    } else {
        "an OFFSET has three numbers, a frame as many as all CHANNELS together"
    }
}
