//! Inflection of English words: "hangs", "hung up"'s regular cousins "hanging", "swapped" become one base.
//!
//! Only inflection, not derivation: a stemmer would also make "business" of "busy".

/// Length of the prefix of the lower-case word that is its base, and letters to put behind it.
///
/// A final "e" is dropped from every word, so that "throttle" and "throttled" meet.
pub(crate) fn base(word: &[u8]) -> (usize, &'static str) {
    let len = word.len();
    if len < 4 {
        return (len, "");
    }
    if word.ends_with(b"ies") || word.ends_with(b"ied") {
        return (len - 3, "y");
    }
    if word.ends_with(b"ing") && has_vowel(&word[..len - 3]) && len >= 6 {
        return (undouble(&word[..len - 3]), "");
    }
    if word.ends_with(b"ed") && !word.ends_with(b"eed") && has_vowel(&word[..len - 2]) && len >= 5 {
        return (undouble(&word[..len - 2]), "");
    }
    let after_hiss = |ending: &[u8]| matches!(ending, b"xes" | b"hes" | b"zes" | b"ses");
    if len >= 5 && after_hiss(&word[len - 3..]) && !word.ends_with(b"uses") {
        return (without_e(&word[..len - 2]), "");
    }
    if word.ends_with(b"s") && !matches!(word[len - 2], b's' | b'u' | b'i') {
        return (without_e(&word[..len - 1]), "");
    }
    (without_e(word), "")
}

fn without_e(word: &[u8]) -> usize {
    if word.len() >= 4 && word.ends_with(b"e") { word.len() - 1 } else { word.len() }
}

/// "swapp" is "swap", but "stall" and "miss" keep both letters.
fn undouble(word: &[u8]) -> usize {
    match word {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z' | b'f' | b'e' | b'o') => word.len() - 1,
        _ => without_e(word),
    }
}

fn has_vowel(word: &[u8]) -> bool {
    word.iter().any(|b| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> String {
        let (kept, tail) = base(word.as_bytes());
        format!("{}{tail}", &word[..kept])
    }

    #[test]
    fn forms_of_one_word_have_one_base() {
        for forms in [
            &["hang", "hangs", "hanging"][..],
            &["swap", "swaps", "swapped", "swapping"],
            &["throttle", "throttles", "throttled", "throttling"],
            &["stall", "stalls", "stalled", "stalling"],
            &["apply", "applies", "applied", "applying"],
            &["saturate", "saturates", "saturated", "saturating"],
            &["queue", "queues", "queued"],
            &["miss", "misses", "missed", "missing"],
            &["latch", "latches"],
            &["write", "writes", "writing"],
            &["degrade", "degraded"],
            &["flush", "flushes", "flushed"],
        ] {
            let bases: Vec<String> = forms.iter().map(|form| of(form)).collect();
            assert!(bases.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?} -> {bases:?}");
        }
    }

    #[test]
    fn different_words_stay_different() {
        for (a, b) in [("file", "fill"), ("busy", "business"), ("status", "stat"), ("need", "ne"), ("string", "str")] {
            assert_ne!(of(a), of(b));
        }
    }
}
