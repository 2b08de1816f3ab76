//! Messages: what bytes on a wire mean, declared once, so that a parser and a serialiser can be made of it.
//!
//! A message is a sequence of items: fields, choices between items, and variables that are computed on the way. The
//! notation and the ideas are those of the FLICK paper, section 4.2, and so of Spicy. A message is read from its first
//! byte to its last with one byte of look-ahead, and nothing in it is without a bound.
//!
//! What a field's attributes say is a [`Formula`]: an expression of [`crate::compute`] whose variables are fields,
//! parameters, and the value of the field itself. In formulas integers have 64 bits, whatever they have on the wire: so
//! `self.key_len + self.extras_len` does not overflow because both are short.

mod byte_set;
mod field_type;
mod first;
mod made;
mod streams;
mod token;

pub use byte_set::ByteSet;
pub use field_type::{field_type, given_type, message_type};
pub use first::{First, Firsts};
pub use made::Given;
pub use streams::{has_streams, is_before_streams, looks_back};
pub use token::{Token, TokenError, TokenState};

use crate::arena::ArenaId;
use crate::compute::{Expression, Term};
use crate::name::Name;
use crate::program::{Parameter, Program};
use crate::types::{Integer, Type, TypeKind};
use flux_source::Span;
use std::collections::HashSet;

/// A message of a [`Program`].
pub type MessageId = ArenaId<Message>;

/// How many bytes a message may have that stands by itself and does not say.
pub const DEFAULT_MAX_SIZE: u64 = 16 << 20;

/// `type command = unit { … };`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// What it is called.
    pub name: Name,
    /// What whoever contains it says of it: integers and truth values.
    pub parameters: Vec<Parameter>,
    /// How many bytes it may have, those of streams aside: by itself, and inside another. Inside another one that does
    /// not say may have what is left of that.
    pub max_size: Option<u64>,
    /// Whether what looks back inside of it counts from its first byte, and not from that of the message around it.
    pub is_origin: bool,
    /// Its fields and variables, those of choices too, in the order of the text.
    pub fields: Vec<Field>,
    /// What it consists of, in order; each field stands in it once.
    pub items: Vec<Item>,
    /// The statement.
    pub span: Span,
}

/// The field at this index of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldId(pub u32);

impl FieldId {
    /// That of the field at `index`.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a message consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A field, or a variable.
    Field(FieldId),
    /// `if (…) { … } else { … }`
    If(Formula, Vec<Self>, Vec<Self>),
    /// `switch (…) { … }`
    Switch(Switch),
}

/// A choice among several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Switch {
    /// The value that decides; none where the next byte does.
    pub on: Option<Formula>,
    /// What there is to choose from, in order.
    pub cases: Vec<Case>,
    /// The whole of it.
    pub span: Span,
}

/// One of the cases of a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The values for which it is taken; none where the next byte decides, and in the last resort.
    pub labels: Vec<Label>,
    /// Whether it is taken where no other is.
    pub is_default: bool,
    /// What comes then.
    pub items: Vec<Item>,
    /// From the labels to the items.
    pub span: Span,
}

/// A value that a case is for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// An integer.
    Integer(i128),
    /// A text, or bytes.
    Bytes(Vec<u8>),
}

/// A field, or a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name; empty where it has none, so that nobody can ask for it.
    pub name: String,
    /// What it is on the wire.
    pub form: Form,
    /// How often that comes.
    pub repeat: Repeat,
    /// Where it ends; none where its form says.
    pub extent: Option<Extent>,
    /// How many bytes it may have; of a list how many elements.
    pub max_size: Option<u64>,
    /// How often it may be inside of itself.
    pub max_depth: Option<u64>,
    /// Where it is, further back, counted from the nearest origin around it; it takes no bytes where it stands.
    pub parse_at: Option<Formula>,
    /// Whether its bytes go along as they come, and are never all in memory.
    pub is_stream: bool,
    /// What its value is, made of what was read.
    pub convert: Option<Formula>,
    /// What must hold of its value.
    pub requires: Vec<Formula>,
    /// Variables that change once it has been read, of a list after each element, and what they become, in order.
    pub updates: Vec<(FieldId, Formula)>,
    /// A field that is given a value before the message is written, and that value.
    pub serialize: Option<(FieldId, Formula)>,
    /// The whole of it.
    pub span: Span,
}

/// What a field is on the wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A binary integer of whole bytes: 8, 16, 24 … 64 bits.
    Integer(Integer, ByteOrder),
    /// An integer as digits to this base, 10 or 16: as many as there are.
    Digits(Integer, u32),
    /// An unsigned integer of so many bits, the highest first. Fields of bits that follow each other fill whole bytes.
    Bits(u8),
    /// Bytes, up to where the extent says.
    Bytes,
    /// Text, likewise. No encoding is checked.
    Text,
    /// Just these bytes, which are no value.
    Literal(Vec<u8>),
    /// The longest text of this regular expression ([`Token`]).
    Token(String),
    /// A message, with the values of its parameters.
    Unit(MessageId, Vec<Formula>),
    /// Nothing: it is computed.
    Variable(Type, Formula),
}

/// The order of the bytes of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ByteOrder {
    /// The most significant first.
    Big,
    /// The least significant first.
    Little,
}

impl ByteOrder {
    /// As the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Little => "little",
        }
    }

    /// The one that the language spells so.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Big, Self::Little].into_iter().find(|order| order.name() == name)
    }
}

/// How often what a field is comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Once: it is no list.
    Once,
    /// So many times: `T[n]`.
    Times(Formula),
    /// Up to where the extent says: `T[]`.
    Open,
}

/// Where a field ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// After so many bytes.
    Length(Formula),
    /// Where these bytes come, which are no part of its value.
    Until(Vec<u8>),
    /// After the first element of which this holds.
    UntilHolds(Formula),
    /// With the bytes around it: those of a field with a length, or those that the peer sends.
    EndOfData,
}

/// An expression, and what its variables are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    /// By the index of the variable.
    pub names: Vec<Reference>,
    /// The expression.
    pub value: Expression,
}

/// What a variable of a formula is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Where it begins.
    pub root: Root,
    /// The fields on the way, each in the message that the one before it is.
    pub path: Vec<FieldId>,
    /// The type of its value.
    pub ty: Type,
    /// Where it is written first.
    pub span: Span,
}

/// Where a reference begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// `self`: the message that the field is of.
    Own,
    /// A parameter of it.
    Parameter(usize),
    /// `$$`: the value of the field; of a list that of the element read last.
    Value,
}

impl Formula {
    /// The integer that it is, whatever the message says.
    pub fn constant(&self) -> Option<i128> {
        match &self.value.term {
            Term::Integer(value) => Some(*value),
            Term::Convert(inner) => match inner.term {
                Term::Integer(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Message {
    /// A message of no fields, with the usual bound.
    pub fn new(name: Name, span: Span) -> Self {
        let (parameters, fields, items) = (vec![], vec![], vec![]);
        Self { name, parameters, max_size: None, is_origin: false, fields, items, span }
    }

    /// How many bytes it may have where it stands by itself, those of streams aside.
    pub fn most_bytes(&self) -> u64 {
        self.max_size.unwrap_or(DEFAULT_MAX_SIZE)
    }

    /// The field `id`.
    pub fn field(&self, id: FieldId) -> Option<&Field> {
        self.fields.get(id.index())
    }

    /// The field that is called `name`.
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| !name.is_empty() && field.name == name).map(FieldId::new)
    }
}

impl Field {
    /// A field that comes once, without attributes.
    pub fn new(name: String, form: Form, span: Span) -> Self {
        Self {
            name,
            form,
            repeat: Repeat::Once,
            extent: None,
            max_size: None,
            max_depth: None,
            parse_at: None,
            is_stream: false,
            convert: None,
            requires: vec![],
            updates: vec![],
            serialize: None,
            span,
        }
    }

    /// Whether it is computed, and not on the wire.
    pub fn is_variable(&self) -> bool {
        matches!(self.form, Form::Variable(..))
    }

    /// The type that it is declared as, if it is a variable.
    pub fn variable_type(&self) -> Option<&Type> {
        match &self.form {
            Form::Variable(ty, _) => Some(ty),
            _ => None,
        }
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.repeat != Repeat::Once
    }

    /// The type of its value in formulas; none where it has no single one, as a list, a message and a literal.
    pub fn value_type(&self) -> Option<Type> {
        if self.is_list() || self.is_stream {
            return None;
        }
        self.convert.as_ref().map_or_else(|| self.element_type(), |convert| Some(widened(&convert.value.ty)))
    }

    /// The type of what is read, before it is converted: of a list that of an element.
    pub fn element_type(&self) -> Option<Type> {
        match &self.form {
            Form::Integer(integer, _) | Form::Digits(integer, _) => Some(wide(integer.signed)),
            Form::Bits(_) => Some(wide(false)),
            Form::Bytes => Some(Type::of_kind(TypeKind::Bytes)),
            Form::Text | Form::Token(_) => Some(Type::of_kind(TypeKind::Text)),
            Form::Variable(ty, _) => Some(widened(ty)),
            Form::Literal(_) | Form::Unit(..) => None,
        }
    }

    /// The formulas of its attributes, in the order in which they are asked while it is read.
    pub fn formulas(&self) -> Vec<&Formula> {
        let serialize = self.serialize.iter().map(|(_, formula)| formula);
        self.formulas_of_reading().into_iter().chain(serialize).collect()
    }

    /// Those that are computed when it is read, in the same order: all but that of `&serialize`.
    pub fn formulas_of_reading(&self) -> Vec<&Formula> {
        let form: &[Formula] = match &self.form {
            Form::Unit(_, arguments) => arguments,
            Form::Variable(_, value) => std::slice::from_ref(value),
            _ => &[],
        };
        let repeat = match &self.repeat {
            Repeat::Times(count) => Some(count),
            Repeat::Once | Repeat::Open => None,
        };
        let extent = match &self.extent {
            Some(Extent::Length(formula) | Extent::UntilHolds(formula)) => Some(formula),
            _ => None,
        };
        let updates = self.updates.iter().map(|(_, formula)| formula);
        let after = self.convert.iter().chain(&self.requires).chain(updates);
        form.iter().chain(repeat).chain(&self.parse_at).chain(extent).chain(after).collect()
    }
}

/// The integers that formulas reckon with.
pub fn wide(signed: bool) -> Type {
    Integer { signed, bits: 64 }.ty()
}

/// The type that a value of `ty` has in formulas: integers have 64 bits there.
pub fn widened(ty: &Type) -> Type {
    ty.integer().map_or_else(|| ty.clone(), |integer| wide(integer.signed))
}

/// The message that a field is, or whose list it is.
pub fn unit_of(field: &Field) -> Option<MessageId> {
    match field.form {
        Form::Unit(id, _) => Some(id),
        _ => None,
    }
}

/// Whether the message that `field` of `from` is may contain `from` again, not counting lists: so its places cannot be
/// a part of those of `from`. O(size of the messages).
pub fn is_inside_itself(program: &Program, from: MessageId, field: &Field) -> bool {
    let Some(to) = unit_of(field).filter(|_| !field.is_list()) else { return false };
    let (mut open, mut seen) = (vec![to], HashSet::new());
    while let Some(id) = open.pop() {
        if id == from {
            return true;
        }
        if seen.insert(id)
            && let Some(message) = program.messages.find(id)
        {
            open.extend(message.fields.iter().filter(|field| !field.is_list()).filter_map(unit_of));
        }
    }
    false
}

/// The field at the end of `path`, which begins in `message`, and the message that it is of; none where the path leads
/// nowhere, or through a list.
pub fn follow<'a>(program: &'a Program, message: &'a Message, path: &[FieldId]) -> Option<(&'a Message, &'a Field)> {
    let (last, way) = path.split_last()?;
    let mut at = message;
    for step in way {
        let field = at.field(*step).filter(|field| !field.is_list())?;
        at = program.messages.find(unit_of(field)?)?;
    }
    Some((at, at.field(*last)?))
}

/// The type of `reference` in the formulas of `field`, which is of `message`; none if there is no such value.
pub fn type_of(program: &Program, message: &Message, field: Option<&Field>, reference: &Reference) -> Option<Type> {
    match (reference.root, reference.path.as_slice()) {
        (Root::Own, path) => follow(program, message, path)?.1.value_type(),
        (Root::Parameter(index), []) => message.parameters.get(index).map(|parameter| widened(&parameter.ty)),
        (Root::Parameter(_), _) => None,
        (Root::Value, []) => field?.element_type(),
        (Root::Value, path) => follow(program, program.messages.find(unit_of(field?)?)?, path)?.1.value_type(),
    }
}

/// Every list of items in `items`, itself first: those of choices after the list that they are in.
pub fn all_lists(items: &[Item]) -> Vec<&[Item]> {
    let (mut open, mut found) = (vec![items], vec![]);
    while let Some(list) = open.pop() {
        found.push(list);
        for item in list {
            match item {
                Item::Field(_) => {}
                Item::If(_, then, otherwise) => open.extend([then.as_slice(), otherwise]),
                Item::Switch(switch) => open.extend(switch.cases.iter().map(|case| case.items.as_slice())),
            }
        }
    }
    found
}
