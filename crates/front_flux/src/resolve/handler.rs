//! Error handlers: the path each is for, and what it is.

use super::Resolver;
use crate::syntax::{self, NameOrAny, Statement};
use flux_ir::external::ExternalRole;
use flux_ir::program::{Handler, HandlerStep, HandlerTarget, NodeId};

impl<'syntax> Resolver<'syntax, '_, '_> {
    pub(super) fn resolve_handlers(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Handler(handler) = statement else { continue };
            let target = self.handler_target(handler);
            // One unknown name is reported; the handler is then for no path at all.
            let Some(path) = self.handler_path(handler) else { continue };
            self.scope.program.handlers.push(Handler { path, target, replacements: vec![], span: handler.span });
        }
    }

    /// The nodes of a path; none where one does not exist.
    fn handler_path(&mut self, handler: &'syntax syntax::Handler<'syntax>) -> Option<Vec<Option<NodeId>>> {
        let mut path = vec![];
        for part in &handler.path {
            path.push(match part {
                NameOrAny::Any(_) => None,
                NameOrAny::Name(name) => Some(self.existing_node(name, "a handler")?),
            });
        }
        Some(path)
    }

    /// What takes the failing node's place.
    fn handler_target(&mut self, handler: &'syntax syntax::Handler<'syntax>) -> HandlerTarget {
        let step = handler.target.as_ref().map(|name| self.handler_step(name));
        match step {
            Some(step) if !handler.goes_on => HandlerTarget::Run(step),
            step => HandlerTarget::GoOn(step),
        }
    }

    /// A node, be it declared, given a flow or only named in one; or else a function.
    fn handler_step(&mut self, name: &syntax::QualifiedName<'_>) -> HandlerStep {
        let only = if self.generic(name).is_some() { self.only_instance(name) } else { None };
        match self.known_node(name).or(only) {
            Some(id) => HandlerStep::Node(id),
            None => HandlerStep::External(self.function(name, ExternalRole::Handler)),
        }
    }
}
