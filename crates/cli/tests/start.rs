//! What a program does before its sources start and after its flows have ended: `init` with its options, and `fini`.

use crate::support;
use crate::support::{flux, text};
use std::process::Command;

const PROGRAM: &str = "\
option shelf : path = \"books\";
option limit : size = 2;
include \"library.h\";
Next () => (int number);
Read (int number) => ();
source Next => Read;
handle error Read => Missed;
";

/// Every form of `init` at once, as a program may have several.
const NODES: &str = "\
#include \"library.flux.h\"
#include <csignal>
#include <cstdio>
#include <string>

static std::string said;

void init(int argc, char **argv)
{
    said += std::to_string(argc) + \" argument: \" + (argc > 1 ? argv[1] : \"\");
}

int init(std::string &)
{
    said += \"; alone\";
    return 0;
}

int init(const server_options &options, std::string &why)
{
    std::printf(\"%s; %ld books of %s\\n\", said.c_str(), options.limit, options.shelf);
    std::fflush(stdout);
    if (options.limit < 1) {
        why = \"a shelf without books\";
        return 1;
    }
    return 0;
}

int Next(int &number)
{
    static int next = 0;
    number = ++next;
    return next > 1 ? 1 : 0;
}

int Read(int number)
{
    std::printf(\"reads %d\\n\", number);
    std::fflush(stdout);
    raise(SIGTERM);
    return 0;
}

void Missed(Read_in *, int)
{
}

void fini()
{
    std::printf(\"the end\\n\");
}
";

#[test]
fn a_program_is_told_its_options_and_may_refuse_and_is_told_the_end() {
    let folder = support::folder("start", "library");
    std::fs::write(folder.join("library.flux"), PROGRAM).unwrap();
    std::fs::write(folder.join("library.h"), "int Next(int &number);\nint Read(int number);\n").unwrap();
    std::fs::write(folder.join("library.cpp"), NODES).unwrap();
    let built = flux(&folder, &["build", "--debug", "library.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    support::compile(&folder.join("build/library"), &["library.flux.o", "library.cpp.o"], "-Werror");

    let server = || Command::new(folder.join("build/library/library"));
    let started = server().args(["--limit", "7", "story"]).output().unwrap();
    assert_eq!(text(&started.stdout), "2 argument: story; alone; 7 books of books\nreads 1\nthe end\n");
    assert!(started.status.success(), "{}", text(&started.stderr));

    let refused = server().args(["--limit=0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(text(&refused.stdout), "1 argument: ; alone; 0 books of books\n");
    let said = text(&refused.stderr);
    assert!(said.contains("flux: library does not start: a shelf without books\n"), "{said}");
}
