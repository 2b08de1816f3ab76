//! Prints a program.

use super::Options;
use super::lexical;
use super::names::{Names, Ports, Scope};
use super::printer::Printer;
use crate::external::ExternalRole;
use crate::program::{
    self, Application, Body, Constant, Handler, HandlerStep, HandlerTarget, Include, Line, Module, ModuleId,
    NamedValue, Node, NodeId, Origin, Parameter, Program, Replacement, Requirement, ServerOption, Source, TestedBy,
    TypeBody, TypeDeclaration,
};

/// The text of `program`.
pub(super) fn print(program: &Program, options: Options) -> String {
    let mut printer = Printer::new(Names::of_program(program), options);
    printer.program(program);
    printer.finish()
}

impl Printer {
    pub(super) fn program(&mut self, program: &Program) {
        self.write(format!("program {}", lexical::name(&program.name)));
        self.end_line();
        self.gap();
        self.shared(program);
        self.gap();
        for (id, node) in program.nodes.iter() {
            self.node(id, node);
        }
        self.gap();
        for source in &program.sources {
            self.source(source);
        }
        for handler in &program.handlers {
            self.handler(handler);
        }
    }

    /// What nodes refer to.
    fn shared(&mut self, program: &Program) {
        program.modules.iter().for_each(|(_, module)| self.module(module));
        self.preamble(&program.uses, &program.includes);
        for link in &program.links {
            self.span(link.span);
            self.write(format!("link {}", lexical::quoted(&link.library)));
            self.end_line();
        }
        program.types.iter().for_each(|(_, declared)| self.type_declaration(declared));
        program.messages.iter().for_each(|(_, message)| self.message(message));
        program.options.iter().for_each(|(_, option)| self.option(option));
        for (_, code) in program.codes.iter() {
            self.span(code.span);
            self.write(format!("code {} = {}", lexical::declared(&code.name), code.number));
            self.end_line();
        }
        self.externals(program);
        for (_, predicate) in program.predicates.iter() {
            self.span(predicate.span);
            self.write(format!("predicate {} ", lexical::declared(&predicate.name)));
            let computed = match &predicate.tested_by {
                TestedBy::Computed(computed) => computed,
                TestedBy::External(external) => {
                    self.write("= ");
                    self.external(*external, ExternalRole::Predicate);
                    self.promised(*external);
                    self.end_line();
                    continue;
                }
            };
            self.write("(");
            self.span(computed.input.span);
            self.write(lexical::parameter(&computed.input));
            self.write(") ");
            self.open();
            self.computation(&computed.computation, 1);
            self.close();
        }
        for (_, constraint) in program.constraints.iter() {
            self.span(constraint.span);
            let scope = match constraint.scope {
                program::Scope::Program => "program",
                program::Scope::Session => "session",
                program::Scope::Keyed => "keyed",
            };
            self.write(format!("constraint {} {scope}", lexical::declared(&constraint.name)));
            if let Some(table) = constraint.table {
                self.write(format!(" of #{}", table.index()));
            }
            self.end_line();
        }
    }

    fn module(&mut self, module: &Module) {
        self.span(module.span);
        self.write(format!("module {}", lexical::name(&module.name)));
        if module.uses.is_empty() && module.includes.is_empty() {
            return self.end_line();
        }
        self.write(" ");
        self.open();
        self.preamble(&module.uses, &module.includes);
        self.close();
    }

    /// What a file uses and includes.
    fn preamble(&mut self, uses: &[ModuleId], includes: &[Include]) {
        for module in uses {
            self.write("use ");
            self.mention(|names| &names.modules, module.index());
            self.end_line();
        }
        for include in includes {
            self.span(include.span);
            self.write(format!("include {}", lexical::quoted(&include.path)));
            self.end_line();
        }
    }

    fn type_declaration(&mut self, declared: &TypeDeclaration) {
        self.span(declared.span);
        let name = lexical::declared(&declared.name);
        match &declared.body {
            TypeBody::Enum(values) => {
                let values: Vec<_> = values.iter().map(|value| lexical::name(value)).collect();
                self.write(format!("enum {name} ({})", values.join(", ")));
                self.end_line();
            }
            TypeBody::Record(fields) => {
                self.write(format!("record {name} "));
                self.open();
                for field in fields {
                    self.span(field.span);
                    self.write(format!("field {}", lexical::parameter(field)));
                    self.end_line();
                }
                self.close();
            }
        }
    }

    fn option(&mut self, option: &ServerOption) {
        self.span(option.span);
        self.write(format!("option {} {}", lexical::declared(&option.name), option.kind.name()));
        if let Some(default) = &option.default {
            self.write(" = ");
            self.constant(default);
        }
        if !option.about.is_empty() {
            self.write(format!(" about {}", lexical::quoted(&option.about)));
        }
        self.end_line();
    }

    fn node(&mut self, id: NodeId, node: &Node) {
        self.span(node.span);
        self.write(format!("node {}", lexical::declared(&node.name)));
        if let Some(signature) = &node.signature {
            self.signature(&signature.inputs, &signature.outputs);
            if !signature.defaults.is_empty() {
                self.write(" defaults (");
                self.separated(", ", &signature.defaults, Self::constant);
                self.write(")");
            }
            self.write(if signature.inferred { " inferred" } else { "" });
        }
        self.write(if node.blocking { " blocking" } else { "" });
        self.write(if node.replicable { " replicable" } else { "" });
        self.write(node.stack.map(|bytes| format!(" stack {bytes}")).unwrap_or_default());
        if let Body::External(external) = node.body {
            self.promised(external);
            self.calls(external, &node.name);
            if node.requirements.is_empty() {
                return self.end_line();
            }
        }
        self.write(" ");
        self.open();
        if !node.requirements.is_empty() {
            self.write("holds ");
            self.separated(", ", &node.requirements, |printer, one| printer.requirement(id, one));
            self.end_line();
        }
        match &node.body {
            Body::External(_) => {}
            Body::Computed(computation) => {
                self.write("compute ");
                self.open();
                self.computation(computation, node.inputs().len() + node.outputs().len());
                self.close();
            }
            Body::Chain(chain) => {
                self.write("flow = ");
                self.chain(chain, &mut Scope::of(Ports::NodeInputs(id)));
                self.end_line();
            }
            Body::Dispatch(lines) => lines.iter().for_each(|line| self.line(id, line)),
        }
        self.close();
    }

    /// Writes ` (inputs) => (outputs)`.
    pub(super) fn signature(&mut self, inputs: &[Parameter], outputs: &[Parameter]) {
        self.write(" (");
        self.separated(", ", inputs, Self::parameter);
        self.write(") => (");
        self.separated(", ", outputs, Self::parameter);
        self.write(")");
    }

    pub(super) fn parameter(&mut self, parameter: &Parameter) {
        self.span(parameter.span);
        self.write(lexical::parameter(parameter));
    }

    fn requirement(&mut self, node: NodeId, requirement: &Requirement) {
        self.span(requirement.span);
        self.mention(|names| &names.constraints, requirement.constraint.index());
        self.mode(requirement.mode);
        self.input_key(Ports::NodeInputs(node), &requirement.key);
    }

    /// Writes a key that is made of inputs, where there is one.
    pub(super) fn input_key(&mut self, ports: Ports, key: &[usize]) {
        if !key.is_empty() {
            self.write("(");
            self.separated(", ", key, |printer, index| {
                printer.write("in.");
                printer.position(Some(ports), *index);
            });
            self.write(")");
        }
    }

    fn line(&mut self, node: NodeId, line: &Line) {
        self.span(line.span);
        self.write("flow [");
        self.separated(", ", &line.patterns, |printer, pattern| match pattern {
            None => printer.write("_"),
            Some(predicate) => printer.mention(|names| &names.predicates, predicate.index()),
        });
        self.write("] = ");
        self.chain(&line.chain, &mut Scope::of(Ports::NodeInputs(node)));
        self.end_line();
    }

    /// ` within 300`, where there is a deadline.
    pub(super) fn within(&mut self, within: Option<&Constant>) {
        if let Some(time) = within {
            self.write(" within ");
            self.constant(time);
        }
    }

    pub(super) fn application(&mut self, application: &Application) {
        self.span(application.span);
        self.mention(|names| &names.nodes, application.node.index());
        if application.constants.is_empty() && application.named.is_empty() {
            return;
        }
        self.write("(");
        self.separated(", ", &application.constants, Self::constant);
        self.write(if application.constants.is_empty() || application.named.is_empty() { "" } else { ", " });
        self.separated(", ", &application.named, |printer, named| {
            printer.span(named.span);
            printer.write(format!("{}: ", lexical::name(&named.input)));
            match &named.value {
                NamedValue::Value(value) => printer.write(lexical::name(value)),
                NamedValue::Constant(constant) => {
                    printer.write("= ");
                    printer.constant(constant);
                }
                NamedValue::Option(option) => {
                    printer.write("?");
                    printer.mention(|names| &names.options, option.index());
                }
            }
        });
        self.write(")");
    }

    fn source(&mut self, source: &Source) {
        self.span(source.span);
        self.write("source ");
        match &source.origin {
            Origin::Node(application) => {
                self.application(application);
                self.values(" with (", application.arguments.as_deref(), &Scope::default());
            }
            Origin::Timer(milliseconds) => self.write(format!("every {milliseconds}ms")),
        }
        self.write(" => ");
        self.mention(|names| &names.nodes, source.target.index());
        let given = match &source.origin {
            Origin::Node(application) => Scope::of(Ports::NodeOutputs(application.node)),
            Origin::Timer(_) => Scope::default(),
        };
        self.values(" takes (", source.arguments.as_deref(), &given);
        if let Some(session) = &source.session {
            self.write(" session ");
            self.external(*session, ExternalRole::Session);
        }
        if source.on_loops {
            self.write(" on_loops");
        }
        self.end_line();
    }

    fn handler(&mut self, handler: &Handler) {
        self.span(handler.span);
        self.write("handle error ");
        self.separated(" -> ", &handler.path, |printer, node| match node {
            None => printer.write("*"),
            Some(node) => printer.mention(|names| &names.nodes, node.index()),
        });
        match handler.target.step() {
            None => {}
            Some(HandlerStep::External(external)) => {
                self.write(" => function ");
                self.external(external, ExternalRole::Handler);
            }
            Some(HandlerStep::Node(node)) => {
                self.write(" => node ");
                self.mention(|names| &names.nodes, node.index());
            }
        }
        self.write(match handler.target {
            HandlerTarget::Run(_) => "",
            HandlerTarget::GoOn(Some(_)) => " -> _",
            HandlerTarget::GoOn(None) => " => _",
        });
        match handler.target.node() {
            Some(node) if !handler.replacements.is_empty() => self.replacements(node, &handler.replacements),
            _ => self.end_line(),
        }
    }

    fn replacements(&mut self, handler: NodeId, replacements: &[Replacement]) {
        self.write(" ");
        self.open();
        for Replacement { failing, arguments, kept, resume } in replacements {
            self.write("for ");
            self.mention(|names| &names.nodes, failing.index());
            let scope = Scope::of(Ports::NodeInputs(*failing));
            self.values(" takes (", Some(arguments), &scope);
            self.kept(kept, &scope);
            if let Some(outputs) = resume {
                self.write(" gives (");
                self.separated(", ", outputs, |printer, index| {
                    printer.write("out.");
                    printer.position(Some(Ports::NodeOutputs(handler)), *index);
                });
                self.write(")");
            }
            self.end_line();
        }
        self.close();
    }
}
