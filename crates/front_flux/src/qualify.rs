//! From the trees of several files to one: every name becomes the one that it has in the whole program.
//!
//! What a module declares is called by the module's name before its own, `tcp.Listen`, wherever it is mentioned: in the
//! module, where that may be left out, and in the files that use it, which may call the module something else. A file
//! sees its own names and those of the modules that it uses itself. Types are C++, of which Flux knows no names: those
//! of a module are always written with its name, and become what C++ calls them, `tcp::Address`.

use crate::body::{Body, Form, Value, values_and_types_mut};
use crate::cpp_type::{last_word, type_name};
use crate::ids;
use crate::load::LoadedFile;
use crate::syntax::{
    Action, Application, Chain, Constant, ConstantValue, NameOrAny, Origin, Parameter, QualifiedName, Statement,
    Syntax, TestedBy, TypeBody, TypeDeclaration, Typedef,
};
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::name as declared;
use flux_source::Span;
use std::borrow::Cow;
use std::collections::HashSet;

/// What a name is a name of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Node,
    Predicate,
    Option,
    Constraint,
    /// A record or an enumeration.
    Type,
    /// A list of parameters.
    List,
    /// A C++ function, of which nothing can be known.
    Function,
    /// What handles an error: a node, or a function that its module names so.
    Handler,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Node | Self::Handler => "node",
            Self::Predicate => "predicate type",
            Self::Option => "option",
            Self::Constraint => "constraint",
            Self::Type => "type",
            Self::List => "list of parameters",
            Self::Function => "function",
        }
    }
}

/// What a module declares, or mentions without another's name.
struct Known {
    names: HashSet<(Kind, String)>,
    /// Words that could not be read, any of which may be declared there.
    skipped: HashSet<String>,
    truncated: bool,
    has_types: bool,
}

/// Puts the trees of `files` into one, in their order. Linear in the trees.
pub fn qualify<'text>(
    files: &[LoadedFile],
    mut trees: Vec<Syntax<'text>>,
    diagnostics: &mut Diagnostics,
) -> Syntax<'text> {
    // The last one is the program's own, which no file uses.
    let modules = trees.len().saturating_sub(1);
    let known: Vec<Known> = trees.iter_mut().take(modules).map(Known::of).collect();
    let mut whole = Syntax::default();
    for ((file, mut tree), own) in files.iter().zip(trees).zip(0..) {
        let own = known.get(own);
        let mut scope = Scope {
            files,
            known: &known,
            own,
            file,
            diagnostics,
            reported: HashSet::new(),
            reported_modules: HashSet::new(),
        };
        // What defines something of another module is reported, and then not there.
        tree.statements.retain_mut(|statement| {
            let mut is_own = true;
            walk(statement, &mut |kind, name, defines| is_own &= scope.name(kind, name, defines));
            types(statement, &mut |ty, span| scope.ty(ty, span));
            if let Some(body) = bodies(statement) {
                let (values, types) = values_and_types_mut(body);
                values.into_iter().for_each(|value| scope.value(value));
                types.into_iter().for_each(|spelled| scope.ty(&mut spelled.ty, spelled.span));
            }
            is_own
        });
        whole.statements.append(&mut tree.statements);
        whole.truncated |= tree.truncated;
        // Nothing more is said of a name that was reported here.
        whole.skipped_names.extend(scope.reported);
        let skipped = tree.skipped_words.iter();
        whole.skipped_names.extend(skipped.map(|word| declared::Name::of(file.module.as_deref(), &**word)));
        whole.skipped_words.extend(tree.skipped_words);
    }
    whole
}

impl Known {
    fn of(tree: &mut Syntax<'_>) -> Self {
        let mut names = HashSet::new();
        for statement in &mut tree.statements {
            walk(statement, &mut |kind, name, _| _ = names.insert((kind, name.to_string())));
        }
        let skipped = tree.skipped_words.iter().map(|word| word.to_string()).collect();
        let has_types = tree.statements.iter().any(|statement| matches!(statement, Statement::Type(_)));
        Self { names, skipped, truncated: tree.truncated, has_types }
    }

    /// Whether it may have something called `name`.
    fn has(&self, kind: Kind, name: &str) -> bool {
        let has = |kind| self.names.contains(&(kind, name.to_owned()));
        let is_declared = has(kind) || kind == Kind::Handler && has(Kind::Node);
        kind == Kind::Function || is_declared || self.truncated || self.skipped.contains(name)
    }
}

/// What one file sees.
struct Scope<'run> {
    files: &'run [LoadedFile],
    /// By the index of the file.
    known: &'run [Known],
    /// What this file declares, where it is a module's.
    own: Option<&'run Known>,
    file: &'run LoadedFile,
    diagnostics: &'run mut Diagnostics,
    /// The names that were reported, as they then stand in the tree.
    reported: HashSet<declared::Name>,
    /// The modules that were reported, as the file calls them.
    reported_modules: HashSet<String>,
}

impl Scope<'_> {
    /// Makes a name the one that it has in the program; `defines` where the statement says what it is. False where that
    /// is for another file to say.
    fn name(&mut self, kind: Kind, name: &mut QualifiedName<'_>, defines: bool) -> bool {
        let (Some(module), own) = name.parts() else {
            name.module = self.file.module.clone().map(Cow::Owned);
            return true;
        };
        if self.file.module.as_deref() == Some(module) {
            return true;
        }
        let Some(index) = self.used(module) else {
            self.report_module(name);
            return true;
        };
        if defines {
            self.report_foreign(module, own, name.span);
            return false;
        }
        if self.known.get(index).is_some_and(|known| !known.has(kind, own)) {
            self.report_unknown(kind, (module, own), index, name.span);
        }
        name.module = self.module(index).map(Cow::Owned);
        true
    }

    /// Makes `tcp.Address *` what C++ calls it: `tcp::Address *`; and so the types that the module itself declares.
    fn ty(&mut self, ty: &mut String, span: Span) {
        let own = self.own;
        let declares = |word: &str| own.is_some_and(|own| own.names.contains(&(Kind::Type, word.to_owned())));
        if !ty.contains('.') && own.is_none_or(|own| !own.has_types) {
            return;
        }
        let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
        let mut rest = ty.as_str();
        let mut made = String::with_capacity(ty.len());
        while let Some(start) = rest.find(is_part) {
            let (before, after) = rest.split_at(start);
            let (word, after) = after.split_at(after.find(|character| !is_part(character)).unwrap_or(after.len()));
            made.push_str(before);
            rest = after;
            let mut name = type_name(word, span);
            match name.module.as_deref().map(|module| (module, self.used(module))) {
                Some((_, Some(index))) => name.module = self.module(index).map(Cow::Owned),
                Some((module, None)) if self.file.module.as_deref() == Some(module) => {}
                Some((_, None)) => {
                    self.report_module(&name);
                    made.push_str(word);
                    continue;
                }
                None if !made.ends_with("::") && declares(word) => {
                    name.module = self.file.module.clone().map(Cow::Owned);
                }
                None => {}
            }
            made.push_str(&name.declared().joined("::"));
        }
        made.push_str(rest);
        *ty = made;
    }

    /// Makes `store.entry` in a body one name, where `store` is a module. The recursion is as deep as the value, which
    /// the parser bounds.
    fn value(&mut self, value: &mut Value<'_>) {
        if let Form::Field(of, name) = &value.form
            && let Form::Name(module) = &of.form
            && let (None, called) = module.parts()
            && let Some(index) = self.used(called)
        {
            let (module, own) = (self.module(index).map(Cow::Owned), name.text.clone());
            value.form = Form::Name(QualifiedName { module, own, span: value.span });
        }
        value.parts_mut().into_iter().for_each(|part| self.value(part));
    }

    /// The file that this one calls `module`.
    fn used(&self, module: &str) -> Option<usize> {
        self.file.uses.iter().find(|used| used.name == module).map(|used| used.index)
    }

    /// What the module of the file at `index` is called in the program.
    fn module(&self, index: usize) -> Option<String> {
        self.files.get(index)?.module.clone()
    }

    /// Reports the module of `name`, which the file does not use.
    fn report_module(&mut self, name: &QualifiedName<'_>) {
        let (Some(module), own) = name.parts() else { return };
        if self.file.missing.iter().any(|missing| missing == module) {
            return;
        }
        self.reported.insert(name.declared());
        // One module that is not used is one mistake, however many names it has.
        if !self.reported_modules.insert(module.to_owned()) {
            return;
        }
        let last = last_word(module);
        let names = || self.file.uses.iter().map(|used| used.name.as_str());
        let (headline, help) = if module != last && names().any(|known| known == last) {
            (format!("`{name}` has more than the name of its module before it"), format!("write `{last}.{own}`"))
        } else {
            let help = match nearest(module, names()) {
                Some(meant) => format!("did you mean `{meant}.{own}`?"),
                None => format!("use it first: `use std.{last};`, or `use \"{last}.flux\";` for one of your own"),
            };
            (format!("this file uses no module `{module}`"), help)
        };
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_MODULE, headline, name.span).help(help));
    }

    /// Reports that a module has nothing called `own`.
    fn report_unknown(&mut self, kind: Kind, (module, own): (&str, &str), index: usize, span: Span) {
        if !self.reported.insert(declared::Name::of(self.module(index), own)) {
            return;
        }
        let mut names: Vec<&str> = vec![];
        if let Some(known) = self.known.get(index) {
            let is_one = |other: Kind| other == kind || kind == Kind::Handler && other == Kind::Node;
            names.extend(known.names.iter().filter(|(other, _)| is_one(*other)).map(|(_, name)| name.as_str()));
        }
        names.sort_unstable();
        let help = match nearest(own, names.iter().copied()) {
            Some(meant) => format!("did you mean `{module}.{meant}`?"),
            None if names.is_empty() => format!("the module has no {}", kind.name()),
            None => format!("it has {}", listed(&names)),
        };
        let headline = format!("the module `{module}` has no {} `{own}`", kind.name());
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_IN_MODULE, headline, span).help(help));
    }

    /// Reports that a module's name is given a meaning outside of it.
    fn report_foreign(&mut self, module: &str, own: &str, span: Span) {
        if self.reported.insert(declared::Name::of(Some(module), own)) {
            let headline = format!("`{module}.{own}` is of the module `{module}`, and only that can say what it is");
            let help = format!("choose a name without `{module}.`, or write this in the module");
            self.diagnostics.push(Diagnostic::error(ids::FOREIGN_DEFINITION, headline, span).help(help));
        }
    }
}

/// A message lists names up to this many.
const LISTED: usize = 8;

fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// What is done with each name of a statement; true for one that the statement says the meaning of.
type Visit<'visit> = dyn FnMut(Kind, &mut QualifiedName<'_>, bool) + 'visit;

/// Goes through all names of a statement that may be of a module.
fn walk(statement: &mut Statement<'_>, visit: &mut Visit<'_>) {
    match statement {
        Statement::Include(_) | Statement::Link(_) | Statement::Use(_) | Statement::Unit(_) => {}
        Statement::Option(option) => visit(Kind::Option, &mut option.name, true),
        Statement::Typedef(typedef) => {
            visit(Kind::Predicate, &mut typedef.name, true);
            if let TestedBy::Function(function) = &mut typedef.tested_by {
                visit(Kind::Function, function, false);
            }
        }
        Statement::Type(declared) => visit(Kind::Type, &mut declared.name, true),
        Statement::Using(using) => visit(Kind::List, &mut using.name, true),
        Statement::Declaration(declaration) => {
            visit(Kind::Node, &mut declaration.name, true);
            let parameters = declaration.inputs.iter_mut().chain(&mut declaration.outputs);
            let lists = parameters.filter_map(|parameter| parameter.list.as_mut());
            lists.for_each(|list| visit(Kind::List, list, false));
        }
        Statement::Source(source) => {
            if let Origin::Node(application) = &mut source.origin {
                walk_application(application, visit);
            }
            source.session.iter_mut().for_each(|function| visit(Kind::Function, function, false));
            visit(Kind::Node, &mut source.target, false);
        }
        Statement::Flow(flow) => {
            visit(Kind::Node, &mut flow.node, true);
            let patterns = flow.patterns.iter_mut().flat_map(|patterns| &mut patterns.list);
            patterns.for_each(|pattern| walk_pattern(Kind::Predicate, pattern, visit));
            walk_chain(&mut flow.chain, visit);
        }
        Statement::Handler(handler) => {
            handler.path.iter_mut().for_each(|part| walk_pattern(Kind::Node, part, visit));
            visit(Kind::Handler, &mut handler.target, false);
        }
        Statement::Atomic(atomic) => {
            visit(Kind::Node, &mut atomic.node, false);
            atomic.constraints.iter_mut().for_each(|one| visit(Kind::Constraint, &mut one.name, false));
        }
    }
}

fn walk_pattern(kind: Kind, pattern: &mut NameOrAny<'_>, visit: &mut Visit<'_>) {
    if let NameOrAny::Name(name) = pattern {
        visit(kind, name, false);
    }
}

/// The recursion is as deep as chains are in each other, which the parser bounds.
fn walk_chain(chain: &mut Chain<'_>, visit: &mut Visit<'_>) {
    for step in &mut chain.steps {
        match &mut step.action {
            Action::Apply(application) => walk_application(application, visit),
            Action::Parallel(branches, _) => branches.iter_mut().for_each(|branch| walk_chain(branch, visit)),
            Action::Each(chain, width, _) => {
                walk_chain(chain, visit);
                width.iter_mut().for_each(|width| walk_constant(width, visit));
            }
        }
        step.within.iter_mut().for_each(|time| walk_constant(time, visit));
    }
}

fn walk_application(application: &mut Application<'_>, visit: &mut Visit<'_>) {
    visit(Kind::Node, &mut application.node, false);
    application.constants.iter_mut().for_each(|constant| walk_constant(constant, visit));
}

fn walk_constant(constant: &mut Constant<'_>, visit: &mut Visit<'_>) {
    if let ConstantValue::Option(name) = &mut constant.value {
        visit(Kind::Option, name, false);
    }
}

/// Goes through the types that a statement names.
fn types(statement: &mut Statement<'_>, visit: &mut dyn FnMut(&mut String, Span)) {
    let (first, second): (&mut [Parameter], &mut [Parameter]) = match statement {
        Statement::Declaration(declaration) => (&mut declaration.inputs, &mut declaration.outputs),
        Statement::Using(using) => (&mut using.parameters, &mut []),
        Statement::Type(TypeDeclaration { body: TypeBody::Record(fields), .. }) => (fields, &mut []),
        Statement::Typedef(Typedef { tested_by: TestedBy::Body(input, _), .. }) => {
            (std::slice::from_mut(input), &mut [])
        }
        _ => return,
    };
    first.iter_mut().chain(second).for_each(|parameter| visit(&mut parameter.ty, parameter.span));
}

/// The bodies in a statement.
fn bodies<'a, 'text>(statement: &'a mut Statement<'text>) -> Option<&'a mut Body<'text>> {
    match statement {
        Statement::Declaration(declaration) => declaration.body.as_mut(),
        Statement::Typedef(Typedef { tested_by: TestedBy::Body(_, body), .. }) => Some(body),
        _ => None,
    }
}
