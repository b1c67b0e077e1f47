//! Text from files in messages: never long, and without characters that a terminal would obey.

/// Characters of a message that are kept as they are; beyond them its middle is left out.
const MOST: usize = 2000;
/// Of these, the ones at its end, where advice stands.
const END: usize = 400;

/// The text as it may be shown: control characters and those that turn the direction of writing are spelled out, and what is too long is cut.
#[must_use]
pub fn shown(text: &str) -> String {
    let n_chars = text.chars().count();
    if n_chars <= MOST {
        return spelled_out(text);
    }
    let place = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (start, end) = (&text[..place(MOST - END)], &text[place(n_chars - END)..]);
    format!("{} … ({} characters left out) … {}", spelled_out(start), n_chars - MOST, spelled_out(end))
}

/// The text with control characters, but for the ends of lines, and those that turn the direction of writing spelled out.
#[must_use]
pub fn spelled_out(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            _ if c.is_control() || turns(c) => out.extend(c.escape_default()),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_reach_a_terminal_and_zeros_are_cut() {
        assert_eq!(shown("a\u{1b}[31mb\u{7}\n\u{202e}ü"), "a\\u{1b}[31mb\\u{7}\n\\u{202e}ü");
        let long = shown(&format!("found `{}`; write it again", "\0".repeat(1 << 20)));
        assert!(long.len() < 20_000 && long.ends_with("write it again"), "{}", long.len());
        assert!(long.contains("characters left out"));
        let just = "x".repeat(MOST);
        assert_eq!(shown(&just), just);
    }
}
