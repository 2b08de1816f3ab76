//! What the linker says: functions and libraries that it does not find.

use std::collections::BTreeMap;

/// The name in `undefined reference to `Name(Name_in*, Name_out*)'`.
pub fn undefined(line: &str) -> Option<&str> {
    let after = line.split("undefined reference to `").nth(1)?;
    let name = after.split(['(', '\'']).next()?;
    Some(name.trim())
}

/// The library of `cannot find -lname: No such file or directory`, or lld's `unable to find library -lname`.
pub fn missing_library(line: &str) -> Option<&str> {
    let phrases = ["cannot find -l", "unable to find library -l"];
    let after = phrases.iter().find_map(|phrase| line.split_once(phrase))?.1;
    after.split([':', ' ']).next()
}

/// The functions that are called and nobody defines, those that `is_asked` by the program apart; each with where it is
/// called first: a path and a line.
pub fn undefined_calls(output: &str, is_asked: impl Fn(&str) -> bool) -> BTreeMap<&str, Option<(&str, u32)>> {
    let mut found = BTreeMap::new();
    for line in output.lines() {
        if let Some(name) = undefined(line).filter(|name| !is_asked(name)) {
            found.entry(name).or_insert_with(|| place(line));
        }
    }
    found
}

/// The source and the line that begin `../nodes.cpp:12: undefined …`; the linker's own name may come first.
fn place(line: &str) -> Option<(&str, u32)> {
    let (before, _) = line.split_once(": undefined reference")?;
    let (path, number) = before.rsplit_once(':')?;
    Some((path.rsplit(' ').next()?, number.parse().ok()?))
}

/// Lines of the linker that lead to others, and say nothing by themselves.
pub fn is_heading(line: &str) -> bool {
    line.ends_with("ld returned 1 exit status") || line.contains(": in function `") && line.contains("ld: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_libraries_are_named() {
        let said = "/usr/bin/ld: nodes.cpp.o: in function `Make(Make_out*)':\n\
                    /a/nodes.cpp:9: undefined reference to `sqlite3_open'\n\
                    /usr/bin/ld: /a/nodes.cpp:12: undefined reference to `sqlite3_open'\n\
                    /usr/bin/ld: a.flux.o:(.text+0x1): undefined reference to `shop::Find(int)'\n\
                    /usr/bin/ld: a.flux.cpp:30: undefined reference to `Use(Use_in*)'\n";
        let found = undefined_calls(said, |name| name == "Use");
        let expected = [("shop::Find", None), ("sqlite3_open", Some(("/a/nodes.cpp", 9)))];
        assert_eq!(found, BTreeMap::from(expected));
        assert_eq!(missing_library("/usr/bin/ld: cannot find -lfoo: No such file or directory"), Some("foo"));
        assert_eq!(missing_library("ld.lld: error: unable to find library -lfoo"), Some("foo"));
        assert_eq!(missing_library("/usr/bin/ld: cannot find foo.o: No such file or directory"), None);
    }
}
