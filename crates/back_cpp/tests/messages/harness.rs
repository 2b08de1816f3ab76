//! What is generated of the messages of a program, compiled with what holds it to its rules.

use crate::shown;
use flux_back_cpp::generate_messages;
use flux_ir::flow::Flow;
use flux_ir::program::Program;
use flux_source::SourceMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of this text, and its sources.
pub fn program(name: &str, text: &str) -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.flux"), text.to_owned());
    let compilation = flux_driver::compile(&mut sources, file, &mut |_: &str| Err("no modules".to_owned()));
    let wrong: Vec<_> = compilation.diagnostics.sorted().iter().map(|one| one.headline.clone()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{name}");
    (compilation.program().unwrap().clone(), sources)
}

/// A folder with the classes of a program and all that the harness needs.
pub struct Harness {
    folder: PathBuf,
    name: String,
}

impl Harness {
    pub fn new(program: &Program, sources: &SourceMap) -> Self {
        let flow = Flow { program: program.clone(), functions: Default::default(), entries: vec![] };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages_{}", program.name));
        std::fs::create_dir_all(&folder).unwrap();
        for file in generate_messages(&flow, sources) {
            std::fs::write(folder.join(file.name), file.text).unwrap();
        }
        std::fs::write(folder.join("shown.hpp"), shown::header(program)).unwrap();
        Self { folder, name: program.name.clone() }
    }

    /// Compiles it with the `main` of this name; gives the binary. Each file by itself, as a cache of compiled files
    /// knows such alone.
    pub fn build(&self, main: &str, compiler: &str, flags: &[&str]) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
        let stem = main.trim_end_matches(".cpp");
        let mut objects = vec![];
        let sources = [
            self.folder.join(format!("{}.flux.messages.cpp", self.name)),
            here.join(main),
            runtime.join("src/message/reader.cpp"),
            runtime.join("src/message/bytes.cpp"),
            runtime.join("src/message/streamed_parse.cpp"),
            runtime.join("src/flow/compute.cpp"),
        ];
        for source in &sources {
            let name = source.file_stem().unwrap().to_string_lossy().into_owned();
            let object = self.folder.join(format!("{stem}.{name}.o"));
            let mut command = Command::new(compiler);
            command.args(["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-g1"]);
            command.args(flags).arg("-fno-sanitize-recover=all").arg("-I").arg(runtime.join("include"));
            command.arg("-I").arg(&self.folder).arg("-I").arg(&here);
            if *source == here.join(main) {
                command.arg("-include").arg(self.folder.join("shown.hpp"));
            }
            succeed(command.arg("-c").arg(source).arg("-o").arg(&object));
            objects.push(object);
        }
        let binary = self.folder.join(stem);
        let mut link = Command::new(compiler);
        succeed(link.args(flags).args(&objects).arg("-o").arg(&binary));
        binary
    }
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
