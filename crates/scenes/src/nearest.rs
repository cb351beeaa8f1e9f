//! The known name most like a misspelt one.
//!
//! Levenshtein's distance: the least number of letters inserted, deleted or replaced.

/// The nearest of `known`, unless even that one differs in more than about a third.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (name, distance) = known
        .into_iter()
        .map(|name| (name, distance(&word, name)))
        .min_by_key(|(_, distance)| *distance)?;
    let begins = word.chars().count() >= 3 && name.starts_with(&word);
    let limit = 1 + word.chars().count().max(name.chars().count()) / 3;
    (begins || distance <= limit).then_some(name)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("spin", "spin"), 0);
    }

    #[test]
    fn suggests_only_what_is_close() {
        let known = ["pendulum", "heavy-top", "t-handle"];
        assert_eq!(nearest("pendlum", known), Some("pendulum"));
        assert_eq!(nearest("Heavy-Top", known), Some("heavy-top"));
        assert_eq!(nearest("pend", known), Some("pendulum"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
