//! Has the crate built again when a page is added or taken away: `include_dir` by itself notices changed pages alone.

fn main() {
    println!("cargo::rerun-if-changed=pages");
}
