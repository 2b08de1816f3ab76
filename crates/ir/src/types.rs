//! The types of values.
//!
//! A type belongs to the language, such as `uint32`, `text`, a record or `list<hit>`, or it belongs to C++. A C++ type
//! is [`TypeKind::Foreign`]. The compiler knows a C++ type by the author's spelling, which the front normalises.
//! [`TypeNames::read`] decides between the two once, when it makes the type. Later code asks for the kind or for a
//! fact, and never reads a spelling again. A spelling does not show every fact of a foreign type, for example whether a
//! value can be copied. The C++ compiler decides such questions.
//!
//! # The C++ types
//!
//! Each type of the language is one C++ type. The C++ type is the plain one that a C++ author would choose. A value
//! therefore enters and leaves a plain function without a copy or a conversion.
//!
//! | in Flux                | in C++                                   |
//! | ---------------------- | ---------------------------------------- |
//! | `bool`                 | `bool`                                   |
//! | `int8` … `uint64`      | `int8_t` … `uint64_t`                    |
//! | `float32`, `float64`   | `float`, `double`                        |
//! | `text`, `bytes`        | `std::string`                            |
//! | `list<T>`              | `std::vector<T>`                         |
//! | `optional<T>`          | `std::optional<T>`                       |
//! | `map<K, V>`            | `std::map<K, V>`                         |
//! | `value`                | `flux::value`                            |
//! | `record hit`           | `struct hit`, which compares by its fields |
//! | `enum method`          | `enum class method`                      |
//! | a message `command`    | `class command`, with the message's bytes |
//! | `flux::message`        | `flux::message`: any message             |
//!
//! `text` and `bytes` are both `std::string`. Functions take and return this type, and `std.tcp` reads and sends it.
//! Strings hash and compare by their content. The language keeps the two types apart, because they have different
//! meanings for code that shows, stores or sends values. Flux checks no encoding: the author decides which values are
//! `text`.
//!
//! The table also works from right to left. A type with a spelling from the right column is the type in the left
//! column: `std::string` is `text`. A program may use either name, and both types fit each other.

mod declared;
mod facts;

pub use declared::{Declared, TypeNames};
pub use facts::{can_be_key, is_ordered, key_parts, unordered_map, written_fields};

use crate::arena::Arena;
use crate::message::MessageId;
use crate::name::Name;
use crate::program::{Parameter, Program, TypeBody, TypeDeclaration, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A type. Clones share the known facts. Two types are equal if they are one type, even if their spellings differ.
#[derive(Clone, Debug)]
pub struct Type(Arc<Known>);

#[derive(Debug)]
struct Known {
    kind: TypeKind,
    /// The author's spelling, with points in the names of modules, and without the array suffix.
    written: String,
    /// The C++ spelling, without the array suffix.
    spelling: String,
    array: String,
}

/// The kind of a type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `int32`, `uint64`
    Integer(Integer),
    /// `float32`, `float64`
    Float(Float),
    /// `text`
    Text,
    /// `bytes`
    Bytes,
    /// A type that the program declares with `enum`.
    Enum(TypeId),
    /// A type that the program declares with `record`.
    Record(TypeId),
    /// A message that the program declares.
    Message(MessageId),
    /// `list<T>`
    List(Type),
    /// `optional<T>`
    Optional(Type),
    /// `map<K, V>`
    Map(Type, Type),
    /// `value`: only the value itself knows its type.
    Value,
    /// `flux::message`: any message, without its type.
    AnyMessage,
    /// A C++ type.
    Foreign(Form),
}

/// The integers of one size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Integer {
    /// Whether some of the integers are below zero.
    pub signed: bool,
    /// The number of bits: 8, 16, 32 or 64.
    pub bits: u8,
}

/// The precision of a floating-point number, by IEEE 754.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Float {
    /// `float32`
    Single,
    /// `float64`
    Double,
}

/// The facts about the values of a C++ type that its spelling shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// `const image_tag *`
    PointerToConst,
    /// `image_tag *`
    Pointer,
    /// `enum color`
    Enum,
    /// `unsigned int`: the integers that the type can hold, if they are the same on every machine that Flux supports.
    Number(Option<Integer>),
    /// `std::string_view`
    Text,
    /// `std::unique_ptr<row>`
    MoveOnly,
    /// Any other type.
    Unknown,
}

const fn integer(signed: bool, bits: u8) -> TypeKind {
    TypeKind::Integer(Integer { signed, bits })
}

/// The types with a name of their own, in Flux and in C++. A C++ name means the first type of the list that has it.
static BUILT_IN: [(TypeKind, &str, &str); 15] = [
    (TypeKind::Bool, "bool", "bool"),
    (integer(true, 8), "int8", "int8_t"),
    (integer(true, 16), "int16", "int16_t"),
    (integer(true, 32), "int32", "int32_t"),
    (integer(true, 64), "int64", "int64_t"),
    (integer(false, 8), "uint8", "uint8_t"),
    (integer(false, 16), "uint16", "uint16_t"),
    (integer(false, 32), "uint32", "uint32_t"),
    (integer(false, 64), "uint64", "uint64_t"),
    (TypeKind::Float(Float::Single), "float32", "float"),
    (TypeKind::Float(Float::Double), "float64", "double"),
    (TypeKind::Text, "text", "std::string"),
    (TypeKind::Bytes, "bytes", "std::string"),
    (TypeKind::Value, "value", "flux::value"),
    (TypeKind::AnyMessage, "flux::message", "flux::message"),
];

/// The names of the built-in types. Diagnostics use them to suggest a name for a misspelled one.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    let own = BUILT_IN.iter().map(|(_, name, _)| *name).filter(|name| !name.contains(':'));
    own.chain(["list", "optional", "map"])
}

/// The spelling of a declared type: its name, with `::` before it if a built-in type has the same name.
fn written_name(name: &Name) -> String {
    let is_taken = name.module().is_none() && built_in_names().any(|built_in| built_in == name.own());
    if is_taken { format!("::{name}") } else { name.to_string() }
}

impl Type {
    /// The type with this spelling, in a program that declares no types.
    pub fn new(spelling: &str) -> Self {
        Self::with_array(spelling, "")
    }

    /// The same as [`Self::new`], for declarations that end in `array`.
    pub fn with_array(spelling: &str, array: &str) -> Self {
        TypeNames::default().read(spelling, array)
    }

    /// The type of an error code.
    pub fn error_code() -> Self {
        Self::new("int")
    }

    /// The type of this kind, under its own name. The kind must not be the kind of a declared type.
    pub fn of_kind(kind: TypeKind) -> Self {
        let written = match &kind {
            TypeKind::List(element) => format!("list<{element}>"),
            TypeKind::Optional(element) => format!("optional<{element}>"),
            TypeKind::Map(key, value) => format!("map<{key}, {value}>"),
            other => BUILT_IN.iter().find(|(one, ..)| one == other).map_or("", |(_, name, _)| name).to_owned(),
        };
        Self::own(kind, written, None)
    }

    /// The type of lists of `element`, which must not be an array. A list of a C++ type is a C++ type, too.
    pub fn list_of(element: &Self) -> Self {
        match element.is_own() {
            true => Self::of_kind(TypeKind::List(element.clone())),
            false => Self::foreign(&format!("std::vector<{}>", element.cpp()), ""),
        }
    }

    /// The type that `program` declares as `declared`.
    pub fn declared(program: &Program, declared: Declared) -> Self {
        let name = match declared {
            Declared::Record(id) | Declared::Enum(id) => &program.types[id].name,
            Declared::Message(id) => &program.messages[id].name,
        };
        Self::own(declared.kind(), written_name(name), Some(name))
    }

    /// The type of the message `id`, with the name `name`.
    pub fn of_message(id: MessageId, name: &Name) -> Self {
        Self::own(TypeKind::Message(id), written_name(name), Some(name))
    }

    /// A type of the language. A declared type comes with its `name`.
    fn own(kind: TypeKind, written: String, name: Option<&Name>) -> Self {
        let spelling = match (&kind, name) {
            (_, Some(name)) => name.joined("::"),
            (TypeKind::List(element), None) => format!("std::vector<{}>", element.cpp()),
            (TypeKind::Optional(element), None) => format!("std::optional<{}>", element.cpp()),
            (TypeKind::Map(key, value), None) => format!("std::map<{}, {}>", key.cpp(), value.cpp()),
            (other, None) => BUILT_IN.iter().find(|(one, ..)| one == other).map_or("", |(.., cpp)| cpp).to_owned(),
        };
        Self(Arc::new(Known { kind, written, spelling, array: String::new() }))
    }

    fn foreign(written: &str, array: &str) -> Self {
        let spelling = in_namespaces(written);
        let kind = TypeKind::Foreign(Form::of(&spelling));
        Self(Arc::new(Known { kind, written: written.to_owned(), spelling, array: array.to_owned() }))
    }

    /// The kind of the type.
    pub fn kind(&self) -> &TypeKind {
        &self.0.kind
    }

    /// The C++ spelling; for an array, the spelling of its elements. All facts about an array describe its elements.
    pub fn cpp(&self) -> &str {
        &self.0.spelling
    }

    /// The author's spelling; for an array, the spelling of its elements.
    pub fn written(&self) -> &str {
        &self.0.written
    }

    /// The suffix of an array, such as `[3]`; empty for most types.
    pub fn array(&self) -> &str {
        &self.0.array
    }

    /// Whether the type is an array. C++ cannot assign an array as a whole.
    pub fn is_array(&self) -> bool {
        !self.0.array.is_empty()
    }

    /// Whether the type belongs to the language.
    pub fn is_own(&self) -> bool {
        !matches!(self.kind(), TypeKind::Foreign(_))
    }

    /// Whether bodies know the values of the type: it belongs to the language, or it is a C++ integer type.
    pub fn is_value(&self) -> bool {
        self.is_own() || self.integer().is_some() && !self.is_array()
    }

    /// Whether the type is `value`.
    pub fn is_dynamic(&self) -> bool {
        *self.kind() == TypeKind::Value
    }

    /// Whether the type is a pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self.kind(), TypeKind::Foreign(Form::Pointer | Form::PointerToConst))
    }

    /// Whether the type is a pointer that cannot change its target: `const image_tag *`.
    pub fn is_pointer_to_const(&self) -> bool {
        *self.kind() == TypeKind::Foreign(Form::PointerToConst)
    }

    /// Whether C++ treats the type as arithmetic.
    pub fn is_number(&self) -> bool {
        use TypeKind as Kind;
        matches!(self.kind(), Kind::Bool | Kind::Integer(_) | Kind::Float(_) | Kind::Foreign(Form::Number(_)))
    }

    /// The integers that the type holds; none if it holds other values, or if the machine decides.
    pub fn integer(&self) -> Option<Integer> {
        match self.kind() {
            TypeKind::Integer(integer) => Some(*integer),
            TypeKind::Foreign(Form::Number(integer)) if !self.is_array() => *integer,
            _ => None,
        }
    }

    /// Whether the type is a C++ string.
    pub fn is_text(&self) -> bool {
        matches!(self.kind(), TypeKind::Text | TypeKind::Bytes | TypeKind::Foreign(Form::Text))
    }

    /// Whether the type is a move-only class of the standard library. For other classes, only the C++ compiler knows
    /// whether values can be copied or moved.
    pub fn is_move_only(&self) -> bool {
        *self.kind() == TypeKind::Foreign(Form::MoveOnly)
    }

    /// Whether a copy of a value runs no code of a class: the type is a pointer, an enumeration or a number. A value of
    /// any other type may throw when the program copies, moves or makes it.
    pub fn is_scalar(&self) -> bool {
        let is_enum = matches!(self.kind(), TypeKind::Enum(_) | TypeKind::Foreign(Form::Enum));
        self.is_pointer() || self.is_number() || is_enum
    }

    /// Whether the type is a connection of the runtime. Only the event loop that made a connection may use it; other
    /// threads may not.
    pub fn is_connection(&self) -> bool {
        self.0.spelling == "flux::connection *"
    }

    /// The words of the C++ spelling; a qualified name is one word. For `const std::map<image::Tag> *` they are
    /// `const`, `std::map` and `image::Tag`.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        self.0.spelling.split(move |letter| !is_of_word(letter)).filter(|word| !word.is_empty())
    }

    /// The declared type that this type is or contains; a map may contain several.
    pub fn mentioned(&self) -> Vec<Declared> {
        match self.kind() {
            TypeKind::Record(id) => vec![Declared::Record(*id)],
            TypeKind::Enum(id) => vec![Declared::Enum(*id)],
            TypeKind::Message(id) => vec![Declared::Message(*id)],
            TypeKind::List(element) | TypeKind::Optional(element) => element.mentioned(),
            TypeKind::Map(key, value) => [key.mentioned(), value.mentioned()].concat(),
            _ => vec![],
        }
    }

    /// Whether the type is `flux::message`. The type `flux::message` accepts the values of all message types.
    pub fn is_any_message(&self) -> bool {
        *self.kind() == TypeKind::AnyMessage && !self.is_array()
    }

    /// Whether the type accepts a value of the type `given`: the types are equal, or this type accepts any message and
    /// `given` is a message.
    pub fn takes(&self, given: &Self) -> bool {
        self == given || self.is_any_message() && matches!(given.kind(), TypeKind::Message(_))
    }

    /// The headers that C++ needs for the type, if the author wrote it in the spelling of the language. An author
    /// includes the headers for C++ spellings.
    pub fn headers(&self) -> Vec<&'static str> {
        if self.0.written == self.0.spelling { vec![] } else { self.all_headers() }
    }

    /// The headers that C++ needs for the type, in either spelling.
    pub fn all_headers(&self) -> Vec<&'static str> {
        let with = |header, parts: &[&Self]| {
            let inner = parts.iter().flat_map(|part| part.all_headers());
            std::iter::once(header).chain(inner).collect()
        };
        match self.kind() {
            TypeKind::Integer(_) => vec!["stdint.h"],
            TypeKind::Text | TypeKind::Bytes => vec!["string"],
            TypeKind::Value => vec!["flux/value.hpp"],
            TypeKind::AnyMessage => vec!["flux/message.hpp"],
            TypeKind::List(element) => with("vector", &[element]),
            TypeKind::Optional(element) => with("optional", &[element]),
            TypeKind::Map(key, value) => with("map", &[key, value]),
            _ => vec![],
        }
    }

    /// The C spelling, if there is one. A pointer to a class is a pointer in C, too: `flux::connection *` becomes
    /// `struct flux_connection *`.
    pub fn in_c(&self) -> Option<String> {
        if matches!(self.kind(), TypeKind::Record(_) | TypeKind::Enum(_) | TypeKind::Message(_)) {
            return None;
        }
        let spelling = self.cpp();
        if !spelling.contains(['<', ':']) {
            return Some(spelling.to_owned());
        }
        let in_c = |word: &str| match word.contains("::") {
            true => format!("struct {}", word.replace("::", "_")),
            false => word.to_owned(),
        };
        let is_readable = self.is_pointer() && !spelling.contains('<');
        is_readable.then(|| spelling.split(' ').map(in_c).collect::<Vec<_>>().join(" "))
    }

    /// The C++ declaration of `name`: `image_tag *request`, `int x[3]`, `std::string line`.
    pub fn declare_cpp(&self, name: &str) -> String {
        declaration(&self.0.spelling, name, &self.0.array)
    }

    /// The declaration of `name` in the author's spelling: `text line`.
    pub fn declare(&self, name: &str) -> String {
        declaration(&self.0.written, name, &self.0.array)
    }
}

/// The C++ spelling of a type that the author wrote with points after modules: `http::request` for `http.request`.
fn in_namespaces(written: &str) -> String {
    let begins_word = |letter: char| letter.is_alphabetic() || letter == '_';
    let mut spelling = String::with_capacity(written.len() + 1);
    let mut letters = written.chars().peekable();
    // Whether the previous letter belongs to a name, and not to a number.
    let mut in_name = false;
    let mut in_word = false;
    while let Some(letter) = letters.next() {
        match letter {
            '.' if in_name && letters.peek().is_some_and(|next| begins_word(*next)) => spelling.push_str("::"),
            _ => spelling.push(letter),
        }
        let is_part = letter.is_alphanumeric() || letter == '_';
        in_name = is_part && if in_word { in_name } else { begins_word(letter) };
        in_word = is_part;
    }
    spelling
}

fn declaration(ty: &str, name: &str, array: &str) -> String {
    let space = if ty.ends_with(['*', '&']) { "" } else { " " };
    format!("{ty}{space}{name}{array}")
}

impl Type {
    /// The identity of the type. The author's spelling does not count.
    fn identity(&self) -> (&str, &str, &TypeKind) {
        (&self.0.spelling, &self.0.array, &self.0.kind)
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.identity() == other.identity()
    }
}
impl Eq for Type {}
impl PartialOrd for Type {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Type {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.identity().cmp(&other.identity())
    }
}
impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// The author's spelling. The alternate form, `{:#}`, adds an article for use in a sentence: "an `int32`".
impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if out.alternate() {
            // `uint8` begins with the sound of a consonant.
            let article = if self.0.written.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            return write!(out, "{article} `{}{}`", self.0.written, self.0.array);
        }
        write!(out, "{}{}", self.0.written, self.0.array)
    }
}

impl Integer {
    /// The smallest and the largest integer.
    pub fn range(self) -> (i128, i128) {
        let largest = (1_i128 << (self.bits - u8::from(self.signed))) - 1;
        (if self.signed { -largest - 1 } else { 0 }, largest)
    }

    /// Whether this type has every integer of `other`.
    pub fn includes(self, other: Self) -> bool {
        let ((low, high), (other_low, other_high)) = (self.range(), other.range());
        low <= other_low && other_high <= high
    }

    /// The type of the language that holds these integers.
    pub fn ty(self) -> Type {
        Type::of_kind(TypeKind::Integer(self))
    }
}

impl Form {
    fn of(spelling: &str) -> Self {
        if let Some(target) = spelling.strip_suffix('*') {
            return if is_const(target) { Self::PointerToConst } else { Self::Pointer };
        }
        if matches!(spelling, "std::string" | "std::string_view") {
            return Self::Text;
        }
        let class = spelling.split('<').next().unwrap_or(spelling).trim_end();
        if MOVE_ONLY.contains(&class) {
            return Self::MoveOnly;
        }
        let mut words = spelling.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).peekable();
        match words.peek() {
            None => Self::Unknown,
            Some(&"enum") => Self::Enum,
            Some(_) => match words.all(|word| NUMBERS.contains(&word)) {
                true => Self::Number(integer_of(spelling)),
                false => Self::Unknown,
            },
        }
    }
}

/// Whether a pointer's target is `const`: the target ends so, or it begins so and is not a pointer itself.
fn is_const(target: &str) -> bool {
    let target = target.trim_end();
    target.ends_with(" const") || target.ends_with("*const") || target.starts_with("const ") && !target.contains('*')
}

/// The classes and class templates of the standard library that cannot be copied, but can be moved.
const MOVE_ONLY: [&str; 11] = [
    "std::unique_ptr",
    "std::unique_lock",
    "std::future",
    "std::promise",
    "std::packaged_task",
    "std::move_only_function",
    "std::thread",
    "std::jthread",
    "std::ifstream",
    "std::ofstream",
    "std::fstream",
];

/// The words that spell arithmetic types, and the customary names for such types in C, C++ and Linux.
#[rustfmt::skip]
const NUMBERS: [&str; 51] = [
    "bool", "char", "char8_t", "char16_t", "char32_t", "wchar_t", "short", "int", "long", "signed", "unsigned",
    "float", "double",
    "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "std::size_t", "std::ptrdiff_t", "std::byte",
    "std::int8_t", "std::int16_t", "std::int32_t", "std::int64_t",
    "std::uint8_t", "std::uint16_t", "std::uint32_t", "std::uint64_t",
    "__u8", "__u16", "__u32", "__u64", "__s8", "__s16", "__s32", "__s64",
    "off_t", "time_t", "socklen_t", "pid_t", "in_addr_t", "in_port_t",
];

/// The integers that the C++ type with this spelling holds on 64-bit Linux (LP64). Servers run on no other system.
fn integer_of(spelling: &str) -> Option<Integer> {
    let (signed, bits) = match spelling {
        "short" | "std::int16_t" | "__s16" => (true, 16),
        "unsigned short" | "std::uint16_t" | "__u16" => (false, 16),
        "int" | "std::int32_t" | "__s32" => (true, 32),
        "unsigned" | "unsigned int" | "std::uint32_t" | "__u32" => (false, 32),
        "long" | "long long" | "ssize_t" | "ptrdiff_t" | "std::ptrdiff_t" | "std::int64_t" | "__s64" | "time_t" => {
            (true, 64)
        }
        "unsigned long" | "unsigned long long" | "size_t" | "std::size_t" | "std::uint64_t" | "__u64" => (false, 64),
        "std::int8_t" | "signed char" | "__s8" => (true, 8),
        "std::uint8_t" | "unsigned char" | "__u8" => (false, 8),
        _ => return None,
    };
    Some(Integer { signed, bits })
}

/// The declared types that a value of `id` may contain, also inside lists; none for an enumeration.
pub fn contained_in(types: &Arena<TypeDeclaration>, id: TypeId) -> Vec<TypeId> {
    match &types[id].body {
        TypeBody::Record(fields) => {
            fields.iter().flat_map(|field| field.ty.mentioned()).filter_map(Declared::declaration).collect()
        }
        TypeBody::Enum(_) => vec![],
    }
}

/// The declared types in the order that C++ needs: each type follows the types that it contains. Of several candidates,
/// the type declared first comes first. A type that contains itself is left out, and so are the types that contain it.
/// O(fields · log).
pub fn contained_first(types: &Arena<TypeDeclaration>) -> Vec<TypeId> {
    let mut missing: HashMap<TypeId, usize> = HashMap::new();
    let mut containers: HashMap<TypeId, Vec<TypeId>> = HashMap::new();
    for id in types.ids() {
        let inner = contained_in(types, id);
        missing.insert(id, inner.len());
        inner.into_iter().for_each(|one| containers.entry(one).or_default().push(id));
    }
    let mut ready: BTreeSet<TypeId> = types.ids().filter(|id| missing.get(id) == Some(&0)).collect();
    let mut ordered = vec![];
    while let Some(id) = ready.pop_first() {
        ordered.push(id);
        for container in containers.remove(&id).unwrap_or_default() {
            let count = missing.entry(container).or_default();
            *count -= 1;
            if *count == 0 {
                ready.insert(container);
            }
        }
    }
    ordered
}

/// The fields of the record `id`; none for an enumeration.
pub fn record_fields(program: &Program, id: TypeId) -> &[Parameter] {
    match program.types.find(id).map(|declared| &declared.body) {
        Some(TypeBody::Record(fields)) => fields,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_source::{NESTING_LIMIT, Span};

    #[test]
    fn a_type_is_scalar_only_where_its_spelling_shows_it() {
        for ty in ["int", "unsigned long", "const char *", "std::map<int, T> *", "enum color", "const __u8", "pid_t"] {
            assert!(Type::new(ty).is_scalar(), "{ty}");
        }
        for ty in ["image_tag", "std::string", "struct tm", "std::vector<int *>", "hit", "", "const"] {
            assert!(!Type::new(ty).is_scalar(), "{ty}");
        }
    }

    #[test]
    fn scalars_are_numbers_pointers_or_enums() {
        let facts = |ty: &str| [Type::is_number, Type::is_pointer, Type::is_text].map(|is| is(&Type::new(ty)));
        assert_eq!(facts("const unsigned"), [true, false, false]);
        assert_eq!(facts("int *"), [false, true, false]);
        assert_eq!(facts("std::string_view"), [false, false, true]);
        assert_eq!(facts("bool"), [true, false, false]);
        for ty in ["enum color", "hit", "std::vector<std::string>"] {
            assert_eq!(facts(ty), [false; 3], "{ty}");
        }
    }

    #[test]
    fn a_pointer_to_const_is_one_by_what_it_points_at() {
        for ty in ["const char *", "Tag const *", "const std::map<int, T> *", "char *const *"] {
            assert!(Type::new(ty).is_pointer_to_const(), "{ty}");
        }
        for ty in ["char *", "const char **", "constant *", "std::vector<const char *> *", "const char", "int"] {
            assert!(!Type::new(ty).is_pointer_to_const(), "{ty}");
        }
    }

    #[test]
    fn what_the_standard_library_can_only_move_is_known() {
        for ty in ["std::unique_ptr<row>", "std::unique_ptr<std::vector<int>, closer>", "std::jthread"] {
            assert!(Type::new(ty).is_move_only() && !Type::new(ty).is_scalar(), "{ty}");
        }
        for ty in ["std::shared_ptr<row>", "std::unique_ptr<row> *", "std::vector<std::thread>", "unique_ptr", "int"] {
            assert!(!Type::new(ty).is_move_only(), "{ty}");
        }
    }

    #[test]
    fn what_is_said_of_an_array_is_said_of_its_elements() {
        let names = Type::with_array("char *", "[3]");
        assert!(names.is_array() && names.is_pointer() && names.is_scalar());
        assert_ne!(names, Type::new("char *"));
        assert_eq!((names.to_string(), names.declare("list")), ("char *[3]".to_owned(), "char *list[3]".to_owned()));
        assert_eq!(Type::new("int").declare("x"), "int x");
        assert_eq!(Type::new("T &&").declare("x"), "T &&x");
        assert_eq!(Type::with_array("uint32", "[3]").declare_cpp("x"), "uint32_t x[3]");
    }

    #[test]
    fn c_has_words_for_pointers_to_classes() {
        let in_c = |ty: &str| Type::new(ty).in_c();
        assert_eq!(in_c("unsigned int").as_deref(), Some("unsigned int"));
        assert_eq!(in_c("const flux::connection *").as_deref(), Some("const struct flux_connection *"));
        assert_eq!(in_c("std::vector<int> *"), None);
        assert_eq!(in_c("std::string"), None);
        assert_eq!(in_c("uint8").as_deref(), Some("uint8_t"));
    }

    #[test]
    fn words_are_qualified_names_and_keywords() {
        let ty = Type::new("const std::map<image::Tag, my_bool> *");
        assert_eq!(ty.words().collect::<Vec<_>>(), ["const", "std::map", "image::Tag", "my_bool"]);
        assert!(Type::new("flux::connection *").is_connection() && !ty.is_connection());
    }

    #[test]
    fn a_type_is_one_however_it_is_written() {
        for (here, cpp) in [
            ("text", "std::string"),
            ("uint64", "uint64_t"),
            ("float64", "double"),
            ("list<text>", "std::vector<std::string>"),
            ("map<text, list<int8>>", "std::map<std::string, std::vector<int8_t>>"),
            ("optional<bool>", "std::optional<bool>"),
        ] {
            let (one, other) = (Type::new(here), Type::new(cpp));
            assert_eq!(one, other);
            assert_eq!((one.cpp(), other.cpp()), (cpp, cpp));
            assert_eq!((one.to_string(), other.to_string()), (here.to_owned(), cpp.to_owned()));
        }
        assert_ne!(Type::new("text"), Type::new("bytes"), "though C++ knows no difference");
        assert_ne!(Type::new("int32"), Type::new("int"), "programs may rely on these being two");
    }

    #[test]
    fn a_declared_type_may_have_the_name_of_one_that_nobody_declares() {
        use crate::program::{Program, TypeBody, TypeDeclaration};
        let mut program = Program::default();
        let body = TypeBody::Record(vec![]);
        let id = program.types.add(TypeDeclaration { name: Name::new("value"), body, span: Span::default() });
        let (own, known) = (Type::declared(&program, Declared::Record(id)), TypeNames::of(&program));
        assert_eq!((known.read(own.written(), ""), own.cpp()), (own.clone(), "value"));
        assert_ne!(known.read("value", ""), own);
    }

    #[test]
    fn a_cpp_type_of_a_module_keeps_its_points_and_is_a_namespace_in_cpp() {
        let (here, cpp) = (Type::new("const http.request *"), Type::new("const http::request *"));
        assert_eq!(here, cpp);
        assert_eq!((here.to_string().as_str(), here.cpp()), ("const http.request *", "const http::request *"));
        assert_eq!(Type::new("std::vector<http.field>").cpp(), "std::vector<http::field>");
        for ty in ["std::function<void (...)>", "box<1.5>", "box<1.f>"] {
            assert_eq!(Type::new(ty).cpp(), ty);
        }
    }

    #[test]
    fn what_holds_a_type_of_cpp_is_one_of_cpp() {
        for ty in ["list<int>", "map<int, text>", "map<text>", "list<>", "text *", "const text", "list<T>", "set<text>"]
        {
            assert!(!Type::new(ty).is_own(), "{ty}");
        }
        assert!(!Type::with_array("text", "[2]").is_own());
        let deep = |depth| format!("{}text{}", "list<".repeat(depth), ">".repeat(depth));
        assert!(Type::new(&deep(NESTING_LIMIT)).is_own() && !Type::new(&deep(NESTING_LIMIT + 1)).is_own());
    }

    #[test]
    fn declared_types_have_the_names_that_cpp_gives_them() {
        let mut names = TypeNames::default();
        let (hit, kind) = (Declared::Record(TypeId::new(0)), Declared::Enum(TypeId::new(1)));
        names.add(&Name::of(Some("store"), "hit"), hit);
        names.add(&Name::new("method"), kind);
        let (hits, method) = (names.read("list<store::hit>", ""), names.read("method", ""));
        assert_eq!((hits.to_string().as_str(), hits.cpp()), ("list<store.hit>", "std::vector<store::hit>"));
        assert_eq!((hits.mentioned(), method.mentioned()), (vec![hit], vec![kind]));
        assert!(method.is_scalar() && !hits.is_scalar());
        assert_eq!(names.read("list<store.hit>", ""), hits);
    }

    #[test]
    fn the_integers_of_a_type_have_bounds() {
        let range = |ty: &str| Type::new(ty).integer().unwrap().range();
        assert_eq!(range("int8"), (-128, 127));
        assert_eq!(range("uint64"), (0, i128::from(u64::MAX)));
        assert_eq!(range("long"), (i128::from(i64::MIN), i128::from(i64::MAX)));
        let includes =
            |one: &str, other: &str| Type::new(one).integer().unwrap().includes(Type::new(other).integer().unwrap());
        assert!(includes("int64", "uint32") && includes("size_t", "uint64") && !includes("int64", "uint64"));
        assert_eq!((Type::new("char").integer(), Type::new("bool").integer()), (None, None));
    }
}
