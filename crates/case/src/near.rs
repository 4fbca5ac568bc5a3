//! "Did you mean …?"

/// The candidate that `word` most probably meant, if one is near enough.
///
/// Distance is Damerau-Levenshtein on lower-case text; a third of the word's length (at least one) may differ.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.trim().to_lowercase();
    // A long value is prose, not a misspelt word; comparing it would also be slow.
    if word.is_empty() || word.len() > 80 {
        return None;
    }
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
