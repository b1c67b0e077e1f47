//! A test that cannot be made here says so where somebody sees it: in the summary of `./test.sh`, which names the file for it.

use std::io::Write;

/// Notes that `test` is skipped and why: on stderr, which is kept from view while tests pass, and in the file that `MTDS_SKIPPED` names.
pub fn skip(test: &str, why: &str) {
    eprintln!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("MTDS_SKIPPED") else { return };
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(&path).expect("a file for skipped tests");
    writeln!(file, "{test}: {why}").expect("written");
}
