//! Prints a flow.

use super::Options;
use super::lexical;
use super::names::{Names, Ports};
use super::printer::Printer;
use crate::external::{External, ExternalRole};
use crate::flow::{
    Acquisition, Block, Branch, Callee, Each, EachOrder, End, Entry, Exits, Flow, Function, FunctionId, HeldKey, Line,
    Operand, Role, Step, StepId, StepPaths,
};
use crate::provenance::Provenance;
use flux_source::deep;
use std::collections::HashMap;

/// The text of `flow`.
pub(super) fn print(flow: &Flow, options: Options) -> String {
    let mut printer = Printer::new(Names::of_flow(&flow.program, &flow.functions), options);
    printer.program(&flow.program);
    for (id, function) in flow.functions.iter() {
        printer.gap();
        FunctionPrinter { printer: &mut printer, id, steps: HashMap::new() }.function(function);
    }
    printer.gap();
    for entry in &flow.entries {
        printer.entry(entry);
    }
    printer.finish()
}

impl Printer {
    fn entry(&mut self, entry: &Entry) {
        self.write("entry ");
        if let Some(produce) = entry.produce {
            self.write("produce ");
            self.mention(|names| &names.functions, produce.index());
            self.write(" ");
        }
        self.write("run ");
        self.mention(|names| &names.functions, entry.run.index());
        self.end_line();
    }

    fn exits(&mut self, exits: Exits) {
        self.write(format!("{}/{}/{}", exits.done, exits.failed, exits.ended));
    }

    fn offset(&mut self, offset: u64) {
        if offset > 0 {
            self.write(format!(" +{offset}"));
        }
    }

    fn step_paths(&mut self, paths: StepPaths) {
        if paths == StepPaths::default() {
            return;
        }
        self.write(" paths ");
        self.write(if paths.save { "save " } else { "" });
        self.write(if paths.cut { "cut " } else { "" });
        self.exits(paths.radix);
        if paths.ended_offset > 0 {
            self.write(" ended");
            self.offset(paths.ended_offset);
        }
    }
}

/// Prints one function, knowing what each step so far has called.
struct FunctionPrinter<'a> {
    printer: &'a mut Printer,
    id: FunctionId,
    steps: HashMap<StepId, (Option<Ports>, Option<Ports>)>,
}

impl FunctionPrinter<'_> {
    fn function(&mut self, function: &Function) {
        self.printer.span(function.span);
        self.printer.write(format!("function {}", lexical::name(&function.name)));
        self.printer.signature(&function.inputs, &function.outputs);
        self.printer.write(" ");
        self.printer.open();
        self.role(function);
        self.block_lines(&function.body);
        self.printer.close();
    }

    fn role(&mut self, function: &Function) {
        let printer = &mut *self.printer;
        match function.role {
            Role::Abstract(node) | Role::Branch(node) => {
                let branch = matches!(function.role, Role::Branch(_));
                printer.write(if branch { "branch " } else { "abstract " });
                printer.mention(|names| &names.nodes, node.index());
            }
            Role::Produce(source) => printer.write(format!("produce {source}")),
            Role::Run(source) => printer.write(format!("run {source}")),
        }
        if !function.held.is_empty() {
            printer.write(" held ");
            printer.separated(", ", &function.held, |printer, held| {
                printer.mention(|names| &names.constraints, held.constraint.index());
                printer.mode(held.mode);
                printer.held_key(Ports::FunctionInputs(self.id), &held.key);
                if let Some(pass) = held.moved_by {
                    printer.write(format!(" by {}", pass.name()));
                }
            });
        }
        if function.paths != Exits::default() {
            printer.write(" paths ");
            printer.exits(function.paths);
        }
        if let Some(fault) = function.fault {
            printer.write(format!(" fault +{fault}"));
        }
        printer.end_line();
    }

    /// A block: on the line of what it belongs to, or opened at its end.
    fn block(&mut self, block: &Block) {
        deep(|| {
            if block.steps.is_empty() && !matches!(block.end, End::Dispatch { .. }) {
                return self.end(&block.end);
            }
            self.printer.open();
            self.block_lines(block);
            self.printer.close();
        })
    }

    fn block_lines(&mut self, block: &Block) {
        for step in &block.steps {
            self.step(step);
        }
        self.end(&block.end);
    }

    fn step(&mut self, step: &Step) {
        self.printer.span(step.span);
        self.printer.write(format!("%{} = ", step.id.0));
        self.callee(&step.callee);
        self.steps.insert(step.id, (Ports::inputs_of(&step.callee), Ports::outputs_of(&step.callee)));
        self.printer.write("(");
        self.operands(&step.inputs);
        self.printer.write(")");
        self.printer.within(step.within.as_ref());
        for (index, acquisition) in step.acquire.iter().enumerate() {
            self.printer.write(if index == 0 { " holding " } else { ", " });
            self.acquisition(acquisition);
        }
        self.printer.step_paths(step.paths);
        self.printer.write(" else ");
        self.block(&step.failure);
    }

    fn callee(&mut self, callee: &Callee) {
        let printer = &mut *self.printer;
        match callee {
            Callee::Node(node) => {
                printer.write("node ");
                printer.mention(|names| &names.nodes, node.index());
            }
            Callee::Function(function) => {
                printer.write("function ");
                printer.mention(|names| &names.functions, function.index());
            }
            Callee::Fork(branches) => {
                printer.write("fork ");
                let branch = |printer: &mut Printer, branch: &Branch| {
                    printer.mention(|names| &names.functions, branch.function.index());
                    if let Some(after) = branch.after {
                        printer.write(format!(" after {after}"));
                    }
                };
                printer.separated(" & ", branches, branch);
            }
            Callee::Each(each) => printer.each_callee(each),
            Callee::External { external, node } => {
                let is_session = |external: &External| external.role == ExternalRole::Session;
                let role = match printer.names.called(*external).is_some_and(is_session) {
                    true => ExternalRole::Session,
                    false => ExternalRole::Handler,
                };
                printer.write(format!("{} ", role.name()));
                printer.external(*external, role);
                printer.write(" for ");
                printer.mention(|names| &names.nodes, node.index());
            }
        }
    }

    fn acquisition(&mut self, acquisition: &Acquisition) {
        self.printer.span(acquisition.span);
        self.printer.mention(|names| &names.constraints, acquisition.constraint.index());
        self.printer.mode(acquisition.mode);
        if !acquisition.key.is_empty() {
            self.printer.write("(");
            self.operands(&acquisition.key);
            self.printer.write(")");
        }
        if let Provenance::Pass(pass, node) = acquisition.provenance {
            self.printer.write(format!(" by {} for ", pass.name()));
            self.printer.mention(|names| &names.nodes, node.index());
        }
    }

    fn operands(&mut self, operands: &[Operand]) {
        for (index, operand) in operands.iter().enumerate() {
            self.printer.write(if index == 0 { "" } else { ", " });
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &Operand) {
        let called = |step: &StepId| self.steps.get(step).copied().unwrap_or_default();
        let (front, ports, index) = match operand {
            Operand::Input(index) => ("in.".to_owned(), Some(Ports::FunctionInputs(self.id)), *index),
            Operand::Output(step, index) => (format!("%{}.", step.0), called(step).1, *index),
            Operand::Changed(step, index) => (format!("%{}.changed.", step.0), called(step).0, *index),
            Operand::Error(step, part) => return self.printer.write(format!("{} of %{}", part.name(), step.0)),
            Operand::Constant(constant) => return self.printer.constant(constant),
        };
        self.printer.write(front);
        self.printer.position(ports, index);
    }

    fn end(&mut self, end: &End) {
        let (word, values, offset) = match end {
            End::Done { values, offset } => ("done", values.as_slice(), offset),
            End::Resume { values, offset } => ("resume", values.as_slice(), offset),
            End::Failed { offset } => ("failed", &[][..], offset),
            End::Ended { offset } => ("ended", &[][..], offset),
            End::GoOn { offset } => ("go_on", &[][..], offset),
            End::Dispatch { lines, unmatched } => return self.dispatch(lines, *unmatched),
        };
        self.printer.write(word);
        self.printer.write(if values.is_empty() { "" } else { " " });
        self.operands(values);
        self.printer.offset(*offset);
        self.printer.end_line();
    }

    fn dispatch(&mut self, lines: &[Line], unmatched: Option<u64>) {
        self.printer.write("dispatch ");
        self.printer.open();
        for line in lines {
            self.printer.span(line.span);
            self.printer.write("line ");
            for (index, test) in line.tests.iter().enumerate() {
                self.printer.write(if index == 0 { "" } else { ", " });
                self.printer.mention(|names| &names.predicates, test.predicate.index());
                self.printer.write("(");
                self.operand(&test.value);
                self.printer.write(")");
            }
            self.printer.write(if line.tests.is_empty() { "=> " } else { " => " });
            self.block(&line.block);
        }
        if let Some(offset) = unmatched {
            self.printer.write("unmatched");
            self.printer.offset(offset);
            self.printer.end_line();
        }
        self.printer.close();
    }
}

impl Printer {
    /// A function that is called for each element of a list, with what its step takes and gives.
    fn each_callee(&mut self, each: &Each) {
        self.write("each ");
        self.mention(|names| &names.functions, each.function.index());
        self.signature(&each.inputs, &each.outputs);
        match &each.order {
            EachOrder::Loop(carried) => {
                self.write(if carried.is_empty() { " loop" } else { " loop carrying " });
                self.carried(carried);
            }
            EachOrder::AtOnce(width) => {
                self.write(" at once ");
                self.constant(width);
            }
            EachOrder::InTurn => self.write(" in turn"),
        }
        self.write(" ");
    }

    /// A key that a caller holds, as the function sees it.
    fn held_key(&mut self, ports: Ports, key: &[HeldKey]) {
        if key.is_empty() {
            return;
        }
        self.write("(");
        self.separated(", ", key, |printer, part| match part {
            HeldKey::Inputs(inputs) => printer.separated(" | ", inputs, |printer, input| {
                printer.write("in.");
                printer.position(Some(ports), *input);
            }),
            HeldKey::Constant(constant) => printer.constant(constant),
            HeldKey::Lost => printer.write("lost"),
        });
        self.write(")");
    }
}
