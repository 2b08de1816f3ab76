//! What names and expressions stand for: values, which have types of the model, and channels.

use flux_ir::types::Type;
use flux_source::Span;
use std::fmt;

/// What something stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A value.
    Value(Type),
    /// A channel.
    Channel(Ways),
    /// An array of channels.
    Channels(Ways),
    /// The elements that a `foldt` makes, one after the other.
    Stream(Type),
}

/// What goes through a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ways {
    /// What comes out of it; none where nothing may be read.
    pub gives: Option<Type>,
    /// What goes into it; none where nothing may be sent.
    pub takes: Option<Type>,
}

impl Ways {
    /// Whether a channel that is this can be given where `wanted` is: that has no way more.
    pub fn serves(&self, wanted: &Self) -> bool {
        let fits = |has: &Option<Type>, wanted: &Option<Type>| wanted.is_none() || has == wanted;
        fits(&self.gives, &wanted.gives) && fits(&self.takes, &wanted.takes)
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |way: &Option<Type>| way.as_ref().map_or("-".to_owned(), spelled);
        write!(out, "{}/{}", way(&self.gives), way(&self.takes))
    }
}

/// As a message names it, with its article.
impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(ty) => write!(out, "the type `{}`", spelled(ty)),
            Self::Channel(ways) => write!(out, "a channel `{ways}`"),
            Self::Channels(ways) => write!(out, "an array of channels `[{ways}]`"),
            Self::Stream(ty) => write!(out, "the elements `{}` of a `foldt`", spelled(ty)),
        }
    }
}

/// A type as this language spells it.
pub fn spelled(ty: &Type) -> String {
    use flux_ir::types::TypeKind;
    match ty.kind() {
        TypeKind::Text => "string".to_owned(),
        TypeKind::List(element) => format!("[{}]", spelled(element)),
        TypeKind::Map(key, value) => format!("dict[{}, {}]", spelled(key), spelled(value)),
        TypeKind::Integer(integer) if integer.signed && integer.bits == 64 => "integer".to_owned(),
        _ => ty.to_string(),
    }
}

/// What a function is given, and what it gives.
#[derive(Clone, Debug)]
pub struct Signature<'syntax> {
    /// Each with its name; what it is, none where that was reported; and whether it is state.
    pub parameters: Vec<(&'syntax str, Option<Kind>, bool)>,
    /// What it gives; none inside where that was reported.
    pub result: Option<Option<Type>>,
    /// Where it is declared.
    pub span: Span,
}
