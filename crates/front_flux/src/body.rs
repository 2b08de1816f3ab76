//! The syntax tree of a body in braces, as it was written: names not resolved, nothing typed.

use crate::syntax::{Name, QualifiedName};
use flux_ir::compute::Operator;
use flux_source::{Deep, Span, deep};

/// `{ points = h.bytes / (age + 1); }`, or `{ h.bytes > 1M }` of a predicate.
#[derive(Clone, Debug)]
pub struct Body<'text> {
    /// What is done, in order.
    pub block: Vec<Statement<'text>>,
    /// What a predicate says.
    pub says: Option<Value<'text>>,
    /// Whether it has a mistake that was reported, after which it is not known what it means.
    pub is_wrong: bool,
    /// With the braces.
    pub span: Span,
}

/// One statement of a body.
#[derive(Clone, Debug)]
pub enum Statement<'text> {
    /// `let x = e;`, or `let x : type = e;`
    Let(Name<'text>, Option<Spelled>, Value<'text>),
    /// `let (x, y) = e;`
    LetAll(Vec<Name<'text>>, Value<'text>),
    /// `x = e;`
    Assign(Name<'text>, Value<'text>),
    /// `if c { … } else { … }`
    If(Value<'text>, Vec<Self>, Vec<Self>),
    /// `x[e] = e;`
    Put(Name<'text>, Value<'text>, Value<'text>),
    /// `for x in e { … }`, or `for x, y in e { … }`
    For(Vec<Name<'text>>, Value<'text>, Vec<Self>),
    /// `fail 404;`
    Fail(FailCode<'text>, Span),
}

/// A type, normalised as those of parameters.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// The type.
    pub ty: String,
    /// Where it is written.
    pub span: Span,
}

/// `for x in e if e : e`
#[derive(Clone, Debug)]
pub struct Comprehension<'text> {
    /// The element, or the key and the value.
    pub names: Vec<Name<'text>>,
    /// What it goes through.
    pub over: Value<'text>,
    /// Which elements count.
    pub condition: Option<Value<'text>>,
    /// What is made of them; they themselves where nothing is.
    pub value: Option<Value<'text>>,
}

/// Something with a value.
#[derive(Clone, Debug)]
pub struct Value<'text> {
    /// What it is.
    pub form: Form<'text>,
    /// All of it.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Form<'text> {
    /// `80`, `64k`
    Number(i64),
    /// `1.5`
    Real(f64),
    /// A string, unescaped.
    Text(String),
    /// `true` or `false`
    Truth(bool),
    /// A variable, `none`, an option; with its module once modules are known.
    Name(QualifiedName<'text>),
    /// `e.name`
    Field(Deep<Value<'text>>, Name<'text>),
    /// `!e`
    Not(Deep<Value<'text>>),
    /// `-e`
    Negate(Deep<Value<'text>>),
    /// `e + e`
    Binary(Operator, Deep<[Value<'text>; 2]>),
    /// `e ? e : e`
    Choose(Deep<[Value<'text>; 3]>),
    /// `name(e, e)`, `name(field: e)`: what is called is a name, or what becomes one.
    Call(Deep<Value<'text>>, Vec<Argument<'text>>),
    /// `[e, e]`
    List(Vec<Value<'text>>),
    /// `[e: e, e: e]`
    Map(Vec<[Value<'text>; 2]>),
    /// `[for x in e if e : e]`
    Comprehension(Deep<Comprehension<'text>>),
    /// `e[e]`
    Element(Deep<[Value<'text>; 2]>),
    /// `e[e..e]`
    Slice(Deep<Value<'text>>, Option<Deep<Value<'text>>>, Option<Deep<Value<'text>>>),
}

/// What is between the parentheses of a call.
#[derive(Clone, Debug)]
pub struct Argument<'text> {
    /// The field of a record that it is for.
    pub field: Option<Name<'text>>,
    /// The value.
    pub value: Value<'text>,
}

impl<'text> Value<'text> {
    /// The values in it.
    pub fn parts(&self) -> Vec<&Self> {
        match &self.form {
            Form::Field(one, _) | Form::Not(one) | Form::Negate(one) => vec![one],
            Form::Binary(_, two) | Form::Element(two) => two.iter().collect(),
            Form::Choose(three) => three.iter().collect(),
            Form::Call(callee, arguments) => {
                std::iter::once(&**callee).chain(arguments.iter().map(|argument| &argument.value)).collect()
            }
            Form::List(all) => all.iter().collect(),
            Form::Map(all) => all.iter().flatten().collect(),
            Form::Comprehension(it) => std::iter::once(&it.over).chain(&it.condition).chain(&it.value).collect(),
            Form::Slice(of, from, to) => {
                std::iter::once(&**of).chain(from.iter().chain(to).map(|bound| &**bound)).collect()
            }
            _ => vec![],
        }
    }

    /// The values in it.
    pub fn parts_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.form {
            Form::Field(one, _) | Form::Not(one) | Form::Negate(one) => vec![one],
            Form::Binary(_, two) | Form::Element(two) => two.iter_mut().collect(),
            Form::Choose(three) => three.iter_mut().collect(),
            Form::Call(callee, arguments) => {
                std::iter::once(&mut **callee).chain(arguments.iter_mut().map(|argument| &mut argument.value)).collect()
            }
            Form::List(all) => all.iter_mut().collect(),
            Form::Map(all) => all.iter_mut().flatten().collect(),
            Form::Comprehension(it) => {
                let it = &mut **it;
                std::iter::once(&mut it.over).chain(&mut it.condition).chain(&mut it.value).collect()
            }
            Form::Slice(of, from, to) => {
                let bounds = from.iter_mut().chain(to).map(|bound| &mut **bound);
                std::iter::once(&mut **of).chain(bounds).collect()
            }
            _ => vec![],
        }
    }
}

/// The code of a failure.
#[derive(Clone, Debug)]
pub enum FailCode<'text> {
    /// `404`
    Number(i64),
    /// `ENOENT`, `http.not_found`
    Named(Value<'text>),
}

/// Every value of a body that is no part of another, and every type.
pub fn values_and_types_mut<'a, 'text>(body: &'a mut Body<'text>) -> (Vec<&'a mut Value<'text>>, Vec<&'a mut Spelled>) {
    let mut values: Vec<&mut Value> = body.says.iter_mut().collect();
    let mut types = vec![];
    let mut open: Vec<&mut Statement> = body.block.iter_mut().collect();
    while let Some(statement) = open.pop() {
        match statement {
            Statement::Let(_, ty, value) => {
                types.extend(ty);
                values.push(value);
            }
            Statement::Assign(_, value) | Statement::LetAll(_, value) => values.push(value),
            Statement::Put(_, key, value) => values.extend([key, value]),
            Statement::If(condition, then, otherwise) => {
                values.push(condition);
                open.extend(then.iter_mut().chain(otherwise));
            }
            Statement::For(_, list, block) => {
                values.push(list);
                open.extend(block);
            }
            Statement::Fail(FailCode::Named(value), _) => values.push(value),
            Statement::Fail(FailCode::Number(_), _) => {}
        }
    }
    (values, types)
}

/// The names that `block` gives values to, in whatever block of it.
pub fn assigned<'a, 'text>(block: &'a [Statement<'text>], found: &mut Vec<&'a str>) {
    deep(|| {
        for statement in block {
            match statement {
                Statement::Assign(name, _) | Statement::Put(name, ..) => found.push(name.as_str()),
                Statement::If(_, then, otherwise) => {
                    assigned(then, found);
                    assigned(otherwise, found);
                }
                Statement::For(_, _, block) => assigned(block, found),
                Statement::Let(..) | Statement::LetAll(..) | Statement::Fail(..) => {}
            }
        }
    })
}
