//! Makes a text on which something fails as small as it can be, so that a person sees why.
//!
//! Zeller and Hildebrandt's ddmin ("Simplifying and isolating failure-inducing input", TSE 2002) in its simplest form:
//! take out runs of lines, then of characters, of ever smaller size, as long as what is left still fails.

/// The smallest text found on which `fails` holds, as it does on `text`. `fails` is asked less than `tries` times.
pub fn minimise(text: &str, tries: usize, mut fails: impl FnMut(&str) -> bool) -> String {
    let mut tries_left = tries;
    let mut fails = |text: &str| {
        tries_left = tries_left.saturating_sub(1);
        tries_left > 0 && fails(text)
    };
    let by_lines = shorten(text.split_inclusive('\n').map(str::to_owned).collect(), &mut fails);
    shorten(by_lines.chars().map(String::from).collect(), &mut fails)
}

/// Takes out runs of `parts`, of ever smaller size, as long as what is left fails.
fn shorten(mut parts: Vec<String>, fails: &mut impl FnMut(&str) -> bool) -> String {
    let mut size = parts.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < parts.len() {
            let end = (start + size).min(parts.len());
            let kept = parts.iter().take(start).chain(parts.iter().skip(end)).map(String::as_str);
            if fails(&kept.collect::<String>()) {
                parts.drain(start..end);
            } else {
                start = end;
            }
        }
        size /= 2;
    }
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn what_does_not_matter_goes() {
        let text = "one\ntwo\nthree (x)\nfour\n".repeat(20);
        assert_eq!(minimise(&text, 10_000, |text| text.contains('x') && text.contains('w')).len(), 2);
    }

    #[test]
    fn the_number_of_tries_is_bounded() {
        let mut asked = 0;
        let text = "abc".repeat(1000);
        minimise(&text, 50, |_| {
            asked += 1;
            false
        });
        assert_eq!(asked, 49);
    }
}
