//! Asks the C++ compiler which functions of a program its headers declare, and how they fit.
//!
//! [`Probe::text`] is a file with a line for each question, marked with the number of what is asked about; it is
//! compiled for its errors alone, and [`Probe::read`] finds the answers in them. A name that is not declared is an
//! error on the line that names it; everything else comes in numbers, from `probe.hpp`.

use crate::AskedFunction;
use crate::names::cpp_name;
use crate::types::types_header_names;
use flux_contract as contract;
use flux_ir::external::{ExternalId, ExternalRole, Outcome, Passing, PlainFunction};
use flux_ir::flow::{End, Flow};
use flux_ir::name::Name;
use flux_ir::program::{Body, Parameter};
use flux_source::{SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The templates that find the answers.
const TEMPLATES: &str = include_str!("probe.hpp");

/// A function that its header declares so that the program cannot call it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// Its name.
    pub function: Name,
    /// What the header declares: `int Find(long)`, or `an overloaded function` where there are several.
    pub declared: String,
    /// What would fit: `int Find(int socket, std::string &text)`.
    pub wanted: String,
    /// Where the program asks for it.
    pub span: Span,
    /// The value that does not fit, where it is one alone.
    pub parameter: Option<MisfitParameter>,
}

/// A parameter of a function that does not take the value that it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MisfitParameter {
    /// What the program says: `int count`.
    pub asked: Parameter,
    /// What the header declares: `long &`.
    pub declared: String,
    /// What the header would declare: `int &count`.
    pub wanted: String,
}

/// What a program asks of one function.
struct Question {
    external: ExternalId,
    function: Name,
    role: ExternalRole,
    inputs: Vec<Parameter>,
    outputs: Vec<Parameter>,
    /// The node whose structs it may take instead.
    structs: Option<Name>,
    span: Span,
}

/// The questions of a program.
pub struct Probe<'a> {
    flow: &'a Flow,
    questions: Vec<Question>,
}

impl<'a> Probe<'a> {
    /// All that there is to ask, but for functions that are `known` to take structs: a source defines them so, or there
    /// is no header that could declare them otherwise.
    pub fn new(flow: &'a Flow, is_known: impl Fn(&Name) -> bool) -> Self {
        let program = &flow.program;
        let mut questions: Vec<Question> = vec![];
        let mut ask = |external: ExternalId, (inputs, outputs): (&[Parameter], &[Parameter]), structs, span| {
            let (function, role) = (program.externals[external].name.clone(), program.externals[external].role);
            let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
            questions.push(Question { external, function, role, inputs, outputs, structs, span });
        };
        for (_, node) in program.nodes.iter() {
            if let Body::External(external) = node.body
                && program.externals[external].types.is_empty()
            {
                ask(external, (node.inputs(), node.outputs()), Some(node.name.clone()), node.span);
            }
        }
        for (external, span, parameter) in predicates(flow) {
            ask(external, (&[parameter], &[]), None, span);
        }
        for source in &program.sources {
            if let Some(external) = source.session {
                let target = &program.nodes[source.target];
                ask(external, (target.inputs(), &[]), Some(target.name.clone()), source.span);
            }
        }
        questions.retain(|question| !is_known(&question.function));
        Self { flow, questions }
    }

    /// Whether there is something to ask.
    pub fn is_needed(&self) -> bool {
        !self.questions.is_empty()
    }

    /// What a header could declare for each question.
    pub fn wanted(&self, sources: &SourceMap) -> Vec<AskedFunction> {
        let wanted = self.questions.iter().map(|question| AskedFunction {
            name: question.function.clone(),
            declaration: question.wanted(),
            asked_by: sources.name_and_line(question.span),
        });
        wanted.collect()
    }

    /// The C++ to compile.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let asked = || self.questions.iter().flat_map(|question| question.inputs.iter().chain(&question.outputs));
        let system: BTreeSet<&str> = asked().flat_map(|parameter| parameter.ty.headers()).collect();
        for name in system {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "#include <{name}>");
        }
        for header in types_header_names(self.flow) {
            let _ = writeln!(text, "#include \"{header}\"");
        }
        let of_modules = self.flow.program.modules.iter().flat_map(|(_, module)| &module.includes);
        for include in of_modules.chain(&self.flow.program.includes) {
            let _ = writeln!(text, "#include \"{}\"", include.path);
        }
        text += TEMPLATES;
        for question in &self.questions {
            text += &question.structs_of_module();
        }
        for (number, question) in self.questions.iter().enumerate() {
            text += &question.text(number);
        }
        text
    }

    /// The functions that the compiler's errors show to be plain, and those that do not fit.
    pub fn read(&self, said: &str) -> (Vec<(ExternalId, PlainFunction)>, Vec<Misfit>) {
        let mut undeclared = vec![false; self.questions.len()];
        let mut answers: BTreeMap<usize, Vec<i32>> = BTreeMap::new();
        let mut types: BTreeMap<usize, String> = BTreeMap::new();
        for line in said.lines().filter(|line| line.contains("error: ")) {
            if let Some(number) = after(line, "flux-name:").and_then(leading_number) {
                undeclared.get_mut(number).into_iter().for_each(|one| *one = true);
            }
            if let Some(list) = between(line, "flux_answer<", ">") {
                let mut numbers = list.split(',').filter_map(|number| number.trim().parse::<i32>().ok());
                let number = numbers.next().and_then(|number| usize::try_from(number).ok());
                number.into_iter().for_each(|number| _ = answers.insert(number, numbers.clone().collect()));
            }
            if let (Some(number), Some((_, rest))) =
                (after(line, "flux-type:").and_then(leading_number), line.split_once("flux_type<"))
            {
                types.insert(number, function_type(rest));
            }
        }
        let (mut plain, mut misfits) = (vec![], vec![]);
        if said.contains("fatal error: ") {
            // A header is not there.
            return (plain, misfits);
        }
        for (number, question) in self.questions.iter().enumerate() {
            if undeclared.get(number).copied().unwrap_or(true) {
                continue;
            }
            let ty = types.get(&number).map(String::as_str);
            let answer = answers.get(&number).map_or(&[][..], Vec::as_slice);
            // Without an answer it is no function, or a type is unknown: the compiler will say so of the code.
            if !answer.is_empty() && question.read(answer, ty, &mut plain).is_none() {
                misfits.push(question.misfit(answer, ty));
            }
        }
        (plain, misfits)
    }
}

/// Every predicate with each type that it is asked about.
fn predicates(flow: &Flow) -> Vec<(ExternalId, Span, Parameter)> {
    let mut found: Vec<(ExternalId, Span, Parameter)> = vec![];
    for (_, function) in flow.functions.iter() {
        let End::Dispatch { lines, .. } = &function.body.end else { continue };
        for test in lines.iter().flat_map(|line| &line.tests) {
            let flux_ir::flow::Operand::Input(index) = test.value else { continue };
            let (Some(parameter), predicate) = (function.inputs.get(index), &flow.program.predicates[test.predicate])
            else {
                continue;
            };
            let Some(external) = predicate.external() else { continue };
            let is_new = !found.iter().any(|(one, _, asked)| *one == external && asked.ty == parameter.ty);
            if is_new {
                found.push((external, predicate.span, parameter.clone()));
            }
        }
    }
    found
}

impl Question {
    /// Declares the structs of a module's node, as only those outside of namespaces are declared where they are named.
    fn structs_of_module(&self) -> String {
        let named = self.structs.as_ref().and_then(|node| Some((node.module()?, node.own())));
        named.map_or(String::new(), |(namespace, node)| {
            format!("namespace {namespace} {{ struct {node}_in; struct {node}_out; }}\n")
        })
    }

    /// Its lines of the file.
    fn text(&self, number: usize) -> String {
        let function = cpp_name(&self.function);
        let types = |parameters: &[Parameter], suffix: &str| {
            let types: Vec<_> =
                parameters.iter().map(|one| format!("{}{}{suffix}", one.ty.cpp(), one.ty.array())).collect();
            types.join(", ")
        };
        let (inputs, outputs) = (types(&self.inputs, ""), types(&self.outputs, ""));
        let structs = self
            .structs
            .as_ref()
            .map(cpp_name)
            .map_or("void, void".to_owned(), |name| format!("struct {name}_in, struct {name}_out"));
        let asked = format!("{structs}, flux_probe::list<{inputs}>, flux_probe::list<{outputs}>");
        let at = number + 1;
        let name = format!(
            "#line {at} \"flux-name\"\nnamespace flux_name_{number} {{ using ::{function}; }}\n\
             #line {at} \"flux-type\"\nflux_type<decltype(&::{function})> flux_type_{number};\n\
             #line {at} \"flux-call\"\ntemplate <class... Arguments>\n\
             using flux_call_{number} = decltype(::{function}(std::declval<Arguments>()...));\n",
        );
        let wanted = match self.role {
            // Nobody asks about handlers, which take structs.
            ExternalRole::Node | ExternalRole::Handler => None,
            ExternalRole::Predicate => Some("bool"),
            ExternalRole::Session => Some("int"),
        };
        if let Some(wanted) = wanted {
            let input = self.structs.as_ref().map_or("void".to_owned(), |node| format!("struct {}_in", cpp_name(node)));
            let asked = format!("flux_call_{number}, {wanted}, {input}, flux_probe::list<{inputs}>");
            let fit = format!("flux_probe::gives_one<{asked}>::find()[0]");
            return format!("{name}flux_answer<{number}, {fit}> flux_call_answer_{number};\n");
        }
        let count = 1 + self.inputs.len() + self.outputs.len();
        let list = |of: &str| (0..count).map(|index| format!(", {of}[{index}]")).collect::<String>();
        let by_type = list(&format!("flux_fit_{number}"));
        let by_call = list(&format!("flux_overloads_{number}"));
        let overloads = format!("flux_probe::overloads<flux_call_{number}, {asked}>");
        format!(
            "{name}constexpr auto flux_overloads_{number} = {overloads}::find();\n\
             flux_answer<{number}{by_call}> flux_call_answer_{number};\n\
             #line {at} \"flux-fit\"\n\
             constexpr auto flux_fit_{number} = flux_probe::fit<decltype(&::{function}), {asked}>::find();\n\
             flux_answer<{number}{by_type}> flux_fit_answer_{number};\n",
        )
    }

    /// Takes the answer in; none where the function does not fit.
    fn read(&self, answer: &[i32], ty: Option<&str>, plain: &mut Vec<(ExternalId, PlainFunction)>) -> Option<()> {
        let (result, passing) = answer.split_first()?;
        let passing = passing.iter().map(|how| match how {
            0 => Some(Passing::Value),
            1 => Some(Passing::Moved),
            2 => Some(Passing::Address),
            3 => Some(Passing::Seen),
            _ => None,
        });
        let mut passing: Vec<Passing> = passing.collect::<Option<_>>()?;
        let outcome = match (self.role, result) {
            // Declared with a node's structs, as the generated header would.
            (_, 0) => return Some(()),
            (ExternalRole::Predicate | ExternalRole::Session, 3) => Outcome::Output,
            (ExternalRole::Node, 1) => Outcome::Nothing,
            (ExternalRole::Node, 2) => Outcome::Error,
            (ExternalRole::Node, 3) => Outcome::Output,
            (ExternalRole::Node, 4) => Outcome::ExpectedOutput,
            (ExternalRole::Node, 5) => Outcome::ExpectedSuccess,
            _ => return None,
        };
        let declaration = match ty {
            Some(ty) => self.declared(ty),
            None => self.overloaded(outcome, &passing),
        };
        if outcome.has_output() {
            passing.truncate(if self.role == ExternalRole::Node { self.inputs.len() } else { 0 });
        }
        plain.push((self.external, PlainFunction { declaration, outcome, passing }));
        Some(())
    }

    /// The function's name in its namespace.
    fn own_name(&self) -> &str {
        self.function.own()
    }

    /// As the header declares it, its parameters named.
    fn declared(&self, ty: &str) -> String {
        let result = ty.split_once("(*)(").map_or(ty, |(result, _)| result);
        let names = self.inputs.iter().map(|input| input.name.clone()).chain(self.output_names());
        let named: Vec<_> =
            parameter_types(ty).into_iter().zip(names).map(|(ty, name)| declarator(ty, &name)).collect();
        declarator(result, &format!("{}({})", self.own_name(), named.join(", ")))
    }

    /// As a header may declare the one that is called, of several.
    fn overloaded(&self, outcome: Outcome, passing: &[Passing]) -> String {
        let given = self.outputs.first().map_or("void", |output| output.ty.cpp());
        let result = match (self.role, outcome) {
            (ExternalRole::Predicate, _) => "bool".to_owned(),
            (ExternalRole::Session, _) | (_, Outcome::Error) => "int".to_owned(),
            (_, Outcome::Nothing) => "void".to_owned(),
            (_, Outcome::Output) => given.to_owned(),
            (_, Outcome::ExpectedOutput) => format!("{}<{given}, int>", contract::EXPECTED.spelling),
            (_, Outcome::ExpectedSuccess) => format!("{}<void, int>", contract::EXPECTED.spelling),
        };
        let inputs = self.inputs.iter().zip(passing).map(|(input, passing)| match passing {
            Passing::Value | Passing::Seen => wanted_input(input),
            Passing::Moved => declarator(input.ty.cpp(), &input.name),
            Passing::Address => format!("const {} *{}", input.ty.cpp(), input.name),
        });
        let outputs = self.wanted_outputs().take(passing.len().saturating_sub(self.inputs.len()));
        declarator(&result, &format!("{}({})", self.own_name(), inputs.chain(outputs).collect::<Vec<_>>().join(", ")))
    }

    /// A declaration that would fit.
    fn wanted(&self) -> String {
        let parameters: Vec<_> = self.inputs.iter().map(wanted_input).chain(self.wanted_outputs()).collect();
        let result = if self.role == ExternalRole::Predicate { "bool" } else { "int" };
        format!("{result} {}({})", self.own_name(), parameters.join(", "))
    }

    /// The outputs, by reference.
    fn wanted_outputs(&self) -> impl Iterator<Item = String> + '_ {
        let named = self.outputs.iter().zip(self.output_names());
        named.map(|(output, name)| match output.ty.is_array() {
            true => format!("{} (&{name}){}", output.ty.cpp(), output.ty.array()),
            false => output.ty.declare_cpp(&format!("&{name}")),
        })
    }

    /// The names of the outputs as parameters: one that an input has, too, is another.
    fn output_names(&self) -> impl Iterator<Item = String> + '_ {
        self.outputs.iter().map(|output| {
            let is_taken = self.inputs.iter().any(|input| input.name == output.name);
            format!("{}{}", output.name, if is_taken { "_out" } else { "" })
        })
    }

    fn misfit(&self, answer: &[i32], ty: Option<&str>) -> Misfit {
        let declared = ty.map_or("an overloaded function".to_owned(), |ty| ty.replacen("(*)", self.own_name(), 1));
        let parameter = ty.and_then(|ty| self.misfit_parameter(answer, ty));
        Misfit { function: self.function.clone(), declared, wanted: self.wanted(), span: self.span, parameter }
    }

    /// The only parameter that does not fit, in a function of this type.
    fn misfit_parameter(&self, answer: &[i32], ty: &str) -> Option<MisfitParameter> {
        let (_, passing) = answer.split_first()?;
        let mut wrong = passing.iter().enumerate().filter(|(_, how)| **how < 0).map(|(at, _)| at);
        let (Some(at), None) = (wrong.next(), wrong.next()) else { return None };
        let asked = self.inputs.iter().chain(&self.outputs).nth(at)?.clone();
        let declared = (*parameter_types(ty).get(at)?).to_owned();
        let wanted = self.inputs.iter().map(wanted_input).chain(self.wanted_outputs()).nth(at)?;
        Some(MisfitParameter { asked, declared, wanted })
    }
}

/// An input as one would take it: objects by reference.
fn wanted_input(input: &Parameter) -> String {
    if input.ty.is_scalar() || input.ty.is_array() {
        return input.ty.declare_cpp(&input.name);
    }
    format!("const {} &{}", input.ty.cpp(), input.name)
}

/// A type and a name: `char *path`, `int n`.
fn declarator(ty: &str, name: &str) -> String {
    let ty = ty.trim();
    if name.is_empty() || ty.ends_with(['*', '&']) { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// What a function of this type takes: `int`, `long &` of `int (*)(int, long &)`.
fn parameter_types(ty: &str) -> Vec<&str> {
    let parameters = ty.split_once("(*)(").map_or("", |(_, parameters)| parameters);
    let parameters = parameters.trim_end().trim_end_matches("noexcept").trim_end();
    split_list(parameters.strip_suffix(')').unwrap_or(parameters))
}

/// The parts of a list between commas that no bracket encloses.
fn split_list(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = list.split(move |character| {
        depth += match character {
            '<' | '(' => 1,
            '>' | ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The type of a function up to the bracket that closes it, in a user's words.
fn function_type(text: &str) -> String {
    let mut depth = 0_i32;
    let end = text.find(|character| {
        depth += match character {
            '<' => 1,
            '>' => -1,
            _ => 0,
        };
        depth < 0
    });
    let mut plain = text.split_at(end.unwrap_or(text.len())).0.to_owned();
    for string in [
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
        "std::__cxx11::basic_string<char>",
        "std::basic_string<char>",
    ] {
        plain = plain.replace(string, "std::string");
    }
    plain = plain.replace("long int", "long").replace("short int", "short");
    // Both compilers are given one spelling: `T &name`, `T **name`.
    let tight = plain.replace(" &", "&").replace(" *", "*");
    let mut spaced = String::new();
    for character in tight.chars() {
        if matches!(character, '&' | '*') && !spaced.ends_with(['&', '*', '(', ' ']) {
            spaced.push(' ');
        }
        spaced.push(character);
    }
    spaced
}

fn after<'text>(line: &'text str, mark: &str) -> Option<&'text str> {
    line.split_once(mark).map(|(_, rest)| rest)
}

fn between<'text>(line: &'text str, open: &str, close: &str) -> Option<&'text str> {
    after(line, open)?.split_once(close).map(|(inside, _)| inside)
}

/// The number of the question on this line of the file, which counts from 1.
fn leading_number(text: &str) -> Option<usize> {
    text.split(|character: char| !character.is_ascii_digit()).next()?.parse::<usize>().ok()?.checked_sub(1)
}
