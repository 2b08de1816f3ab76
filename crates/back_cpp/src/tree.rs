//! The part of C++ that generated code is made of, as a tree.
//!
//! The back end builds this tree and [`crate::print`] writes it, so that indentation, wrapping and punctuation are
//! decided in one place and no stage glues text together. Names and types are leaves: a type is what the user wrote.

use flux_source::Deep;

/// A type with the name that has it: a parameter, a member, a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declarator {
    /// The type: `image_tag *`, `const flux::outcome`.
    pub ty: String,
    /// The name; empty for a parameter that is not used.
    pub name: String,
    /// The array suffix: `[3]`; mostly empty.
    pub array: String,
}

/// Something with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A name or a number, as it is written.
    Name(String),
    /// A string: the text, not yet escaped.
    Text(String),
    /// `object.member`
    Member(Deep<Self>, String),
    /// `&object`
    Address(Deep<Self>),
    /// `function(arguments)`
    Call(Deep<Self>, Vec<Self>),
    /// `name<arguments>`
    Instance(String, Vec<Self>),
    /// `{values}`
    Braces(Vec<Self>),
    /// `left != right`, with whichever operator.
    Compare(Deep<Self>, &'static str, Deep<Self>),
    /// `one && another`
    All(Vec<Self>),
    /// `object[key]`
    Element(Deep<[Self; 2]>),
    /// `left + right`, with whichever operator; `c ? a : b` is `?` of `c`, and of `:` of the others.
    Infix(Deep<Self>, &'static str, Deep<Self>),
    /// `!value`
    Prefix(&'static str, Deep<Self>),
    /// `hit{values}`
    Made(String, Vec<Self>),
    /// `[&](const hit &h) { return value; }`, or, where it is true, `[&](const hit &h) -> const auto & { … }`.
    Lambda(Vec<Declarator>, bool, Deep<Self>),
}

/// How a variable starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// `name{values}`
    Braces(Vec<Expression>),
    /// `name(arguments)`
    Arguments(Vec<Expression>),
    /// `name = value`
    Value(Expression),
}

/// One statement of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// An empty line.
    Blank,
    /// A comment of one line.
    Comment(String),
    /// A local variable.
    Variable(Declarator, Initial),
    /// `to = from;`
    Assign(Expression, Expression),
    /// An expression for its effect.
    Run(Expression),
    /// `function(arguments, [&] { … });`
    RunWith(Expression, Vec<Expression>, Vec<Self>),
    /// `if (condition) { … } else { … }`, the latter left out where it is empty.
    If(Expression, Vec<Self>, Vec<Self>),
    /// `if (!condition) [[unlikely]] { … }`
    Unless(Expression, Vec<Self>),
    /// `for (element : list) { … }`
    For(Declarator, Expression, Vec<Self>),
    /// `try { … } catch (...) { … }`
    Try(Vec<Self>, Vec<Self>),
    /// `{ … }`
    Scope(Vec<Self>),
    /// `switch (value) { case 1: … }`: labels, which are `default` where there are none, and what is done then, which
    /// does not go on with the next one.
    Switch(Expression, Vec<(Vec<String>, Vec<Self>)>),
    /// `const auto name = [&](parameters) { … };`
    Closure(String, Vec<Declarator>, Vec<Self>),
    /// `break;`
    Break,
    /// `return value;`
    Return(Expression),
}

/// A function with a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// What it returns.
    pub result: String,
    /// What it is called.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Declarator>,
    /// What it does.
    pub body: Vec<Statement>,
    /// What it does about an exception from its body, which then is a function-try-block; nothing where empty.
    pub caught: Vec<Statement>,
}

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// A comment between the rows.
    Comment(String),
    /// One element, on a line of its own.
    Element(Expression),
    /// Short elements, as many on a line as fit.
    Elements(Vec<Expression>),
}

/// Something at the level of a file or a namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Declaration {
    /// An empty line.
    Blank,
    /// A comment of one line.
    Comment(String),
    /// `#include "…"`
    Include(String),
    /// `#include <…>`
    SystemInclude(String),
    /// A line for the preprocessor, without its `#`.
    Directive(String),
    /// Declarations with C linkage, in a header that C reads too.
    ExternC(Vec<Self>),
    /// Declarations that C does not read, in a header that it reads too.
    OnlyCpp(Vec<Self>),
    /// Declarations that C++ does not read, in a header that it reads too.
    OnlyC(Vec<Self>),
    /// `namespace name { … }`
    Namespace(String, Vec<Self>),
    /// `struct name { … };`
    Struct(String, Vec<Declarator>),
    /// A struct that compares by its members, each with whether it begins as zero.
    Record(String, Vec<(Declarator, bool)>),
    /// In a class: what follows is its own.
    Private,
    /// `class name;`
    Named(String),
    /// `class name : public base`, whose members are public up to where it says otherwise.
    Class(String, String, Vec<Self>),
    /// `struct name : base { … };`, the base left out where it is empty.
    Derived(String, String, Vec<Self>),
    /// `using name = type;`
    Alias(String, String),
    /// A member with its default value, which `{}` is where there is none.
    Member(Declarator, Option<Expression>),
    /// `union { … };`, whose members are members of the class around it.
    Union(Vec<Self>),
    /// A function of a class, as it is declared in it: what stands before it, and after it.
    Declared(&'static str, Function, &'static str),
    /// A function of a class, with its body, and what stands after its parameters.
    Method(Function, &'static str),
    /// A template of this parameter.
    Template(&'static str, Deep<Self>),
    /// `template …;`: what is compiled of a template, for these arguments.
    Instantiated(Function),
    /// A constructor, and what it initialises.
    Constructor(Function, Vec<Expression>),
    /// `enum class name { values };`
    EnumClass(String, Vec<String>),
    /// `enum name : base { … };`
    Enum(String, String, Vec<String>),
    /// A function without a body, in a header that C reads too: result, name, parameters.
    Prototype(String, String, Vec<Declarator>),
    /// A function.
    Function(Function),
    /// A variable.
    Variable(Declarator, Initial),
    /// `static_assert(condition, "message");`
    Assert(Expression, String),
    /// `constexpr type name[] = { … };`
    Table(String, String, Vec<Row>),
}

impl Declarator {
    /// A type and a name.
    pub fn new(ty: impl Into<String>, name: impl Into<String>) -> Self {
        Self { ty: ty.into(), name: name.into(), array: String::new() }
    }

    /// A type and a name, never assigned to.
    pub fn constant(ty: &str, name: impl Into<String>) -> Self {
        Self::new(format!("const {ty}"), name)
    }
}

impl Expression {
    /// A name or a number.
    pub fn name(name: impl ToString) -> Self {
        Self::Name(name.to_string())
    }

    /// A member of this object.
    pub fn member(self, name: impl Into<String>) -> Self {
        Self::Member(Deep::new(self), name.into())
    }

    /// A call of this function.
    pub fn call(self, arguments: Vec<Self>) -> Self {
        Self::Call(Deep::new(self), arguments)
    }

    /// The address of this object.
    pub fn address(self) -> Self {
        Self::Address(Deep::new(self))
    }

    /// A comparison with `right`.
    pub fn compare(self, operator: &'static str, right: Self) -> Self {
        Self::Compare(Deep::new(self), operator, Deep::new(right))
    }
}
