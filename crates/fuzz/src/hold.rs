//! What must hold for any text.
//!
//! Each function returns an error that says what is wrong; the caller notices panics, and what takes too long.

use flux_diagnostic::{Diagnostic, json, page, render};
use flux_driver::{Compilation, compile};
use flux_format::{Refusal, format};
use flux_ir::flow::Flow;
use flux_ir::text::{Options, parse_flow, parse_program, print_flow, print_program};
use flux_ir::verify::{self, Stage};
use flux_source::{FileId, SourceMap};

/// What is wrong.
pub type Fault = String;

/// A program alone has no files to use.
fn no_file(path: &str) -> Result<String, String> {
    Err(format!("{path} is not there"))
}

/// Holds that the compiler, the back ends and the formatter do with `text` what they must do with any.
///
/// # Errors
/// What is not as it should be, in a sentence.
pub fn text(text: &str) -> Result<(), Fault> {
    text_of("test.flux", text)
}

/// As [`text`], of a program in FLICK.
///
/// # Errors
/// As of [`text`].
pub fn flick_text(text: &str) -> Result<(), Fault> {
    text_of("test.flick", text)
}

fn text_of(name: &str, text: &str) -> Result<(), Fault> {
    let mut sources = SourceMap::of(name, text);
    let compilation = compile(&mut sources, FileId(0), &mut no_file);
    for diagnostic in compilation.diagnostics.shown().diagnostics {
        tells(diagnostic, &sources)?;
    }
    if let Some(program) = compilation.program() {
        let printed = print_program(program);
        match parse_program(&printed) {
            Ok(read) if read == *program => {}
            Ok(_) => return Err(format!("the program is read back as another:\n{printed}")),
            Err(error) => return Err(format!("the program is not read back, {error}:\n{printed}")),
        }
    }
    if let Some(flow) = &compilation.flow {
        let printed = print_flow(flow);
        match parse_flow(&printed) {
            Ok(read) if read == *flow => {}
            Ok(_) => return Err(format!("the flow is read back as another:\n{printed}")),
            Err(error) => return Err(format!("the flow is not read back, {error}:\n{printed}")),
        }
        write_out(flow, &sources);
        flux_driver::constraints::constraints(flow);
        flux_driver::bounds::table(&flux_driver::bounds::bounds(&sources, &flow.program));
    }
    layout(name, text, &compilation)
}

/// Has every back end write the flow.
fn write_out(flow: &Flow, sources: &SourceMap) {
    let picture = flux_picture::draw(flow, sources);
    flux_back_dot::write(&picture);
    flux_back_mermaid::write(&picture);
    // A refusal is an answer.
    let _ = flux_back_cpp::generate(flow, sources, &flux_back_cpp::Options::default());
}

/// Holds that a diagnostic has its page, stands alone, and can be shown.
fn tells(diagnostic: &Diagnostic, sources: &SourceMap) -> Result<(), Fault> {
    let Diagnostic { id, headline, .. } = diagnostic;
    if *id == flux_driver::ids::CONTRADICTION {
        return Err(headline.clone());
    }
    if page::page(id.0).is_none() {
        return Err(format!("`{}` has no page", id.0));
    }
    if headline.is_empty() || headline.ends_with('.') || headline.contains('\n') {
        return Err(format!("the headline does not stand alone: {headline}"));
    }
    for mark in std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary) {
        if sources.file(mark.span.file).is_none_or(|file| file.text.get(mark.span.range()).is_none()) {
            return Err(format!("a mark of `{headline}` is not in the text"));
        }
    }
    for options in [render::Options::default(), render::Options { color: true, width: 40 }] {
        if !render::render(diagnostic, sources, options).contains(id.0) {
            return Err(format!("`{headline}` is shown without its id"));
        }
    }
    if json::object(diagnostic, sources).to_string().contains('\n') {
        return Err(format!("`{headline}` is more than a line of JSON"));
    }
    Ok(())
}

/// Holds that what is laid out is laid out once and for all, and still the same program.
fn layout(name: &str, text: &str, compilation: &Compilation) -> Result<(), Fault> {
    let sources = SourceMap::of(name, text);
    let once = match format(&sources, FileId(0)) {
        Ok(once) => once,
        Err(Refusal::Mistakes(diagnostics)) => {
            return diagnostics.shown().diagnostics.into_iter().try_for_each(|one| tells(one, &sources));
        }
        Err(Refusal::Contradiction) => return Err("what is laid out has other tokens or comments".to_owned()),
    };
    let mut sources = SourceMap::of(name, once.as_str());
    match format(&sources, FileId(0)) {
        Ok(twice) if twice == once => {}
        Ok(twice) => return Err(format!("laid out twice it is\n{twice}\nnot\n{once}")),
        Err(_) => return Err(format!("what is laid out is not laid out again:\n{once}")),
    }
    let again = compile(&mut sources, FileId(0), &mut no_file);
    let plain = Options { spans: false };
    let shown = |compilation: &Compilation| compilation.program().map(|program| plain.print_program(program));
    if shown(&again) != shown(compilation) {
        return Err(format!("what is laid out is another program:\n{once}"));
    }
    let told = |compilation: &Compilation| -> Vec<String> {
        let mut told: Vec<_> =
            compilation.diagnostics.sorted().iter().map(|one| format!("{} {}", one.id.0, one.headline)).collect();
        told.sort();
        told
    };
    if told(&again) != told(compilation) {
        return Err(format!("of what is laid out other things are said:\n{once}"));
    }
    Ok(())
}

/// Holds that the text form of the IR is read without a panic, and that what it says is printed as it was said.
///
/// # Errors
/// As of [`text`].
pub fn ir_text(text: &str) -> Result<(), Fault> {
    if let Ok(program) = parse_program(text) {
        let printed = print_program(&program);
        if parse_program(&printed).as_ref() != Ok(&program) {
            return Err(format!("this is not read back as the same program:\n{printed}"));
        }
        verify::program(&program, Stage::Resolved);
        verify::program(&program, Stage::Typed);
        verify::program(&program, Stage::Bound);
    }
    if let Ok(flow) = parse_flow(text) {
        let printed = print_flow(&flow);
        if parse_flow(&printed).as_ref() != Ok(&flow) {
            return Err(format!("this is not read back as the same flow:\n{printed}"));
        }
        verify::flow(&flow, Stage::Lowered);
        let sources = SourceMap::of("test.flux", "");
        if verify::flow(&flow, Stage::Finished).is_empty() {
            write_out(&flow, &sources);
        }
    }
    Ok(())
}
