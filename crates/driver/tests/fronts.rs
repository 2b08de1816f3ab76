//! Modules of two notations in one program. The second is a small one of this test's own, so that what it needs shows
//! what any front needs: it reads its own lines, and asks the scope for all names.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use flux_driver::compile_from;
use flux_front::scope::{Kind, Located, NO_FLOW, Scope};
use flux_front::{Front, Use, Wanted};
use flux_front_flux::FluxFront;
use flux_ir::name::Name;
use flux_ir::program::{
    Action, Application, Body, Chain, Node, NodeId, Origin, Parameter, Program, Signature, Source, Step, StepNumber,
};
use flux_source::{FileId, SourceMap, Span};

/// Lines of words: `use FILE`, `node NAME INPUTS gives OUTPUTS`, where a value is `type:name`; `flow NAME NODES`;
/// `from NODE to NODE`.
struct WordFront;

/// A word and where it stands.
type Word<'t> = (&'t str, Span);

fn lines(file: FileId, text: &str) -> Vec<Vec<Word<'_>>> {
    let word = |word: &'_ str| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        Span::new(file, start..start + word.len())
    };
    let words = |line| str::split_whitespace(line).map(|one| (one, word(one))).collect::<Vec<Word<'_>>>();
    text.lines().map(words).filter(|words| !words.is_empty()).collect()
}

impl Front for WordFront {
    fn extension(&self) -> &'static str {
        "words"
    }

    fn uses(&self, file: FileId, text: &str) -> Vec<Use> {
        let used = lines(file, text).into_iter().filter_map(|line| match line[..] {
            [("use", _), (path, span)] => {
                Some(Use { module: Wanted::File(path.to_owned()), alias: None, span, name_span: span })
            }
            _ => None,
        });
        used.collect()
    }

    fn read(&self, file: FileId, text: &str, scope: &mut Scope<'_>) {
        let lines = lines(file, text);
        for line in &lines {
            if let [("node", _), name, values @ ..] = &line[..] {
                let gives = values.iter().position(|(word, _)| *word == "gives").unwrap();
                let parameters = |words: &[Word<'_>]| words.iter().map(|word| parameter(scope, *word)).collect();
                let (inputs, outputs) = (parameters(&values[..gives]), parameters(&values[gives + 1..]));
                let signature = Some(Signature { inputs, outputs, defaults: vec![], inferred: false });
                let id = node(scope, *name);
                scope.program.nodes[id].signature = signature;
                scope.declare_node(id, name.1);
            }
        }
        for line in &lines {
            match &line[..] {
                [("flow", _), name, nodes @ ..] => {
                    let steps: Vec<_> = nodes.iter().filter_map(|word| step(scope, *word)).collect();
                    let mut chain = Chain { steps, results: None, span: name.1 };
                    chain.number_steps();
                    let id = node(scope, *name);
                    scope.program.nodes[id].body = Body::Chain(chain);
                }
                [("from", _), from, ("to", _), to] => {
                    let (Some(from), Some(target)) = (application(scope, *from), application(scope, *to)) else {
                        continue;
                    };
                    let (target, span) = (target.node, from.span);
                    let (origin, session, arguments) = (Origin::Node(from), None, None);
                    scope.program.sources.push(Source { origin, session, target, arguments, on_loops: false, span });
                }
                _ => {}
            }
        }
    }
}

fn parameter(scope: &Scope<'_>, (word, span): Word<'_>) -> Parameter {
    let (ty, name) = word.rsplit_once(':').unwrap();
    Parameter { ty: scope.type_names().read(ty, ""), name: name.to_owned(), span }
}

/// The node of the file that is called so, which is added where it is new.
fn node(scope: &mut Scope<'_>, (word, span): Word<'_>) -> NodeId {
    let module = scope.module().map(str::to_owned);
    let new = Node {
        name: Name::of(module.as_deref(), word),
        signature: None,
        body: NO_FLOW,
        requirements: vec![],
        blocking: false,
        replicable: false,
        stack: None,
        span,
    };
    scope.node(module.as_deref(), word).unwrap_or_else(|| scope.add_node(new, span))
}

/// A node of this file, `Save`, or of a module, `store/Save`.
fn application(scope: &mut Scope<'_>, (word, span): Word<'_>) -> Option<Application> {
    let (module, own) = word.split_once('/').map_or((None, word), |(module, own)| (Some(module), own));
    let Located::In(module) = scope.locate(Kind::Node, module, own, span) else { return None };
    let node = match scope.node(module.as_deref(), own) {
        Some(node) => node,
        None if module.as_deref() == scope.module() => node(scope, (own, span)),
        None => return None,
    };
    Some(Application { node, constants: vec![], named: vec![], arguments: None, kept: vec![], span })
}

fn step(scope: &mut Scope<'_>, word: Word<'_>) -> Option<Step> {
    let action = Action::Apply(application(scope, word)?);
    Some(Step { number: StepNumber::default(), action, within: None })
}

/// Compiles the first of these files, which may use the others; what there is to say, `[id] headline: help`.
fn compile(files: &[(&str, &str)]) -> (Option<Program>, Vec<String>) {
    let mut sources = SourceMap::of(files[0].0, files[0].1);
    let mut read = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "there is none".to_owned())
    };
    let fronts: [&dyn Front; 2] = [&FluxFront, &WordFront];
    let compiled = compile_from(&fronts, &mut sources, FileId(0), &mut read);
    let said = compiled.diagnostics.sorted().into_iter().map(|one| {
        let help = one.help.as_ref().map_or(String::new(), |help| format!(": {help}"));
        format!("[{}] {}{help}", one.id.0, one.headline)
    });
    let said = said.collect();
    (compiled.flow.map(|flow| flow.program), said)
}

/// A node's name, and those of its steps.
fn shown(program: &Program, name: &str) -> String {
    let node = &program.nodes[program.node_named(name).unwrap()];
    let steps = node.chains().flat_map(Chain::applications).map(|it| program.nodes[it.node].name.to_string());
    format!("{} = {}", node.name, steps.collect::<Vec<_>>().join(" -> "))
}

const STORE: (&str, &str) = ("store.flux", "record entry { key : text; };\nSave (entry e) => (entry e);\nKeep = Save;");

const MIDDLE: (&str, &str) =
    ("middle.words", "use store.flux\nnode Make int:n gives store::entry:e\nflow Work Make store/Keep");

#[test]
fn a_program_uses_modules_of_another_notation_and_of_its_own() {
    let main = "use \"middle.words\" as m;\nuse \"store.flux\";\nListen () => (int n);\n\
                Run = m.Work -> store.Save -> End;\nEnd (store.entry e) => ();\nsource Listen => Run;";
    let (program, said) = compile(&[("main.flux", main), MIDDLE, STORE]);
    let program = program.unwrap_or_else(|| panic!("{said:#?}"));
    assert_eq!(shown(&program, "middle.Work"), "middle.Work = middle.Make -> store.Keep");
    assert_eq!(shown(&program, "Run"), "Run = middle.Work -> store.Save -> End");
    let modules: Vec<_> = program.modules.iter().map(|(_, module)| module.name.as_str()).collect();
    assert_eq!(modules, ["store", "middle"], "each after those that it uses");
    assert!(said.iter().all(|line| line.starts_with("[signature-inferred]")), "{said:#?}");
}

#[test]
fn a_program_of_another_notation_uses_modules_of_this_one() {
    let main = "use store.flux\nnode Listen gives store::entry:e\nnode End store::entry:e gives\n\
                flow Run store/Keep End\nfrom Listen to Run";
    let (program, said) = compile(&[("main.words", main), STORE]);
    let program = program.unwrap_or_else(|| panic!("{said:#?}"));
    assert_eq!(shown(&program, "Run"), "Run = store.Keep -> End");
}

#[test]
fn what_does_not_fit_is_reported_whatever_the_notations_are() {
    let unknown = "use \"middle.words\";\nA = middle.Wark;";
    assert_eq!(
        compile(&[("main.flux", unknown), MIDDLE, STORE]).1,
        ["[unknown-in-module] the module `middle` has no node `Wark`: did you mean `middle.Work`?"]
    );
    let unknown = "use store.flux\nflow A store/Keeep";
    assert_eq!(
        compile(&[("main.words", unknown), STORE]).1,
        ["[unknown-in-module] the module `store` has no node `Keeep`: did you mean `store.Keep`?"]
    );
    let unused = "flow A store/Keep";
    assert_eq!(
        compile(&[("main.words", unused)]).1,
        ["[unknown-module] this file uses no module `store`: use it first: `use std.store;`, or \
                `use \"store.flux\";` for one of your own"]
    );
    let circle = [("a.flux", "use \"b.words\";"), ("b.words", "use c.flux"), ("c.flux", "use \"b.words\";")];
    assert_eq!(
        compile(&circle).1,
        ["[module-cycle] modules use each other in a circle: `b.words` -> `c.flux` -> `b.words`: move what both need \
                into a third module, which both use"]
    );
    let clash = [("a.flux", "use \"b.words\";\nuse \"b.flux\" as c;"), ("b.words", ""), ("b.flux", "")];
    assert_eq!(
        compile(&clash).1,
        ["[module-clash] two files of the program are called `b`: `b.words` and `b.flux`: rename one of the files: \
                its name is that of its C++ namespace"]
    );
    let ending = "use \"b.txt\";";
    assert_eq!(
        compile(&[("a.flux", ending)]).1,
        ["[unknown-module] `b.txt` is not a Flux file: a module is a file that ends in `.flux` or `.words`, with C++ \
                of the same name beside it"]
    );
}

/// Names that C++ would take for one are refused for every notation, as the model has them.
#[test]
fn names_that_clash_are_found_in_the_model() {
    let main = "use middle.words\nnode middle int:n gives int:n\nnode delete int:n gives int:n";
    assert_eq!(
        compile(&[("main.words", main), MIDDLE, STORE]).1,
        [
            "[name-clash] `middle` is both a node and a module: give the node another name: the module's is that of a \
                namespace of C++",
            "[invalid-name] `delete` is a keyword of C++ and cannot name a node: choose another name",
        ]
    );
}
