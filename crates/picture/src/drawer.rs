//! Walks a flow as requests do and draws what it meets.
//!
//! What was drawn last and waits for what comes next is a [`Tail`]; the next node gets an arrow from each. Thus the
//! lines of a dispatch meet at the node after it, and a fallback goes on where its node would have, without a shape for
//! the meeting point. [`Makers`] knows which node made each value; a value that comes from further back than the step
//! before has an arrow of its own.

use crate::canvas::Canvas;
use crate::looks::{Look, Looks};
use crate::makers::{Makers, Taken};
use crate::{Arrow, Frame, FrameId, Picture, Shape, ShapeId, ShapeKind, Way, label};
use flux_ir::external::External;
use flux_ir::flow::{Block, Branch, Callee, Each, End, Entry, Flow, FunctionId, Line, Role, Step};
use flux_ir::name::Name;
use flux_ir::program::{Constant, Origin, Source};
use flux_source::{SourceMap, Span, deep};
use std::collections::{HashMap, HashSet, VecDeque};

/// Frames inside frames beyond this are hard to read; deeper ones are drawn apart.
const DEPTH: usize = 4;

/// The picture of `flow`. `sources` says where things are. O(size of the flow); equal flows give equal pictures.
pub fn draw(flow: &Flow, sources: &SourceMap) -> Picture {
    draw_all(Drawer::new(flow, sources, false))
}

/// The same, where each node says besides for whom it takes what was moved up to it, and what it needs and holds
/// already. A node that is used in several places says so as in the first of them.
pub fn draw_with_constraints(flow: &Flow, sources: &SourceMap) -> Picture {
    draw_all(Drawer::new(flow, sources, true))
}

fn draw_all(mut drawer: Drawer) -> Picture {
    let flow = drawer.flow;
    for (entry, source) in flow.entries.iter().zip(&flow.program.sources) {
        drawer.source(entry, source);
    }
    drawer.frames_apart();
    // What no source reaches is drawn too, callers before what they call.
    for id in flow.functions.ids().rev() {
        drawer.apart.push_back(id);
        drawer.frames_apart();
    }
    drawer.canvas.finish()
}

/// The start of an arrow that has no end yet.
#[derive(Clone)]
struct Tail {
    from: ShapeId,
    /// The frame at whose border the arrow begins.
    frame: Option<FrameId>,
    label: Option<String>,
    error: bool,
}

impl Tail {
    fn of(from: ShapeId) -> Self {
        Self { from, frame: None, label: None, error: false }
    }

    fn labelled(self, label: String) -> Self {
        Self { label: Some(label), ..self }
    }
}

/// How a block was left.
#[derive(Default)]
struct Left {
    /// The function is done.
    done: Vec<Tail>,
    /// A failure block goes on after the step that failed.
    resumed: Vec<Tail>,
}

struct Drawer<'a> {
    flow: &'a Flow,
    sources: &'a SourceMap,
    /// Whether nodes say why they take what they take, and what they hold already.
    explains: bool,
    canvas: Canvas,
    looks: Looks,
    /// How many steps call what is in each frame.
    calls: HashMap<FrameId, usize>,
    /// The frames that there are.
    drawn: HashSet<FrameId>,
    /// What needs a frame of its own.
    apart: VecDeque<FunctionId>,
    /// The boxes of handlers, by the function in which they handle and their name.
    handlers: HashMap<(FunctionId, &'a Name), ShapeId>,
    count: usize,
}

impl<'a> Drawer<'a> {
    fn new(flow: &'a Flow, sources: &'a SourceMap, explains: bool) -> Self {
        let looks = Looks::of(flow);
        let mut known = HashSet::new();
        let mut is_new = |id: FunctionId| looks.find(id).is_none_or(|look| known.insert(look.frame));
        let functions = flow.functions.ids().filter(|id| is_new(*id)).map(|id| &flow.functions[id]);
        let mut calls = HashMap::new();
        for step in functions.flat_map(|function| function.body.all_steps()) {
            if let Some(look) = looks.of_callee(&step.callee) {
                *calls.entry(look.frame).or_insert(0) += 1;
            }
        }
        Self {
            flow,
            sources,
            explains,
            canvas: Canvas::new(&flow.program.name),
            looks,
            calls,
            drawn: HashSet::new(),
            apart: VecDeque::new(),
            handlers: HashMap::new(),
            count: 0,
        }
    }

    /// The shape drawn last.
    fn latest(&self) -> ShapeId {
        ShapeId::Drawn(self.count)
    }

    /// Draws a box.
    fn place(&mut self, kind: ShapeKind, text: String, badges: Vec<String>, span: Span) -> ShapeId {
        self.count += 1;
        let id = self.latest();
        self.canvas.shape(Shape { id, kind, text, badges, place: self.sources.name_and_line(span) });
        id
    }

    /// Draws a point at which arrows meet.
    fn point(&mut self, kind: ShapeKind) -> ShapeId {
        self.count += 1;
        self.point_at(self.latest(), kind)
    }

    fn point_at(&mut self, id: ShapeId, kind: ShapeKind) -> ShapeId {
        self.canvas.shape(Shape { id, kind, text: String::new(), badges: vec![], place: String::new() });
        id
    }

    /// Draws the arrows that end at `to`, or at the border of its frame.
    fn connect(&mut self, tails: Vec<Tail>, to: ShapeId, to_frame: Option<FrameId>) {
        for Tail { from, frame, label, error } in tails {
            let way = if error { Way::Failure } else { Way::Flow };
            self.canvas.arrow(Arrow { from, from_frame: frame, to, to_frame, label, way });
        }
    }

    /// Draws a source and the flow that it starts.
    fn source(&mut self, entry: &Entry, source: &Source) {
        let tails = match (entry.produce, &source.origin) {
            (Some(produce), _) => {
                let body = &self.flow.functions[produce].body;
                self.block(&mut Makers::inside(produce, &[]), body, vec![], 0).done
            }
            (None, Origin::Timer(milliseconds)) => {
                let period = Constant::Integer(i64::try_from(*milliseconds).unwrap_or(i64::MAX));
                let text = format!("every {}", self.flow.program.duration_text(&period));
                vec![Tail::of(self.place(ShapeKind::Source, text, vec![], source.span))]
            }
            (None, Origin::Node(_)) => vec![],
        };
        let run = &self.flow.functions[entry.run];
        let begin = tails.first().map(|tail| (tail.from, tail.frame));
        self.block(&mut Makers::begun(entry.run, begin, run.inputs.len()), &run.body, tails, 0);
    }

    /// Draws the frames that are wanted apart from where they are used.
    fn frames_apart(&mut self) {
        while let Some(function) = self.apart.pop_front() {
            if let Some(look) = self.looks.find(function)
                && self.drawn.insert(look.frame)
            {
                self.draw_apart(look, function);
            }
        }
    }

    /// Draws an abstract node in a frame of its own, with a point where it begins and one where it is done.
    fn draw_apart(&mut self, look: Look, id: FunctionId) {
        let body = &self.flow.functions[id].body;
        self.open_frame(&look, vec![], 0);
        let begin = self.point_at(ShapeId::Begin(look.frame), ShapeKind::End);
        let mut makers = Makers::begun(id, Some((begin, None)), self.flow.functions[id].inputs.len());
        let left = self.block(&mut makers, body, vec![Tail::of(begin)], 1);
        if !left.done.is_empty() {
            let end = self.point(ShapeKind::End);
            self.connect(left.done, end, None);
        }
        self.canvas.close_frame();
    }

    fn open_frame(&mut self, Look { frame, name, span }: &Look, badges: Vec<String>, depth: usize) {
        let place = self.sources.name_and_line(*span);
        self.canvas.open_frame(Frame { id: *frame, name: name.to_owned(), badges, place, depth, items: vec![] });
    }

    /// Draws a block of the function that `makers` are of after `tails`, inside of `depth` frames.
    fn block(&mut self, makers: &mut Makers, block: &'a Block, mut tails: Vec<Tail>, depth: usize) -> Left {
        let mut left = Left::default();
        for step in &block.steps {
            tails = self.step(makers, step, tails, depth, &mut left.done);
        }
        match &block.end {
            End::Done { .. } => left.done.extend(tails),
            End::Resume { .. } | End::GoOn { .. } => left.resumed = tails,
            End::Failed { .. } | End::Ended { .. } => {}
            End::Dispatch { lines, unmatched } => {
                left.done.extend(self.dispatch(makers, lines, unmatched.is_some(), tails, depth));
            }
        }
        left
    }

    fn dispatch(
        &mut self,
        makers: &Makers,
        lines: &'a [Line],
        may_fail: bool,
        tails: Vec<Tail>,
        depth: usize,
    ) -> Vec<Tail> {
        let function = &self.flow.functions[makers.function()];
        let choice = self.point(ShapeKind::Choice);
        self.connect(tails, choice, None);
        let mut done = vec![];
        for line in lines {
            let chosen = Tail::of(choice).labelled(label::patterns(self.flow, function, line));
            done.extend(self.block(&mut makers.clone(), &line.block, vec![chosen], depth).done);
        }
        if may_fail {
            let nowhere = self.place(ShapeKind::Nowhere, "no match".to_owned(), vec![], function.span);
            self.connect(vec![Tail { error: true, ..Tail::of(choice) }], nowhere, None);
        }
        done
    }

    /// Draws a step after `tails`; gives the tails of what comes next. In a failure block the function may be done.
    fn step(
        &mut self,
        makers: &mut Makers,
        step: &'a Step,
        tails: Vec<Tail>,
        depth: usize,
        done: &mut Vec<Tail>,
    ) -> Vec<Tail> {
        deep(|| {
            let id = makers.function();
            let taken = makers.taken(step);
            let drawn = match &step.callee {
                Callee::Node(node) => {
                    let source = matches!(self.flow.functions[id].role, Role::Produce(_));
                    let kind = if source { ShapeKind::Source } else { ShapeKind::Node };
                    self.call(step, &self.flow.program.nodes[*node].name.to_string(), tails, kind)
                }
                Callee::External { external, .. } => {
                    let External { name, role, .. } = &self.flow.program.externals[*external];
                    if !role.is_event() {
                        let label = format!("{} {name}", role.name());
                        return tails.into_iter().map(|tail| tail.labelled(label.clone())).collect();
                    }
                    self.handler(id, name, step.span, tails)
                }
                Callee::Fork(branches) => {
                    let tails = self.limited(step, tails);
                    self.fork(branches, &taken, tails, depth)
                }
                Callee::Each(each) => {
                    let tails = self.limited(step, tails);
                    self.each(each, &taken, tails, depth)
                }
                Callee::Function(callee) => self.function(id, step, (*callee, &taken), tails, depth),
            };
            if let Some(taker) = drawn.takes {
                self.reached(step, &taken, taker);
            }
            makers.made(step.id, drawn.failed.from, drawn.failed.frame);
            let mut next = drawn.next;
            if !step.failure.steps.is_empty() || step.failure.end.rejoins().is_some() {
                let failed = Tail { error: true, ..drawn.failed };
                let left = self.block(&mut makers.failed(step), &step.failure, vec![failed], depth);
                next.extend(left.resumed);
                done.extend(left.done);
            }
            next
        })
    }

    /// Draws a box for a call of what is called `name`.
    fn call(&mut self, step: &Step, name: &str, tails: Vec<Tail>, kind: ShapeKind) -> Drawn {
        let name = label::applied(self.flow, name, step);
        let called = self.place(kind, name, label::badges(self.flow, step, self.explains), step.span);
        self.connect(tails, called, None);
        Drawn::at(called)
    }

    /// Draws arrows to `taker` from who made what it takes from further back than the step before it.
    fn reached(&mut self, step: &Step, taken: &[Taken], to: ShapeId) {
        let names = self.flow.callee_inputs(&step.callee).iter().map(|input| input.name.as_str());
        let mut arrows: Vec<(ShapeId, Option<FrameId>, Vec<&str>)> = vec![];
        for (value, name) in taken.iter().zip(names).filter(|(value, _)| value.is_far) {
            let Some((from, frame)) = value.maker else { continue };
            match arrows.iter_mut().find(|arrow| arrow.0 == from) {
                Some((.., names)) => names.push(name),
                None => arrows.push((from, frame, vec![name])),
            }
        }
        for (from, from_frame, names) in arrows {
            let label = Some(names.join(", "));
            self.canvas.arrow(Arrow { from, from_frame, to, to_frame: None, label, way: Way::Reaches });
        }
    }

    /// Draws the box of a handler, one in each function.
    fn handler(&mut self, id: FunctionId, name: &'a Name, span: Span, tails: Vec<Tail>) -> Drawn {
        let known = self.handlers.get(&(id, name)).copied();
        let handler = known.unwrap_or_else(|| {
            let handler = self.place(ShapeKind::Handler, name.to_string(), vec![], span);
            if let Some(tail) = tails.first() {
                self.canvas.beside(tail.from, handler);
            }
            handler
        });
        self.connect(tails, handler, None);
        self.handlers.insert((id, name), handler);
        Drawn::at(handler)
    }

    /// The tails before a step without a box, which say its deadline where it has one.
    fn limited(&self, step: &Step, tails: Vec<Tail>) -> Vec<Tail> {
        match label::within(&self.flow.program, step) {
            Some(limit) => tails.into_iter().map(|tail| tail.labelled(limit.clone())).collect(),
            None => tails,
        }
    }

    /// Draws what runs for each element of a list: once, between two bars.
    fn each(&mut self, each: &Each, taken: &[Taken], tails: Vec<Tail>, depth: usize) -> Drawn {
        let begin = self.point(ShapeKind::Bar);
        self.connect(tails, begin, None);
        let start = Tail::of(begin).labelled(label::each(self.flow, each));
        let body = &self.flow.functions[each.function].body;
        let mut makers = Makers::inside(each.function, taken);
        let done = self.block(&mut makers, body, vec![start], depth).done;
        let end = self.point(ShapeKind::Bar);
        self.connect(done, end, None);
        Drawn { takes: None, ..Drawn::at(end) }
    }

    /// Draws what runs concurrently between two bars.
    fn fork(&mut self, branches: &[Branch], taken: &[Taken], tails: Vec<Tail>, depth: usize) -> Drawn {
        let fork = self.point(ShapeKind::Bar);
        self.connect(tails, fork, None);
        let mut ends: Vec<Vec<Tail>> = vec![];
        for branch in branches {
            let earlier = branch.after.and_then(|after| ends.get(after)).cloned();
            let starts = earlier.unwrap_or_else(|| vec![Tail::of(fork)]);
            let body = &self.flow.functions[branch.function].body;
            let mut makers = Makers::inside(branch.function, taken);
            ends.push(self.block(&mut makers, body, starts, depth).done);
        }
        let join = self.point(ShapeKind::Bar);
        self.connect(ends.concat(), join, None);
        Drawn { takes: None, ..Drawn::at(join) }
    }

    /// Draws a call of a function: what it does, or a box that refers to where that is drawn.
    fn function(
        &mut self,
        id: FunctionId,
        step: &Step,
        (callee, taken): (FunctionId, &[Taken]),
        tails: Vec<Tail>,
        depth: usize,
    ) -> Drawn {
        let (flow, function) = (self.flow, &self.flow.functions[id]);
        let body = &flow.functions[callee].body;
        let Some(look) = self.looks.find(callee) else {
            let next = self.block(&mut Makers::inside(callee, taken), body, tails, depth).done;
            return Drawn { next, failed: Tail::of(self.latest()), takes: None };
        };
        let (frame, name) = (look.frame, look.name.as_str());
        let empty = body.steps.is_empty() && !matches!(body.end, End::Dispatch { .. });
        if empty {
            self.drawn.insert(frame);
            return self.call(step, name, tails, ShapeKind::Empty);
        }
        if self.calls.get(&frame) == Some(&1) && depth < DEPTH && self.drawn.insert(frame) {
            self.open_frame(&look, label::badges(flow, step, self.explains), depth);
            let next = self.block(&mut Makers::inside(callee, taken), body, tails, depth + 1).done;
            self.canvas.close_frame();
            return Drawn { next, failed: Tail { frame: Some(frame), ..Tail::of(self.latest()) }, takes: None };
        }
        self.apart.push_back(callee);
        let begin = ShapeId::Begin(frame);
        let last = function.body.steps.last().is_some_and(|last| last.id == step.id);
        if last && matches!(function.role, Role::Run(_)) && step.failure.steps.is_empty() {
            self.connect(tails, begin, Some(frame));
            return Drawn { next: vec![], failed: Tail::of(begin), takes: None };
        }
        let drawn = self.call(step, name, tails, ShapeKind::Reference);
        let from = drawn.failed.from;
        self.canvas.arrow(Arrow {
            from,
            from_frame: None,
            to: begin,
            to_frame: Some(frame),
            label: None,
            way: Way::Refers,
        });
        drawn
    }
}

/// A step that has been drawn.
struct Drawn {
    /// Where it goes on.
    next: Vec<Tail>,
    /// Where a failure leaves it, and what it makes.
    failed: Tail,
    /// What takes its values; nothing where that is inside.
    takes: Option<ShapeId>,
}

impl Drawn {
    fn at(id: ShapeId) -> Self {
        Self { next: vec![Tail::of(id)], failed: Tail::of(id), takes: Some(id) }
    }
}
