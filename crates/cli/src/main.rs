//! The `flux` command: a thin shell around the compiler. It reads files, starts processes and talks to a terminal; what
//! it knows of programs it asks the driver.

#![expect(clippy::disallowed_methods, reason = "a shell reads files and starts processes")]

mod advise;
mod arguments;
mod blocking_imports;
mod check;
mod cmake;
mod compared;
mod completions;
mod doctor;
mod explain;
mod failure;
mod fmt;
mod graph;
mod host;
mod host_file;
mod ir;
mod live;
mod man;
mod message;
mod new;
mod profile;
mod profile_source;
mod program;
mod run;
mod screen;
mod server;
mod sim;
mod stubs;
mod terminal;
mod top;

use arguments::{Arguments, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (result, terminal) = match Arguments::read() {
        Ok(arguments) => {
            let terminal = terminal::Terminal::new(arguments.color);
            (run_command(arguments.command, &terminal), terminal)
        }
        Err(failure) => (Err(failure), terminal::Terminal::new(terminal::Color::Auto)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                terminal.error(message);
            }
            failure.exit_code()
        }
    }
}

fn run_command(command: Command, terminal: &terminal::Terminal) -> failure::Result {
    match command {
        Command::Check(check) => check::check(&check, terminal),
        Command::Build(build) => server::build(&build, terminal).map(|_| ()),
        Command::Run(run) => run::run(&run, terminal),
        Command::Host(host) => host::host(&host, terminal),
        Command::Ir(ir) => ir::ir(&ir, terminal),
        Command::Graph(graph) => graph::graph(&graph, terminal),
        Command::Sim(sim) => sim::sim(&sim, terminal),
        Command::Profile(profile) => profile::profile(&profile),
        Command::Top(top) => top::top(&top),
        Command::Advise(advise) => advise::advise(&advise, terminal),
        Command::New(new) => new::new(&new, terminal),
        Command::Stubs(stubs) => stubs::stubs(&stubs, terminal),
        Command::Doctor(doctor) => doctor::doctor(&doctor),
        Command::Completions(completions) => completions::completions(&completions),
        Command::Cmake(cmake) => cmake::cmake(&cmake),
        Command::Message(message) => message::message(&message, terminal),
        Command::Man(man) => man::man(&man),
        Command::Fmt(fmt) => fmt::fmt(&fmt, terminal),
        Command::Explain(explain) => explain::explain(&explain),
    }
}
