//! A server of plain functions, every way in which one may take and give: built by both compilers, run, and asked for
//! what is missing.

use crate::support;
use crate::support::{Server, flux};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder(name: &str) -> PathBuf {
    let folder = support::folder("plain_functions", name);
    for file in ["shop.flux", "shop.h", "shop.cpp"] {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plain_functions").join(file);
        std::fs::copy(kept, folder.join(file)).unwrap();
    }
    folder
}

/// Takes functions, each from its first line to its closing brace, out of the source.
fn remove(folder: &Path, first_lines: &[&str]) {
    let path = folder.join("shop.cpp");
    let mut text = std::fs::read_to_string(&path).unwrap();
    for first in first_lines {
        let start = text.find(first).unwrap();
        let (_, rest) = text.split_at(start);
        let end = start + rest.find("\n}\n").unwrap() + 3;
        text.replace_range(start..end, "");
    }
    std::fs::write(path, text).unwrap();
}

/// The first four lines that the server says under a strategy, sorted.
fn first_lines(folder: &Path, strategy: &str) -> Vec<String> {
    let mut server = Command::new(folder.join("build/shop/shop"));
    let server = server.arg(format!("--flux-runtime={strategy}")).stdout(Stdio::piped());
    let mut said: Vec<String> = Server::start(server, 0).output().lines().take(4).map(|line| line.unwrap()).collect();
    said.sort();
    said
}

#[test]
fn every_way_to_take_and_give_runs() {
    let folder = folder("runs");
    for compiler in ["g++", "clang++-16"] {
        let built = flux(&folder, &["build", "--debug", "shop.flux", "--cxx", compiler]);
        assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
        for strategy in ["thread", "pool", "event"] {
            let said = first_lines(&folder, strategy);
            assert_eq!(said, ["1: 100", "2: 200", "4: 399", "no 3: 2"], "{compiler}, {strategy}");
        }
    }
}

#[test]
fn one_that_returns_no_error_goes_on_after_a_fallback() {
    let folder = folder("fallback");
    for (file, text) in [
        (
            "shop.flux",
            "include \"shop.h\";\nNext () => (int number);\nsource Next => Sale;\nSale = Check -> Double -> Say;\n\
             Check (int number) => (int number);\nDouble (int number) => (long twice);\nSay (long twice) => ();\n\
             Mend (int number, int error) => (int number);\nhandle error Check => Mend;\n",
        ),
        (
            "shop.h",
            "#pragma once\nint Next(int &number);\nint Check(int number, int &same);\nlong Double(int number);\n\
             void Say(long twice);\nvoid Mend(int number, int error, int &instead);\n",
        ),
        (
            "shop.cpp",
            "#include \"shop.h\"\n#include <cstdio>\n#include <unistd.h>\n\
             int Next(int &number) { static int next; if (next == 4) pause(); number = ++next; return 0; }\n\
             int Check(int number, int &same) { same = number; return number == 3 ? 7 : 0; }\n\
             long Double(int number) { return 2 * number; }\n\
             void Say(long twice) { std::printf(\"%ld\\n\", twice); std::fflush(stdout); }\n\
             void Mend(int number, int error, int &instead) { instead = 10 * number + error; }\n",
        ),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert_eq!(first_lines(&folder, "pool"), ["2", "4", "74", "8"]);
}

#[test]
fn those_of_a_module_are_in_its_namespace() {
    let folder = folder("module");
    std::fs::create_dir(folder.join("lib")).unwrap();
    for (file, text) in [
        (
            "lib/stock.flux",
            "include \"stock.h\";\nFind (int number) => (stock.Item item);\nPrice (stock.Item item) => (long cents);\n\
             typedef dear IsDear;\n",
        ),
        (
            "lib/stock.h",
            "#pragma once\nnamespace stock {\nstruct Item { long cents; };\nint Find(int number, Item &item);\n\
             bool IsDear(long cents);\n}\n",
        ),
        (
            "lib/stock.cpp",
            "#include \"stock.flux.h\"\nnamespace stock {\n\
             int Find(int number, Item &item) { item.cents = number * 100; return number == 2 ? 7 : 0; }\n\
             int Price(Price_in *in, Price_out *out) { out->cents = in->item.cents; return 0; }\n\
             bool IsDear(long cents) { return cents > 300; }\n}\n",
        ),
        (
            "shop.flux",
            "use \"lib/stock.flux\" as goods;\ninclude \"shop.h\";\nNext () => (int number);\n\
             source Next => Sale;\nSale = goods.Find -> goods.Price -> Show;\n\
             Show (long cents) => ();\nShow:[goods.dear] = Shout;\nShow:[_] = Say;\n\
             Shout (long cents) => ();\nSay (long cents) => ();\nLack (int number, int error) => ();\n\
             handle error goods.Find => Lack;\n",
        ),
        (
            "shop.h",
            "#pragma once\nnamespace shop {\nint Next(int &number);\nvoid Lack(int number, int error);\n}\n\
             using shop::Lack;\nusing shop::Next;\nvoid Shout(long cents);\nvoid Say(long cents);\n",
        ),
        (
            "shop.cpp",
            "#include \"shop.h\"\n#include <cstdio>\n#include <unistd.h>\nnamespace shop {\n\
             int Next(int &number) { static int next; if (next == 4) pause(); number = ++next; return 0; }\n\
             void Lack(int number, int error) { std::printf(\"no %d: %d\\n\", number, error); \
             std::fflush(stdout); }\n}\n\
             void Shout(long cents) { std::printf(\"%ld!\\n\", cents); std::fflush(stdout); }\n\
             void Say(long cents) { std::printf(\"%ld\\n\", cents); std::fflush(stdout); }\n",
        ),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    for compiler in ["g++", "clang++-16"] {
        let built = flux(&folder, &["build", "--debug", "shop.flux", "--cxx", compiler]);
        assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
        assert_eq!(first_lines(&folder, "pool"), ["100", "300", "400!", "no 2: 7"], "{compiler}");
    }
    let code = std::fs::read_to_string(folder.join("build/shop/shop.flux.cpp")).unwrap();
    assert!(code.contains("error = ::stock::Find(in.number, stock_Find_output.item);"), "{code}");
    assert!(flux(&folder, &["stubs", "shop.flux"]).stdout.is_empty(), "nothing is missing");
}

#[test]
fn what_is_missing_is_named_once_with_its_stub() {
    let folder = folder("missing");
    let missing = ["flux::expected<item, int> Find(", "bool IsDear(", "int Old("];
    remove(&folder, &missing);
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    let said = String::from_utf8_lossy(&built.stderr);
    assert_eq!(built.status.code(), Some(1), "{said}");
    for (function, place, stub) in [
        ("Find", " --> shop.flux:4", "    flux::expected<item, int> Find(int number)\n"),
        ("IsDear", "  --> shop.flux:15", "    bool IsDear(const long &cents)\n"),
        ("Old", " --> shop.flux:9", "    int Old(struct Old_in *in, struct Old_out *out)\n"),
    ] {
        let headline =
            format!("error[missing-function]: the function `{function}` is not defined in any source\n{place}:");
        assert_eq!(said.matches(&headline).count(), 1, "{said}");
        assert!(said.contains(stub), "{said}");
    }
    assert_eq!(said.matches("error[").count(), 3, "{said}");
    assert!(flux(&folder, &["stubs", "shop.flux", "-o", "rest.cpp"]).status.success());
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

#[test]
fn stubs_of_plain_functions_come_with_their_header_and_never_overwrite() {
    let folder = folder("stubs");
    std::fs::remove_file(folder.join("shop.cpp")).unwrap();
    std::fs::write(
        folder.join("shop.flux"),
        "Ask () => (int number);\nPrint (int number, char **words, int point[2]) => ();\n\
         Double (int number) => (int number, char **words, int point[2]);\n\
         typedef odd IsOdd;\nsource Ask => Work;\nWork (int number) => ();\nWork:[odd] = Double -> Print;\n\
         Work:[_] = Double -> Print;\nhandle error Double => Failed;\n",
    )
    .unwrap();
    let stubs = ["stubs", "shop.flux", "--convention", "plain", "-o", "nodes.cpp"];
    assert!(flux(&folder, &stubs).status.success());
    let header = std::fs::read_to_string(folder.join("nodes.h")).unwrap();
    for declaration in [
        "// shop.flux:1\nint Ask(int &number);\n",
        "int Print(int number, char **words, int point[2]);\n",
        "int Double(int number, int &number_out, char **&words, int (&point)[2]);\n",
        "bool IsOdd(int number);\n",
    ] {
        assert!(header.contains(declaration), "{declaration} in {header}");
    }
    let program = std::fs::read_to_string(folder.join("shop.flux")).unwrap();
    std::fs::write(folder.join("shop.flux"), format!("include \"nodes.h\";\n{program}")).unwrap();
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !said.contains("warning"), "{said}");
    let code = std::fs::read_to_string(folder.join("build/shop/shop.flux.cpp")).unwrap();
    assert!(code.contains("error = ::Double(in.number, Double_output.number, Double_output.words,"), "{code}");
    let again = flux(&folder, &stubs);
    assert_eq!(again.status.code(), Some(0), "nothing is missing any more");
    std::fs::remove_file(folder.join("nodes.cpp")).unwrap();
    std::fs::write(folder.join("shop.flux"), program).unwrap();
    let again = flux(&folder, &stubs);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("nodes.h exists and is left as it is"));
    assert_eq!(std::fs::read_to_string(folder.join("nodes.h")).unwrap(), header);
}

#[test]
fn stubs_of_a_program_with_modules_and_a_library_compile() {
    let folder = folder("stubs_of_modules");
    for file in ["shop.cpp", "shop.flux"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    // A library whose header only pkg-config finds.
    std::fs::create_dir_all(folder.join("library")).unwrap();
    let package = "prefix=${pcfiledir}\nName: parcel\nDescription: none\nVersion: 1\nCflags: -I${prefix}\nLibs:\n";
    std::fs::write(folder.join("library/parcel.pc"), package).unwrap();
    std::fs::write(folder.join("library/parcel.h"), "#pragma once\nstruct parcel { int weight; };\n").unwrap();
    let program = "use std.tcp;\nuse std.udp;\nlink \"parcel\";\ninclude \"parcel.h\";\n\
                   source tcp.Listen(7000) => Page;\nPage (flux::connection *connection) => ();\n\
                   Page = Weigh -> tcp.Close;\n\
                   Weigh (flux::connection *connection) => (flux::connection *connection, parcel given);\n";
    std::fs::write(folder.join("post.flux"), program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flux"));
    command.args(["stubs", "post.flux", "--convention", "plain", "-o", "nodes.cpp"]).current_dir(&folder);
    let written = command.env("PKG_CONFIG_PATH", folder.join("library")).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let header = std::fs::read_to_string(folder.join("nodes.h")).unwrap();
    let declaration = "int Weigh(flux::connection *connection, flux::connection *&connection_out, parcel &given);\n";
    assert!(header.contains(declaration), "{header}");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-Ilibrary", "nodes.cpp"]).current_dir(&folder);
    let folders = ["runtime/include", "nodes/std"].map(|path| format!("-I{}", repository.join(path).display()));
    let compiled = compiler.args(folders).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}
