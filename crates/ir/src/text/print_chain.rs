//! Prints the chains of a program, and which values pass along them.

use super::names::{Ports, Scope};
use super::printer::Printer;
use crate::program::{Action, Argument, Chain, Each, Step};

impl Printer {
    /// Writes a chain; `scope` is what its arguments may name.
    pub(super) fn chain(&mut self, chain: &Chain, scope: &mut Scope) {
        self.span(chain.span);
        self.separated(" -> ", &chain.steps, |printer, step| printer.step(step, scope));
        let opening = if chain.steps.is_empty() { "gives (" } else { " gives (" };
        self.values(opening, chain.results.as_deref(), scope);
    }

    fn step(&mut self, step: &Step, scope: &mut Scope) {
        self.write(format!("%{} ", step.number.0));
        match &step.action {
            Action::Apply(application) => {
                self.application(application);
                self.values(" takes (", application.arguments.as_deref(), scope);
                self.kept(&application.kept, scope);
                scope.add(step.number, Some(Ports::NodeOutputs(application.node)));
            }
            Action::Parallel(parallel) => {
                self.span(parallel.span);
                self.write("(");
                self.separated(" & ", &parallel.branches, |printer, branch| printer.chain(branch, scope));
                self.write(")");
                self.values(" takes (", parallel.arguments.as_deref(), scope);
                scope.add(step.number, None);
            }
            Action::Each(each) => {
                self.each(each, scope);
                scope.add(step.number, None);
            }
        }
        self.within(step.within.as_ref());
    }

    fn each(&mut self, each: &Each, scope: &mut Scope) {
        self.span(each.span);
        self.write("[");
        self.chain(&each.chain, scope);
        self.write("]");
        if let Some(width) = &each.width {
            self.write("(");
            self.constant(width);
            self.write(")");
        }
        let Some(values) = &each.values else { return };
        self.write(" each (");
        self.parameter(&values.element);
        self.write(") of ");
        self.argument(&values.list, scope);
        self.values(" takes (", Some(&values.copied), scope);
        if !values.carried.is_empty() {
            self.write(" carries (");
            self.carried(&values.carried);
            self.write(")");
        }
    }

    /// `0 as 1, 2 as 0`: outputs of an instance, and the inputs that they are in the next.
    pub(super) fn carried(&mut self, carried: &[(usize, usize)]) {
        self.separated(", ", carried, |printer, (output, input)| printer.write(format!("{output} as {input}")));
    }

    /// ` takes (in.x, %1.y)`, where the values are known; `opening` is what comes before the first.
    pub(super) fn values(&mut self, opening: &str, values: Option<&[Argument]>, scope: &Scope) {
        if let Some(values) = values {
            self.write(opening);
            self.separated(", ", values, |printer, value| printer.argument(value, scope));
            self.write(")");
        }
    }

    /// ` keeps (in.x)`, where there are such values.
    pub(super) fn kept(&mut self, kept: &[Argument], scope: &Scope) {
        self.values(" keeps (", Some(kept).filter(|kept| !kept.is_empty()), scope);
    }

    fn argument(&mut self, argument: &Argument, scope: &Scope) {
        match argument {
            Argument::Input(index) => {
                self.write("in.");
                self.position(scope.inputs(), *index);
            }
            Argument::Output(step, index) => {
                self.write(format!("%{}.", step.0));
                self.position(scope.outputs(*step), *index);
            }
            Argument::Element(step) => self.write(format!("element of %{}", step.0)),
            Argument::Error(part) => self.write(part.name()),
            Argument::Kept(index) => self.write(format!("kept.{index}")),
            Argument::Constant(constant) => {
                self.write("= ");
                self.constant(constant);
            }
        }
    }
}
