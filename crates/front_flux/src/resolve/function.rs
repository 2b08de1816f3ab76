//! Functions in C and C++: what names one, and what is promised of it.

use super::Resolver;
use super::attribute::effects_of;
use crate::ids;
use crate::syntax::QualifiedName;
use flux_diagnostic::Diagnostic;
use flux_ir::effects::Effects;
use flux_ir::external::{External, ExternalId, ExternalRole};
use flux_ir::program::{Body, NodeId};

/// The body of a node until a flow or a body of its own is found.
pub(super) const NO_FLOW: Body = Body::Dispatch(vec![]);

impl Resolver<'_, '_> {
    /// The function called so, for this.
    pub(super) fn function(&mut self, name: &QualifiedName<'_>, role: ExternalRole) -> ExternalId {
        self.check_function(name);
        self.functions.find_or_add(&mut self.program.externals, role, &name.declared())
    }

    /// Notes what is promised of a function. Of one that several statements name, what one of them says holds.
    pub(super) fn promise(&mut self, function: ExternalId, effects: Effects) {
        let external = &mut self.program.externals[function];
        external.effects = external.effects.max(effects);
    }

    /// Gives each node that has neither a flow nor a body its function. Only of such a one something can be promised.
    pub(super) fn resolve_functions(&mut self) {
        let ids: Vec<NodeId> = self.program.nodes.ids().collect();
        for id in ids {
            let declaration = self.declarations.get(&id).copied();
            let promise = declaration.map_or(Effects::Unknown, |declared| effects_of(&declared.attributes));
            let node = &mut self.program.nodes[id];
            if node.body == NO_FLOW {
                let external = External { effects: promise, ..External::new(node.name.clone(), ExternalRole::Node) };
                node.body = Body::External(self.program.externals.add(external));
            } else if promise != Effects::Unknown {
                self.report_promise(id, promise);
            }
        }
    }

    fn report_promise(&mut self, id: NodeId, promise: Effects) {
        let node = &self.program.nodes[id];
        let (name, promise) = (&node.name, promise.name());
        let (headline, help) = match node.body {
            Body::Computed(_) => (
                format!("`{name}` is said to be {promise}, and has a body, which is pure in any case"),
                format!("remove `{promise}`"),
            ),
            _ => (
                format!("`{name}` is said to be {promise}, and is a flow, which does what its steps do"),
                format!("remove `{promise}`, and say it of the functions in C++ that the flow calls"),
            ),
        };
        let error = Diagnostic::error(ids::MISPLACED_PROMISE, headline, node.span);
        self.report(error.help(help));
    }
}
