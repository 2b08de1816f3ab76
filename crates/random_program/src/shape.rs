//! What random programs look like: bounds on their size, and how often each thing of the language occurs in them.

/// The bounds and shares that a program is drawn from. Shares are of a thousand cases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// At most so many sources; at least one.
    pub sources: usize,
    /// At most so many abstract nodes beside the sources' targets.
    pub abstract_nodes: usize,
    /// From so many concrete nodes on, a step takes one that exists wherever one fits.
    pub concrete_nodes: usize,
    /// Abstract nodes are nested at most so deep.
    pub depth: usize,
    /// A chain has at most so many steps.
    pub steps: usize,
    /// A dispatch has at most so many lines.
    pub lines: usize,
    /// A node passes on at most so many values beside the flow's number.
    pub values: usize,
    /// A node that may take more calls than this is not applied twice, so that flows stay short.
    pub calls: usize,
    /// So many constraints are shared by the nodes; 0 for none.
    pub constraints: usize,

    /// Steps that apply a node that exists already, where one fits.
    pub shared: usize,
    /// Steps that are an abstract node, where the bounds allow one.
    pub nested: usize,
    /// Abstract nodes that dispatch.
    pub dispatches: usize,
    /// Dispatches without a line that takes whatever comes.
    pub incomplete: usize,
    /// Chains that are empty, where what comes in fits what goes out.
    pub empty: usize,
    /// Edges that fit by name alone: values are dropped or change places.
    pub fits_by_name: usize,
    /// New nodes that take values from further back than the step before, and flows that give such.
    pub reaches: usize,
    /// Steps before the last that are a guard: they give nothing, and the next one reaches for what it takes.
    pub guards: usize,
    /// Abstract nodes and last steps that give nothing, where nothing is wanted of them.
    pub without_outputs: usize,
    /// Nodes, concrete and abstract, whose failures are handled.
    pub handlers: usize,
    /// At most so many handlers are for a node on a path.
    pub path_handlers: usize,
    /// Concrete nodes that may fail.
    pub fallible: usize,
    /// Concrete nodes that must hold constraints, where there are any.
    pub constrained: usize,

    /// New concrete nodes that are computed instead, where that can be: they have a body, and no function.
    pub computed: usize,
    /// Steps before the last that make a list, with an each step that goes through it.
    pub each: usize,

    /// Abstract nodes too must hold constraints, as often as concrete ones do.
    pub abstract_constraints: bool,
    /// Sources may have sessions, and constraints the scope of a session.
    pub sessions: bool,
    /// Constraints may have keys.
    pub keys: bool,
    /// Steps may be parallel.
    pub parallel: bool,
    /// Sources but the second are replicable.
    pub replicable: bool,
}

impl Default for Shape {
    /// Programs of about a page, with all that concrete constraints allow.
    fn default() -> Self {
        Self {
            sources: 3,
            abstract_nodes: 10,
            concrete_nodes: 16,
            depth: 5,
            steps: 4,
            lines: 4,
            values: 4,
            calls: 20,
            constraints: 4,
            shared: 350,
            nested: 500,
            dispatches: 600,
            incomplete: 200,
            empty: 150,
            fits_by_name: 200,
            reaches: 200,
            guards: 100,
            without_outputs: 150,
            handlers: 350,
            path_handlers: 5,
            fallible: 600,
            constrained: 400,
            computed: 150,
            each: 0,
            abstract_constraints: false,
            sessions: false,
            keys: false,
            parallel: false,
            replicable: false,
        }
    }
}

impl Shape {
    /// Programs of a few lines: what a failure is easiest to understand in.
    pub fn small() -> Self {
        Self { sources: 1, abstract_nodes: 2, concrete_nodes: 4, depth: 2, steps: 3, values: 2, ..Self::default() }
    }
}
