//! `flux explain`

use crate::arguments::Explain;
use crate::failure::{Failure, Result};
use crate::terminal::print;
use flux_diagnostic::{nearest, page};

/// Prints the page of a diagnostic, or lists them all.
pub fn explain(arguments: &Explain) -> Result {
    let Some(id) = &arguments.id else {
        for id in page::ids() {
            let title =
                page::page(id).and_then(|text| text.lines().find(|line| !line.is_empty() && !line.starts_with('#')));
            print(&format!("{id:<22} {}\n", title.unwrap_or_default()));
        }
        return Ok(());
    };
    match page::page(id) {
        Some(text) => {
            print(text);
            Ok(())
        }
        None => {
            let near = nearest(id, page::ids()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(Failure::usage(format!("there is no diagnostic `{id}`{near} (`flux explain` lists them all)")))
        }
    }
}
