//! Functions in C and C++: what names one, and what is promised of it.

use super::Resolver;
use super::attribute::effects_of;
use crate::ids;
use crate::syntax::{QualifiedName, Statement};
use flux_diagnostic::Diagnostic;
use flux_front::scope::NO_FLOW;
use flux_ir::effects::Effects;
use flux_ir::external::{ExternalId, ExternalRole};
use flux_ir::program::{Body, NodeId};

impl Resolver<'_, '_, '_> {
    /// The function called so, for this.
    pub(super) fn function(&mut self, name: &QualifiedName<'_>, role: ExternalRole) -> ExternalId {
        self.check_function(name);
        self.scope.function(&name.declared(), role)
    }

    /// Notes what is promised of a function. Of one that several statements name, what one of them says holds.
    pub(super) fn promise(&mut self, function: ExternalId, effects: Effects) {
        let external = &mut self.scope.program.externals[function];
        external.effects = external.effects.max(effects);
    }

    /// Notes what is promised of nodes. Only of one that is a function something can be.
    pub(super) fn resolve_promises(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Declaration(declaration) = statement else { continue };
            let promise = effects_of(&declaration.attributes);
            let Some(id) = self.known_node(&declaration.name).filter(|_| promise != Effects::Unknown) else { continue };
            match self.scope.program.nodes[id].body == NO_FLOW {
                true => self.scope.promise(id, promise),
                false => self.report_promise(id, promise),
            }
        }
    }

    /// Only a function has a stack for itself.
    pub(super) fn check_stacks(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Declaration(declaration) = statement else { continue };
            let Some(id) = self.known_node(&declaration.name).filter(|_| declaration.stack.is_some()) else { continue };
            let node = &mut self.scope.program.nodes[id];
            let (what, help) = match node.body {
                Body::Computed(_) => ("has a body, which needs none", "remove `stack`"),
                _ if node.body == NO_FLOW => continue,
                _ => ("is a flow", "write it at the C++ functions that the flow calls"),
            };
            node.stack = None;
            let headline = format!("`{}` asks for a stack, but {what}", node.name);
            let error = Diagnostic::error(ids::NODE_STACK, headline, node.span);
            self.report(error.help(help));
        }
    }

    fn report_promise(&mut self, id: NodeId, promise: Effects) {
        let node = &self.scope.program.nodes[id];
        let (name, promise) = (&node.name, promise.name());
        let (headline, help) = match node.body {
            Body::Computed(_) => (
                format!("`{name}` is declared {promise}, but its body makes it pure already"),
                format!("remove `{promise}`"),
            ),
            _ => (
                format!("`{name}` is declared {promise}, but it is a flow, which does what its steps do"),
                format!("remove `{promise}`, and declare it for the C++ functions that the flow calls"),
            ),
        };
        let error = Diagnostic::error(ids::MISPLACED_PROMISE, headline, node.span);
        self.report(error.help(help));
    }
}
