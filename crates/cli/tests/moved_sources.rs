//! A build folder is used again for a project that has moved. And where make itself cannot go on, what it says is
//! shown: nobody else does.

use crate::support;
use crate::support::{flux, text};

const PROGRAM: &str = "Make () => (int number);\nsource Make => Use;\nUse (int number) => ();\n";

const NODES: &str = "
#include \"here.flux.h\"

int Make(Make_out *) { return 1; }
int Use(Use_in *) { return 0; }
";

#[test]
fn a_project_that_has_moved_is_built_in_the_folder_that_it_was_built_in_before() {
    let folder = support::folder("moved_sources", "moved");
    let build = ["build", "--debug", "here.flux", "--build-dir", "../made"];
    for place in ["before", "after"] {
        if place == "before" {
            std::fs::create_dir(folder.join(place)).unwrap();
            std::fs::write(folder.join("before/here.flux"), PROGRAM).unwrap();
            std::fs::write(folder.join("before/nodes.cpp"), NODES).unwrap();
        } else {
            std::fs::rename(folder.join("before"), folder.join(place)).unwrap();
        }
        let built = flux(&folder.join(place), &build);
        assert!(built.status.success(), "{place}: {}", text(&built.stderr));
    }

    // What is in make's way is a folder where an object is to be.
    std::fs::remove_file(folder.join("made/nodes.cpp.o")).unwrap();
    std::fs::create_dir_all(folder.join("made/nodes.cpp.o/in_the_way")).unwrap();
    let failed = flux(&folder.join("after"), &build);
    assert!(!failed.status.success());
    assert!(text(&failed.stderr).contains("nodes.cpp.o"), "{}", text(&failed.stderr));
}
