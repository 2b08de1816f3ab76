//! Every id has a page. (That the pages are right, `flux_mdtest` holds.)

use std::path::Path;

#[test]
fn every_id_has_a_page() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnostic/pages");
    for id in flux_front_flick::ids::ALL {
        assert!(pages.join(format!("{}.md", id.0)).is_file(), "{} has no page", id.0);
    }
    assert!(flux_front_flick::ids::ALL.len() > 7);
}
