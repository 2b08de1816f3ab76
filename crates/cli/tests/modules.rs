//! Servers made of modules: the example built and asked for pages, what its options refuse, and the functions that a
//! module lacks.

use crate::support;
use crate::support::{Server, flux, text};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    support::folder("modules", name)
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site")
}

/// The server of the example, built once.
fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| support::build_example("modules", "site", &[]))
}

fn start(arguments: &[&str]) -> Server {
    Server::listening(Command::new(site()).arg("--port=0").args(arguments).current_dir(example()))
}

/// What the server answers.
fn get(server: &Server, path: &str) -> String {
    let mut connection = server.connect();
    connection.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    // One that asks for too much is sent away, and may see that as an error.
    let _ = connection.read_to_string(&mut answer);
    answer
}

#[test]
fn the_example_serves_its_folder_and_nothing_outside() {
    for strategy in ["thread", "pool", "event"] {
        let server = start(&[&format!("--flux-runtime={strategy}")]);
        let page = get(&server, "/");
        assert!(page.starts_with("HTTP/1.0 200 OK\r\n") && page.contains("It works."), "{strategy}: {page}");
        for path in ["/none", "/../site.flux", "/.", "/index.html/"] {
            assert!(get(&server, path).starts_with("HTTP/1.0 404 "), "{strategy}: {path}");
        }
    }
}

#[test]
fn options_reach_the_modules_that_declare_them() {
    let server = start(&["--http-largest", "1k"]);
    assert!(get(&server, "/").contains("It works."));
    // One too long is not answered: its connection ends.
    let long = get(&server, &format!("/{}", "x".repeat(4096)));
    assert!(!long.contains("HTTP/1.0 200"), "{long}");
    let help = Command::new(site()).arg("--help").output().unwrap();
    let shown = "--http-largest SIZE               How long a request may be (8k, SITE_HTTP_LARGEST)\n";
    assert!(text(&help.stdout).contains(shown), "{help:?}");
    for (argument, said) in [
        ("--prot=1", "flux: there is no option --prot; did you mean --port? (--help lists them)"),
        ("--port=many", "flux: --port is to be a whole number from 0 to 65535, not `many`"),
        ("--http-largest=-1", "flux: --http-largest is to be a size, as 512, 64k, 2M or 1G"),
        ("page", "flux: site has no use for `page` (--help lists the options)"),
    ] {
        let refused = Command::new(site()).arg(argument).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{argument}");
        assert!(text(&refused.stderr).starts_with(said), "{argument}: {}", text(&refused.stderr));
    }
}

#[test]
fn a_server_says_where_it_listens() {
    let server = start(&[]);
    let address = format!("flux: listening on [::]:{}\n", server.port);
    assert!(server.port != 0 && server.said().contains(&address), "{}", server.said());
    assert_eq!(server.said().matches("listening").count(), 1, "{}", server.said());
}

#[test]
fn a_server_whose_port_is_taken_says_so_and_ends() {
    let taken = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended = Command::new(site()).args(["--port", &port.to_string()]).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = format!("flux: tcp.Listen: cannot listen on port {port}: Address already in use\n");
    assert!(text(&ended.stderr).ends_with(&said), "{}", text(&ended.stderr));
    let ended = Command::new(site()).args(["--port", "70000"]).output().unwrap();
    assert!(
        text(&ended.stderr).contains("--port is to be a whole number from 0 to 65535, not `70000`"),
        "{}",
        text(&ended.stderr)
    );
}

#[test]
fn a_standard_module_is_compiled_once_for_all_programs() {
    let folder = folder("kept");
    let build = |name: &str, time: &str| {
        std::fs::create_dir(folder.join(name)).unwrap();
        let program = format!("use std.timer;\nTime () => (long time_ms) {{ time_ms = {time}; }};\n");
        let program = program + "source every 1s => Wait;\nWait = Time -> timer.Wait;\n";
        std::fs::write(folder.join(name).join("late.flux"), program).unwrap();
        let built = flux(&folder, &["build", "--debug", &format!("{name}/late.flux")]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        text(&built.stderr)
    };
    build("first", "1");
    // By the first, or by another test before it.
    let said = build("second", "2");
    assert!(said.contains("Compiling late.flux.cpp") && !said.contains("Compiling std.timer"), "{said}");
}

#[test]
fn stubs_of_a_module_are_in_its_namespace_and_build() {
    let folder = folder("stubs");
    std::fs::create_dir(folder.join("lib")).unwrap();
    std::fs::write(folder.join("lib/store.flux"), "Find (int key) => (int value);\nDrop (int key) => ();\n").unwrap();
    let found =
        "#include \"store.flux.h\"\nint store::Find(Find_in *in, Find_out *out) { out->value = in->key; return 0; }\n";
    std::fs::write(folder.join("lib/store.cpp"), found).unwrap();
    let program = "use std.tcp;\nuse \"lib/store.flux\";\nsource tcp.Listen(0) => Work;\n\
                   Work = Key -> store.Find -> store.Drop;\nKey (flux::connection *connection) => (int key);\n";
    std::fs::write(folder.join("shop.flux"), program).unwrap();
    let stubs = flux(&folder, &["stubs", "shop.flux"]);
    let expected = "#include \"shop.flux.h\"\n\n// shop.flux:5\n\
                    int Key(struct Key_in *in, struct Key_out *out)\n{\n    (void)in;\n    (void)out;\n\
                    \x20   return 0;\n}\n\n\
                    // store.flux:2\nnamespace store {\n\n\
                    int Drop(struct Drop_in *in)\n{\n    (void)in;\n    return 0;\n}\n\n} // namespace store\n";
    assert_eq!(text(&stubs.stdout), expected);
    let missing = flux(&folder, &["build", "--debug", "shop.flux"]);
    let said = text(&missing.stderr);
    assert!(said.contains("the function `store::Drop` is not defined in any source\n --> lib/store.flux:2:"), "{said}");
    std::fs::write(folder.join("missing.cpp"), &stubs.stdout).unwrap();
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
}

#[test]
fn modules_of_messages_alone_have_no_cpp() {
    let folder = folder("messages");
    let program = "use std.resp;\nRead () => (resp.value v);\nShow (resp.value v) => ();\nsource Read => Show;\n";
    std::fs::write(folder.join("shop.flux"), program).unwrap();
    let cpp = "#include \"shop.flux.h\"\nint Read(Read_out *) { return 0; }\nint Show(Show_in *) { return 0; }\n";
    std::fs::write(folder.join("shop.cpp"), cpp).unwrap();
    let built = flux(&folder, &["build", "--generate-only", "shop.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
}

#[test]
fn a_module_in_c_is_refused() {
    let folder = folder("c");
    std::fs::create_dir(folder.join("lib")).unwrap();
    std::fs::write(folder.join("lib/store.flux"), "Find () => (int value);\n").unwrap();
    std::fs::write(folder.join("lib/store.c"), "int Find(void) { return 0; }\n").unwrap();
    let program = "use \"lib/store.flux\";\nsource store.Find => Show;\nShow (int value) => ();\n";
    std::fs::write(folder.join("shop.flux"), program).unwrap();
    let built = flux(&folder, &["build", "--debug", "shop.flux"]);
    assert_eq!(built.status.code(), Some(2));
    let said = "error: lib/store.c is C, and a module is C++: call it lib/store.cpp\n";
    assert_eq!(text(&built.stderr), said);
}

#[test]
fn nodes_in_c_use_connections() {
    let folder = folder("nodes_in_c");
    let program = "use std.tcp;\noption port : int = 0;\nsource tcp.Listen(port) => Request;\n\
                   Request = Count -> Answer;\nhandle error Request => tcp.Close;\n\
                   Count (flux::connection *connection) => (flux::connection *connection, int length);\n\
                   Answer (flux::connection *connection, int length) => ();\n\
                   Name (std::string name) => (); // of which C sees nothing\n";
    let nodes = "#include \"count.flux.h\"\n#include \"flux/c_interface.h\"\n#include <stdio.h>\n\
                 int Count(struct Count_in *in, struct Count_out *out)\n{\n    char line[10];\n    size_t size;\n\
                 \x20   int error = flux_read_line(in->connection, line, sizeof line, &size);\n\
                 \x20   if (error == 0 && size == 0)\n        error = flux_read_exactly(in->connection, line, 3);\n\
                 \x20   if (error != 0 && error != flux_end_of_input)\n        flux_log(\"error %d\", error);\n\
                 \x20   out->connection = in->connection;\n    out->length = (int)size;\n    return error;\n}\n\
                 int Answer(struct Answer_in *in)\n{\n    char text[30];\n\
                 \x20   int size = snprintf(text, sizeof text, \"%d\\n\", in->length);\n\
                 \x20   int error = flux_sleep_ms(1);\n\
                 \x20   error = error == 0 ? flux_send(in->connection, text, (size_t)size) : error;\n\
                 \x20   return error == 0 ? flux_give_back(in->connection) : error;\n}\n";
    std::fs::write(folder.join("count.flux"), program).unwrap();
    std::fs::write(folder.join("nodes.c"), nodes).unwrap();
    let built = flux(&folder, &["build", "--debug", "count.flux"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    for strategy in ["thread", "pool", "event"] {
        let mut command = Command::new(folder.join("build/count/count"));
        let server = Server::listening(command.arg(format!("--flux-runtime={strategy}")));
        assert_eq!(server.ask_and_end("one\n123456789\n\nabcfour\n"), "3\n9\n0\n4\n", "{strategy}");
        assert_eq!(server.ask_and_end("0123456789\n"), "", "{strategy}");
        // EMSGSIZE
        support::wait_for("what the node logs", || server.said().contains("Count: error 90\n").then_some(()));
    }
}
