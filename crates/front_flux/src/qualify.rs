//! Names of modules: every name in the tree of a file becomes the name that it has in the whole program.
//!
//! A declaration of a module has the module's name before its own, `tcp.Listen`, wherever it is mentioned: in the
//! module itself, where the prefix may be left out, and in files that use the module, perhaps under another name. The
//! types of C++ are not known to Flux: those of a module are always written with its name, `tcp.Address`.
//! [`flux_ir::types`] says what C++ calls them.

use crate::body::{Body, Form, Value, values_and_types_mut};
use crate::cpp_type::type_name;
use crate::ids;
use crate::message::{self, fields_mut};
use crate::syntax::{
    Action, Application, Chain, Constant, ConstantValue, NameOrAny, Origin, Parameter, QualifiedName, StateOperation,
    Statement, Syntax, TestedBy, TypeBody, TypeDeclaration, Typedef,
};
use flux_diagnostic::Diagnostic;
use flux_front::scope::{Kind, Located, Scope};
use flux_source::{Span, deep};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Gives all names in the tree of a file their modules; what defines something of another module is reported, and then
/// not there. Linear in the tree.
pub fn qualify(syntax: &mut Syntax<'_>, scope: &mut Scope<'_>) {
    // Only in a module are its own types called otherwise than they are written.
    let own = syntax.statements.iter().filter_map(|statement| match statement {
        Statement::Type(declared) if scope.module().is_some() => Some(declared.name.own.to_string()),
        Statement::Unit(unit) if scope.module().is_some() => Some(unit.name.own.to_string()),
        _ => None,
    });
    let own_types: HashSet<String> = own.collect();
    let mut states = StateNames::of(syntax);
    syntax.statements.retain_mut(|statement| {
        let mut is_own = true;
        walk(statement, &mut |kind, name, defines| {
            states.name_operation(kind, name, scope);
            is_own &= give_module(scope, kind, name, defines);
        });
        types(statement, &mut |ty, span| qualify_type(scope, &own_types, ty, span));
        if let Some(body) = bodies(statement) {
            let (values, types) = values_and_types_mut(body);
            values.into_iter().for_each(|value| qualify_value(scope, value));
            types.into_iter().for_each(|spelled| qualify_type(scope, &own_types, &mut spelled.ty, spelled.span));
        }
        is_own
    });
    for statement in &mut syntax.statements {
        if let Statement::State(state) = statement {
            state.used = states.0.remove(&*state.name.own).unwrap_or_default();
        }
    }
}

/// The states of a file, and which of their operations are named so far.
struct StateNames(HashMap<String, HashSet<StateOperation>>);

impl StateNames {
    fn of(syntax: &Syntax<'_>) -> Self {
        let names = syntax.statements.iter().filter_map(|statement| match statement {
            Statement::State(state) => Some((state.name.own.to_string(), HashSet::new())),
            _ => None,
        });
        Self(names.collect())
    }

    /// Makes `hits.get` the name of a node of the file, `hits_get`.
    fn name_operation(&mut self, kind: Kind, name: &mut QualifiedName<'_>, scope: &mut Scope<'_>) {
        let (Kind::Node | Kind::Handler, None, Some(state)) = (kind, &name.folder, &name.module) else { return };
        let Some(used) = self.0.get_mut(&**state) else { return };
        match StateOperation::of_name(&name.own) {
            Some(operation) => _ = used.insert(operation),
            None => {
                let headline = format!("the state `{state}` has no operation `{}`", name.own);
                let names = StateOperation::ALL.map(|operation| format!("`{}`", operation.name()));
                let error = Diagnostic::error(ids::STATE_OPERATION, headline, name.span);
                scope.diagnostics.push(error.help(format!("its operations are {}", names.join(", "))));
            }
        }
        name.own = Cow::Owned(format!("{state}_{}", name.own));
        name.module = None;
    }
}

/// Makes a name the one that it has in the program; `defines` where the statement says what it is. False where that is
/// for another file to say.
fn give_module(scope: &mut Scope<'_>, kind: Kind, name: &mut QualifiedName<'_>, defines: bool) -> bool {
    let (module, own) = name.parts();
    if let (Some(folder), Some(module)) = (&name.folder, module) {
        scope.report_module(Some(folder), module, own, name.span);
        return true;
    }
    if defines && !scope.may_define(module, own, name.span) {
        return false;
    }
    if let Located::In(module) = scope.locate(kind, module, own, name.span) {
        name.module = module.map(Cow::Owned);
    }
    true
}

/// Gives the types of modules the names that they have in the whole program: `net.Address *` becomes `tcp.Address *`
/// after `use std.tcp as net;`. The types that the module itself declares get its name, too.
fn qualify_type(scope: &mut Scope<'_>, own_types: &HashSet<String>, ty: &mut String, span: Span) {
    if !ty.contains('.') && own_types.is_empty() {
        return;
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
    let mut rest = ty.as_str();
    let mut made = String::with_capacity(ty.len());
    while let Some(start) = rest.find(is_part) {
        let (before, after) = rest.split_at(start);
        let (words, after) = after.split_at(after.find(|character| !is_part(character)).unwrap_or(after.len()));
        made.push_str(before);
        rest = after;
        let mut name = type_name(words, span);
        let (module, own) = name.parts();
        let is_own = module.is_some() && scope.module() == module && name.folder.is_none();
        match module.filter(|_| !is_own) {
            None if module.is_none() && !made.ends_with("::") && own_types.contains(words) => {
                name.module = scope.module().map(|module| Cow::Owned(module.to_owned()));
            }
            None => {}
            Some(called) => match scope.module_called(called).filter(|_| name.folder.is_none()) {
                Some(module) => name.module = Some(Cow::Owned(module.to_owned())),
                None => {
                    scope.report_module(name.folder.as_deref(), called, own, span);
                    made.push_str(words);
                    continue;
                }
            },
        }
        made.push_str(&name.declared().to_string());
    }
    made.push_str(rest);
    *ty = made;
}

/// Makes `store.entry` in a body one name, where `store` is a module. The recursion is as deep as the value, which the
/// parser bounds.
fn qualify_value(scope: &Scope<'_>, value: &mut Value<'_>) {
    deep(|| {
        if let Form::Field(of, name) = &value.form
            && let Form::Name(module) = &of.form
            && let (None, called) = module.parts()
            && let Some(module) = scope.module_called(called)
        {
            let (module, own) = (Some(Cow::Owned(module.to_owned())), name.text.clone());
            value.form = Form::Name(QualifiedName { folder: None, module, own, span: value.span });
        }
        value.parts_mut().into_iter().for_each(|part| qualify_value(scope, part));
    })
}

/// What is done with each name of a statement; true for one that the statement says the meaning of.
type Visit<'visit> = dyn FnMut(Kind, &mut QualifiedName<'_>, bool) + 'visit;

/// Goes through all names of a statement that may be of a module.
fn walk(statement: &mut Statement<'_>, visit: &mut Visit<'_>) {
    match statement {
        Statement::Include(_) | Statement::Link(_) | Statement::Use(_) => {}
        Statement::Unit(unit) => {
            visit(Kind::Type, &mut unit.name, true);
            let mut fields = vec![];
            fields_mut(&mut unit.items, &mut fields);
            for field in fields {
                if let message::Form::Named(name, _) = &mut field.form
                    && (name.module.is_some() || !is_plain_type(&name.own))
                {
                    visit(Kind::Type, name, false);
                }
            }
        }
        Statement::Option(option) => visit(Kind::Option, &mut option.name, true),
        Statement::ErrorCode(code) => visit(Kind::Code, &mut code.name, true),
        Statement::Typedef(typedef) => {
            visit(Kind::Predicate, &mut typedef.name, true);
            if let TestedBy::Function(function) = &mut typedef.tested_by {
                visit(Kind::Function, function, false);
            }
        }
        Statement::Type(declared) => visit(Kind::Type, &mut declared.name, true),
        Statement::Using(using) => visit(Kind::List, &mut using.name, true),
        Statement::State(state) => visit(Kind::Constraint, &mut state.name, true),
        Statement::Declaration(declaration) => {
            visit(Kind::Node, &mut declaration.name, true);
            for parameter in declaration.inputs.iter_mut().chain(&mut declaration.outputs) {
                parameter.list.iter_mut().for_each(|list| visit(Kind::List, list, false));
                parameter.default.iter_mut().for_each(|default| walk_constant(default, visit));
            }
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
            handler.target.iter_mut().for_each(|target| visit(Kind::Handler, target, false));
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
    deep(|| {
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
    })
}

fn walk_application(application: &mut Application<'_>, visit: &mut Visit<'_>) {
    visit(Kind::Node, &mut application.node, false);
    let named = application.named.iter_mut().map(|named| &mut named.value);
    application.constants.iter_mut().chain(named).for_each(|constant| walk_constant(constant, visit));
}

fn walk_constant(constant: &mut Constant<'_>, visit: &mut Visit<'_>) {
    if let ConstantValue::Option(name) = &mut constant.value {
        visit(Kind::Constant, name, false);
    }
}

/// Whether a field of this type is no message.
fn is_plain_type(name: &str) -> bool {
    let integer = name.strip_prefix('u').unwrap_or(name).strip_prefix("int");
    let is_integer = integer.is_some_and(|bits| !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit()));
    is_integer || matches!(name, "bytes" | "string" | "text" | "bool")
}

/// Goes through the types that a statement names.
fn types(statement: &mut Statement<'_>, visit: &mut dyn FnMut(&mut String, Span)) {
    let (first, second): (&mut [Parameter], &mut [Parameter]) = match statement {
        Statement::Declaration(declaration) => (&mut declaration.inputs, &mut declaration.outputs),
        Statement::Using(using) => (&mut using.parameters, &mut []),
        Statement::State(state) => (&mut state.keys, &mut state.values),
        Statement::Unit(unit) => (&mut unit.parameters, &mut []),
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
