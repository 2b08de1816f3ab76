//! The names of the generated code, none of which collide.
//!
//! The user's names stay as they are. Added names are made from them (`ReadRequest_input`, `lock_cache`), and are
//! changed if the user already has such a name. The user's functions are called as `::Name`, so that nothing local can
//! hide them; every name that generated code uses without `::` is defined here.

use crate::compute::called;
use crate::each::lists_struct;
use crate::structs::{Side, struct_name};
use flux_ir::arena::ArenaId;
use flux_ir::external::ExternalId;
use flux_ir::flow::{Flow, Function, FunctionId};
use flux_ir::name::Name;
use flux_ir::program::{Body, Constraint, ConstraintId, Node, NodeId, OptionId, PredicateId, ServerOption};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The namespace of the generated code.
pub const NAMESPACE: &str = "flux_flows";

/// What C++ calls something of a module: `tcp::Listen` for `tcp.Listen`.
pub fn cpp_name(name: &Name) -> String {
    name.joined("::")
}

/// The word for something in a name that is made of it: `tcp_Listen`.
pub fn word(name: &Name) -> String {
    name.joined("_")
}

/// The names at the level of the namespace.
pub struct Names {
    taken: HashSet<String>,
    nodes: Vec<String>,
    functions: Vec<String>,
    locks: Vec<String>,
    options: Vec<String>,
    computed: BTreeMap<NodeId, String>,
    predicates: BTreeMap<PredicateId, String>,
    handlers: Vec<(ExternalId, String)>,
    /// The enumeration of the nodes.
    pub node_enum: String,
    /// The enumeration of the functions.
    pub function_enum: String,
    /// The tables.
    pub tables: Tables,
}

/// The names of the tables.
pub struct Tables {
    /// Of the nodes.
    pub nodes: String,
    /// Of the constraints.
    pub constraints: String,
    /// Of the sources.
    pub sources: String,
    /// Of the functions in the path graph.
    pub path_functions: String,
    /// Of its vertices.
    pub path_vertices: String,
    /// Of its edges.
    pub path_edges: String,
    /// Of the options.
    pub options: String,
    /// What holds them together.
    pub program: String,
    /// The function that calls the program's own start.
    pub start: String,
}

/// Names that are not yet taken.
struct Free(HashSet<String>);

impl Free {
    fn claim(&mut self, wanted: impl Into<String>) -> String {
        let wanted = wanted.into();
        if self.0.insert(wanted.clone()) {
            return wanted;
        }
        let mut numbered = (2u64..).map(|number| format!("{wanted}_{number}"));
        numbered.find(|name| self.0.insert(name.clone())).unwrap_or(wanted)
    }
}

impl Names {
    /// Names for everything in `flow`, whose plain-function handlers are `handlers`.
    pub fn of(flow: &Flow, handlers: impl Iterator<Item = ExternalId>) -> Self {
        let program = &flow.program;
        let functions = flow.functions.iter().map(|(_, function)| function.name.clone());
        let sides = |(_, node): (_, &Node)| [struct_name(node, Side::In), struct_name(node, Side::Out)];
        let branches = flow.functions.iter().filter(|(_, function)| function.is_branch());
        let of_branch = |(_, function): (_, &Function)| {
            [Side::In.of(&function.name), Side::Out.of(&function.name), lists_struct(function)]
        };
        let structs = program.nodes.iter().flat_map(sides).chain(branches.flat_map(of_branch));
        // Nothing may hide the namespace of a module.
        let modules = program.modules.iter().map(|(_, module)| module.name.clone());
        // Nor a type that computations name.
        let types = program.types.iter().map(|(_, declared)| cpp_name(&declared.name));
        let namespaces = ["flux", "std"].map(str::to_owned);
        let mut free = Free(functions.chain(structs).chain(modules).chain(types).chain(namespaces).collect());
        let called = called(program);
        let is_named = |id: &NodeId, node: &Node| matches!(node.body, Body::Computed(_)) || called.contains(id);
        let nodes = program.nodes.iter().filter(|(id, node)| is_named(id, node));
        let computed = nodes.map(|(id, node)| (id, free.claim(word(&node.name)))).collect();
        let predicates = program.predicates.iter().filter(|(_, predicate)| predicate.computed().is_some());
        let predicates = predicates.map(|(id, predicate)| (id, free.claim(word(&predicate.name)))).collect();
        let (node_enum, function_enum) = (free.claim("node"), free.claim("function"));
        let nodes = program.nodes.iter().map(|(_, node)| free.claim(format!("node_{}", word(&node.name)))).collect();
        let handlers: BTreeSet<_> = handlers.map(|id| (&program.externals[id].name, id)).collect();
        let number = |(name, id): (&Name, ExternalId)| (id, free.claim(format!("node_{}", word(name))));
        let handlers = handlers.into_iter().map(number).collect();
        let functions = flow.functions.iter().map(|(_, one)| free.claim(format!("function_{}", one.name))).collect();
        let lock = |(_, one): (_, &Constraint)| free.claim(format!("lock_{}", word(&one.name)));
        let locks = program.constraints.iter().map(lock).collect();
        let option = |(_, one): (_, &ServerOption)| free.claim(format!("option_{}", word(&one.name)));
        let options = program.options.iter().map(option).collect();
        let tables = Tables {
            nodes: free.claim("nodes"),
            constraints: free.claim("constraints"),
            sources: free.claim("sources"),
            path_functions: free.claim("path_functions"),
            path_vertices: free.claim("path_vertices"),
            path_edges: free.claim("path_edges"),
            options: free.claim("options"),
            program: free.claim("program"),
            start: free.claim("start"),
        };
        Self {
            taken: free.0,
            nodes,
            functions,
            locks,
            options,
            computed,
            predicates,
            handlers,
            node_enum,
            function_enum,
            tables,
        }
    }

    /// The number of a node, by name.
    pub fn node(&self, node: NodeId) -> &str {
        at(&self.nodes, node)
    }

    /// The function of a computed node, or of one that bodies call.
    pub fn computed(&self, node: NodeId) -> &str {
        self.computed.get(&node).map_or("", String::as_str)
    }

    /// The function of a computed predicate.
    pub fn predicate(&self, predicate: PredicateId) -> &str {
        self.predicates.get(&predicate).map_or("", String::as_str)
    }

    /// The number of a function, by name.
    pub fn function(&self, function: FunctionId) -> &str {
        at(&self.functions, function)
    }

    /// The lock of a constraint.
    pub fn lock(&self, constraint: ConstraintId) -> &str {
        at(&self.locks, constraint)
    }

    /// The variable with the value of an option.
    pub fn option(&self, option: OptionId) -> &str {
        at(&self.options, option)
    }

    /// The number of a handler that is a plain function, by name.
    pub fn handler(&self, function: ExternalId) -> &str {
        self.handlers.iter().find(|(one, _)| *one == function).map_or("", |(_, name)| name)
    }

    /// The values of the enumeration of nodes: the nodes, then the handlers.
    pub fn node_values(&self) -> Vec<String> {
        self.nodes.iter().chain(self.handlers.iter().map(|(_, name)| name)).cloned().collect()
    }

    /// The values of the enumeration of functions.
    pub fn function_values(&self) -> Vec<String> {
        self.functions.clone()
    }

    /// The handlers that are plain functions, as they are numbered: by their names.
    pub fn handlers(&self) -> impl Iterator<Item = ExternalId> {
        self.handlers.iter().map(|(function, _)| *function)
    }
}

// An id comes from the flow that these names are of.
fn at<T>(names: &[String], id: ArenaId<T>) -> &str {
    names.get(id.index()).map_or("", String::as_str)
}

/// The local names of a function, scope by scope; sibling scopes may use the same ones.
pub struct Locals<'a> {
    names: &'a Names,
    counts: HashMap<String, u32>,
    claimed: Vec<(String, String)>,
    visible: HashSet<String>,
}

impl<'a> Locals<'a> {
    /// No names yet.
    pub fn new(names: &'a Names) -> Self {
        Self { names, counts: HashMap::new(), claimed: vec![], visible: HashSet::new() }
    }

    /// A name for this scope: `wanted`, or with the first number from 2 that makes it differ from all that is visible.
    pub fn claim(&mut self, wanted: &str) -> String {
        let count = self.counts.entry(wanted.to_owned()).or_insert(0);
        let name = loop {
            *count += 1;
            let name = if *count == 1 { wanted.to_owned() } else { format!("{wanted}_{count}") };
            if !self.names.taken.contains(&name) && !self.visible.contains(&name) {
                break name;
            }
        };
        self.visible.insert(name.clone());
        self.claimed.push((wanted.to_owned(), name.clone()));
        name
    }

    /// Where the scope that now begins must be left to.
    pub fn enter(&self) -> usize {
        self.claimed.len()
    }

    /// Ends the scope that began at `mark`; its names are free again.
    pub fn leave(&mut self, mark: usize) {
        for (wanted, name) in self.claimed.drain(mark.min(self.claimed.len())..) {
            self.visible.remove(&name);
            // Counting starts again below the first name that is free again.
            self.counts.remove(&wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_name_differs_from_all_that_is_visible() {
        let flow = Flow { program: Default::default(), functions: Default::default(), entries: vec![] };
        let names = Names::of(&flow, std::iter::empty());
        let mut locals = Locals::new(&names);
        assert_eq!(locals.claim("A_input"), "A_input");
        assert_eq!(locals.claim("nodes"), "nodes_2", "a table of the namespace has that name");
        assert_eq!(locals.claim("A_input_2"), "A_input_2");
        let scope = locals.enter();
        assert_eq!(locals.claim("A_input"), "A_input_3");
        locals.leave(scope);
        let scope = locals.enter();
        assert_eq!(locals.claim("A_input"), "A_input_3", "a sibling scope may use it again");
        locals.leave(scope);
        assert_eq!(locals.claim("A_input"), "A_input_3");
        assert_eq!(locals.claim("A_input"), "A_input_4");
    }
}
