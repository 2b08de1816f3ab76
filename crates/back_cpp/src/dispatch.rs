//! A dispatch: the lines in their order, each an `if` of its predicates; the one that matches anything comes last.

use crate::function::{Writer, separate};
use crate::names::cpp_name;
use crate::tree::{Expression, Statement};
use flux_contract as contract;
use flux_ir::flow::Line;

impl Writer<'_> {
    /// The statements of a dispatch; `unmatched` is the path offset of the failure where no line matches.
    pub(crate) fn dispatch(&mut self, lines: &[Line], unmatched: Option<u64>, out: &mut Vec<Statement>) {
        let number = Expression::name(self.context.names.node(self.node()));
        separate(out);
        out.push(Statement::Run(self.on_flow(contract::DISPATCH, vec![number.clone()])));
        for line in lines {
            separate(out);
            let label = self.context.flow.line_label(self.function, line);
            out.push(Statement::Comment(format!("{}: {label}", self.context.sources.name_and_line(line.span))));
            if line.tests.is_empty() {
                self.block(&line.block, None, out);
                continue;
            }
            let condition = self.condition(line);
            let mut statements = vec![];
            let scope = self.locals.enter();
            self.block(&line.block, None, &mut statements);
            self.locals.leave(scope);
            out.push(Statement::If(condition, statements, vec![]));
        }
        if let Some(offset) = unmatched {
            separate(out);
            out.push(Statement::Comment("No line matches.".to_owned()));
            let code = Expression::name(contract::NO_MATCH.spelling);
            out.push(Statement::Run(self.on_flow(contract::FAILED_IN, vec![number, code])));
            out.push(self.leave(contract::FAILED, offset));
        }
    }

    fn condition(&mut self, line: &Line) -> Expression {
        let program = &self.context.flow.program;
        let tests = line.tests.iter().map(|test| {
            let function = match program.predicates[test.predicate].external() {
                Some(external) => format!("::{}", cpp_name(&program.externals[external].name)),
                None => self.context.names.predicate(test.predicate).to_owned(),
            };
            Expression::name(function).call(vec![self.read(&test.value)])
        });
        Expression::All(tests.collect())
    }
}
