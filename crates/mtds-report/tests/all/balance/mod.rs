//! A tiny checker: every tag that opens is closed, in order, and every attribute is quoted.

/// Panics with the place of the first fault.
pub fn assert_balanced(markup: &str) {
    let markup = markup.strip_prefix("<!doctype html>\n").unwrap_or(markup);
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        let tail = &rest[start + 1..];
        let end = tail.find('>').unwrap_or_else(|| panic!("a tag never ends: {:.60}", tail));
        let tag = &tail[..end];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order before {:.60}", &tail[end..]);
        } else {
            assert!(!name.is_empty() && tag.matches('"').count().is_multiple_of(2), "faulty tag <{tag}>");
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &tail[end + 1..];
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}
