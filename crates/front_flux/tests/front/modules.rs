//! What modules declare has the module's name in the whole program.

use flux_diagnostic::Diagnostics;
use flux_front::{Library, link::link};
use flux_front_flux::FluxFront;
use flux_ir::message::{Field, Form};
use flux_ir::name::Name;
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap};

/// Reads a program that uses the module `lib.flux`; and the headlines of what is wrong.
fn read(text: &str, module: &str) -> (Program, Vec<String>) {
    let mut sources = SourceMap::of("test.flux", text);
    let mut diagnostics = Diagnostics::new();
    let read = &mut |path: &str| match path {
        "lib.flux" => Ok(module.to_owned()),
        _ => Err(format!("there is no {path}")),
    };
    let library = Library { standard: &[], read };
    let program = link((&FluxFront, &[&FluxFront]), &mut sources, FileId(0), library, &mut diagnostics);
    (program, diagnostics.sorted().iter().map(|one| one.headline.clone()).collect())
}

/// The fields of a message that are messages: `one lib.part`.
fn parts(program: &Program, module: Option<&str>, own: &str) -> Vec<String> {
    let name = Name::of(module, own);
    let (_, message) = program.messages.iter().find(|(_, message)| message.name == name).unwrap();
    let part = |field: &Field| match &field.form {
        Form::Unit(id, _) => Some(format!("{} {}", field.name, program.messages[*id].name)),
        _ => None,
    };
    message.fields.iter().filter_map(part).collect()
}

#[test]
fn a_field_is_a_message_of_its_own_module_unless_it_says_of_which() {
    let module = "type frame = unit { one : part; n : uint8; };\ntype part = unit { n : uint16; };";
    let (program, wrong) = read(
        "use \"lib.flux\" as net;\n\
         type all = unit { a : part; b : net.part; c : net.frame; d : bytes &length = 4; };\n\
         type part = unit { n : uint8; };",
        module,
    );
    assert_eq!(wrong, [""; 0]);
    assert_eq!(parts(&program, Some("lib"), "frame"), ["one lib.part"]);
    assert_eq!(parts(&program, None, "all"), ["a part", "b lib.part", "c lib.frame"]);
    let (_, wrong) = read("use \"lib.flux\" as net;\ntype all = unit { a : net.uint8; };", module);
    assert_eq!(wrong, ["the module `net` has no type `uint8`"]);
}
