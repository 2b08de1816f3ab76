//! The pages that explain the diagnostics: `flux explain ID` shows them, and `flux_mdtest` runs their examples.
//!
//! A page is the Markdown file `pages/ID.md` of this crate and travels inside the binary. `flux_tidy` checks that every
//! id has a page and every page an id.

use include_dir::{Dir, include_dir};

static PAGES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/pages");

/// The page of the diagnostic `id`, as Markdown; none where there is no such id.
pub fn page(id: &str) -> Option<&'static str> {
    PAGES.get_file(format!("{id}.md"))?.contents_utf8()
}

/// Every id that has a page, in alphabetical order.
pub fn ids() -> Vec<&'static str> {
    let names = PAGES.files().filter_map(|file| file.path().file_name()?.to_str());
    let mut ids: Vec<_> = names.filter_map(|name| name.strip_suffix(".md")).collect();
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_found_by_its_id_and_named_after_it() {
        let ids = ids();
        assert!(!ids.is_empty(), "no pages were embedded");
        for id in ids {
            let text = page(id).expect("an id that is listed has a page");
            let title = text.lines().next().unwrap_or("");
            assert!(title.starts_with("# ") && title.contains(id), "pages/{id}.md does not open with `# {id}`");
        }
    }

    #[test]
    fn nothing_else_has_a_page() {
        assert_eq!(page("no-such-id"), None);
        assert_eq!(page("../Cargo"), None);
        assert_eq!(page(""), None);
    }
}
