//! `flux host`: builds the programs that a [file](crate::host_file) names and starts the process that runs them, or
//! tells the one that runs already.

use crate::arguments::{Build, Host};
use crate::failure::{Failure, Result};
use crate::host_file::{Hosted, read};
use crate::program::{Program, compile, plain};
use crate::server::{build, files, has_own_sources, host_executable};
use crate::terminal::{Terminal, print};
use flux_ir::program::Scope;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Does what the command is asked to.
pub fn host(arguments: &Host, terminal: &Terminal) -> Result {
    let control = arguments.control.clone().unwrap_or_else(|| with_ending(&arguments.file, "sock"));
    if arguments.status {
        return ask(&control, "status");
    }
    let terminal = &terminal.with_progress(!arguments.quiet);
    let text = crate::program::read(&arguments.file)?;
    let folder = files::parent(&arguments.file);
    let hosted = read(&text, &folder).map_err(|(line, problem)| fault(arguments, line, &problem))?;
    let mut plan = String::new();
    for one in &hosted {
        plan += &planned(arguments, one, terminal)?;
    }
    let file = arguments.file.file_name().unwrap_or_default();
    let plan_path = with_ending(&files::absolute(&folder)?.join("build").join(file), "plan");
    files::create_directory(&files::parent(&plan_path))?;
    files::write_if_changed(&plan_path, &plan)?;
    if arguments.reload || !arguments.restart.is_empty() {
        return ask(&control, &format!("reload {}", arguments.restart.join(" ")));
    }
    let mut command = Command::new(host_executable(&build_of(arguments, Path::new(".")), terminal)?);
    command
        .arg(plan_path)
        .arg(files::absolute(&files::parent(&control))?.join(control.file_name().unwrap_or_default()));
    let error = command.args(&arguments.admin).exec();
    Err(Failure::usage(format!("cannot start the host: {}", plain(&error))))
}

/// The path with one more ending.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(".");
    text.push(ending);
    PathBuf::from(text)
}

/// What is wrong in a line of the file.
fn fault(arguments: &Host, line: usize, problem: &str) -> Failure {
    Failure::usage(format!("{}:{line}: {problem}", arguments.file.display()))
}

/// How a program is built.
fn build_of(arguments: &Host, program: &Path) -> Build {
    Build {
        program: program.to_owned(),
        sources: vec![],
        output: None,
        build_dir: None,
        libraries: vec![],
        cflags: vec![],
        cxx: arguments.cxx.clone(),
        cc: arguments.cc.clone(),
        sanitize: None,
        debug: false,
        lto: false,
        shared: false,
        format: crate::arguments::MessageFormat::Human,
        jobs: None,
        generate_only: false,
        quiet: arguments.quiet,
    }
}

/// The line of the plan for a program (`runtime/include/flux/host/host_plan.hpp`), which is built.
fn planned(arguments: &Host, one: &Hosted, terminal: &Terminal) -> Result<String> {
    let is_built = one.program.extension().is_some_and(|ending| ending == "so");
    let how = build_of(arguments, &one.program);
    if !is_built && has_own_sources(&how)? {
        let problem = "it has C++ of its own, which could take the others with it: run it by itself, `flux run`";
        return Err(fault(arguments, one.line, problem));
    }
    let (path, globals) = match is_built {
        true => (one.program.clone(), String::new()),
        false => (build(&Build { shared: true, ..how }, terminal)?, globals(&compile(&one.program)?)),
    };
    let path = files::absolute(&path)?.display().to_string();
    let numbers = [u64::from(one.weight), one.connections, one.memory].map(|number| number.to_string());
    let fields = [one.name.as_str(), &path].into_iter().chain(numbers.iter().map(String::as_str));
    let fields: Vec<&str> = fields.chain([globals.as_str()]).chain(one.options.iter().map(String::as_str)).collect();
    Ok(fields.join("\t") + "\n")
}

/// What a program declares as state of all its connections, as it is written.
fn globals(program: &Program) -> String {
    let Some(model) = program.compilation.program() else { return String::new() };
    let constraints = model.constraints.iter().filter(|(_, one)| one.scope == Scope::Program);
    let texts = constraints.filter_map(|(_, one)| program.sources.file(one.span.file).map(|file| file.slice(one.span)));
    let globals = texts.filter(|text| text.starts_with("global"));
    globals.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("; ")
}

/// Has the running host do something, and prints what it says.
fn ask(control: &Path, what: &str) -> Result {
    let failed = |error: &std::io::Error| {
        Failure::usage(format!(
            "no host can be asked at {}: {}; is it running, and started with the same FILE or --control?",
            control.display(),
            plain(error)
        ))
    };
    let mut host = UnixStream::connect(control).map_err(|error| failed(&error))?;
    host.write_all(format!("{what}\n").as_bytes()).map_err(|error| failed(&error))?;
    let mut said = String::new();
    host.read_to_string(&mut said).map_err(|error| failed(&error))?;
    let (refused, done): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with('!'));
    for line in done {
        print(&format!("{}\n", line.get(1..).unwrap_or_default()));
    }
    match refused.is_empty() {
        true => Ok(()),
        false => {
            let lines: Vec<_> = refused.iter().filter_map(|line| line.get(1..)).collect();
            Err(Failure::Bytes(lines.join("\n")))
        }
    }
}
