//! The syntax tree of a message, as it was written: names not resolved, nothing typed.

use crate::body::Value;
use crate::syntax::{Name, Parameter, QualifiedName};
use flux_source::{Span, deep};

/// `type command = unit { ... };`
#[derive(Clone, Debug)]
pub struct Unit<'text> {
    /// The message.
    pub name: QualifiedName<'text>,
    /// What whoever contains it says of it.
    pub parameters: Vec<Parameter<'text>>,
    /// `%byteorder = big;`
    pub properties: Vec<Property<'text>>,
    /// What it consists of.
    pub items: Vec<Item<'text>>,
    /// The statement.
    pub span: Span,
}

/// `%byteorder = big;`, or `%max_size = 64k;`
#[derive(Clone, Debug)]
pub struct Property<'text> {
    /// Which.
    pub name: Name<'text>,
    /// Its value.
    pub value: Value<'text>,
}

/// What a message consists of.
#[derive(Clone, Debug)]
pub enum Item<'text> {
    /// A field, or a variable.
    Field(Box<Field<'text>>),
    /// `if (…) { … } else { … }`
    If(Value<'text>, Vec<Self>, Vec<Self>),
    /// `switch (…) { … }`, or `switch { … }`
    Switch(Option<Value<'text>>, Vec<Case<'text>>, Span),
}

/// `1, 2 -> { … }`
#[derive(Clone, Debug)]
pub struct Case<'text> {
    /// Its values.
    pub labels: Vec<Label>,
    /// Whether it is `*`.
    pub is_default: bool,
    /// What comes then.
    pub items: Vec<Item<'text>>,
    /// From the labels to the items.
    pub span: Span,
}

/// A value of a case.
#[derive(Clone, Debug)]
pub struct Label {
    /// The value.
    pub value: flux_ir::message::Label,
    /// Where.
    pub span: Span,
}

/// `key : string &length = self.key_len;`
#[derive(Clone, Debug)]
pub struct Field<'text> {
    /// Its name; none where it has none.
    pub name: Option<Name<'text>>,
    /// Whether it is a `var`.
    pub is_variable: bool,
    /// What it is.
    pub form: Form<'text>,
    /// Where that is written.
    pub form_span: Span,
    /// What is in its brackets, where it has some.
    pub repeat: Option<Option<Value<'text>>>,
    /// What else is said of it.
    pub attributes: Vec<Attribute<'text>>,
    /// The whole of it.
    pub span: Span,
}

/// What a field is.
#[derive(Clone, Debug)]
pub enum Form<'text> {
    /// `"\r\n"`
    Literal(Vec<u8>),
    /// `token("[0-9]+")`
    Token(String),
    /// `bits(4)`
    Bits(i64),
    /// `uint16`, `header`, `body(self.length)`
    Named(QualifiedName<'text>, Vec<Value<'text>>),
}

/// `&length = self.key_len`
#[derive(Clone, Debug)]
pub struct Attribute<'text> {
    /// Which.
    pub name: Name<'text>,
    /// Its value, where it has one.
    pub value: Option<AttributeValue<'text>>,
    /// From the `&` on.
    pub span: Span,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum AttributeValue<'text> {
    /// `"\r\n"`
    Bytes(Vec<u8>),
    /// `self.total_len = …`: a field, and its value.
    Assignment(Name<'text>, Value<'text>),
    /// Any other.
    Value(Value<'text>),
}

/// The fields in `items`, those of choices too, in the order of the text.
pub fn fields_mut<'a, 'text>(items: &'a mut [Item<'text>], found: &mut Vec<&'a mut Field<'text>>) {
    deep(|| {
        for item in items {
            match item {
                Item::Field(field) => found.push(field),
                Item::If(_, then, otherwise) => {
                    fields_mut(then, found);
                    fields_mut(otherwise, found);
                }
                Item::Switch(_, cases, _) => cases.iter_mut().for_each(|case| fields_mut(&mut case.items, found)),
            }
        }
    })
}
