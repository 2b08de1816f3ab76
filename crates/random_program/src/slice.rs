//! Slices of long tests. An ordinary run of the tests tries only a slice of some grammars, seeds and files. Each commit
//! has its own slice. `make soak` tries all slices.

/// Whether a test tries the part with this number. A slice has one in `parts` of them. The environment variable
/// `FLUX_TEST_SLICE` is the number of the slice. Without a number, tests try all parts.
#[expect(clippy::disallowed_methods, reason = "what runs the tests chooses the slice")]
pub fn is_in_slice(part: u64, parts: u64) -> bool {
    is_in(std::env::var("FLUX_TEST_SLICE").ok().and_then(|slice| slice.parse().ok()), part, parts)
}

fn is_in(slice: Option<u64>, part: u64, parts: u64) -> bool {
    slice.is_none_or(|slice| part % parts == slice % parts)
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn slices_are_the_whole_together_and_share_nothing() {
        for part in 0..8 {
            assert!(is_in(None, part, 4));
            assert_eq!((0..4).filter(|slice| is_in(Some(*slice), part, 4)).count(), 1);
        }
        assert!(is_in(Some(4_000_000_001), 5, 4) && !is_in(Some(4_000_000_001), 6, 4));
    }
}
