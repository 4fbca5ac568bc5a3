//! Folding of characters that look alike to a person: full-width forms and case.

/// The character as it is compared: full-width ASCII becomes ASCII, letters become lower case.
///
/// Characters whose lower case is longer than one character are left alone, so a fold never changes the
/// number of characters.
#[must_use]
pub fn fold_char(c: char) -> char {
    let narrow = match c {
        '\u{3000}' | '\u{a0}' => ' ',
        '\u{2018}' | '\u{2019}' => '\'',
        // The full-width block mirrors ASCII at a fixed distance.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    if narrow.is_ascii() {
        return narrow.to_ascii_lowercase();
    }
    // Chinese has no case.
    if narrow >= '\u{2e80}' {
        return narrow;
    }
    let mut lower = narrow.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => narrow,
    }
}

/// A word of a closed vocabulary or a field name as it is compared: case, width, spaces, dashes and
/// underscores do not count.
pub(crate) fn fold_word(text: &str) -> String {
    text.chars()
        .map(fold_char)
        .filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_' | '\u{200b}' | '\u{feff}' | '‐' | '–' | '—'))
        .collect()
}

/// Ways in which people write "nothing here".
#[must_use]
pub fn is_placeholder(text: &str) -> bool {
    // Prose is no placeholder; folding it would be wasted.
    if text.len() > 32 {
        return false;
    }
    let folded = fold_word(text);
    text.trim() == "-"
        || text.trim() == "--"
        || matches!(folded.as_str(), "n/a" | "na" | "null" | "nil" | "none" | "tbd" | "todo" | "无" | "暂无" | "待补充")
}
