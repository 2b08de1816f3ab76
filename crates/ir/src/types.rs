//! The types of values.
//!
//! Flux does not read C++: a type is [`Foreign`], the spelling that the author wrote, normalised by the front that read
//! it, and two types are one if their spellings are. What a spelling shows by itself are its facts. They are found here
//! alone and once, when the type is made; everybody else asks for them. What no spelling shows, such as whether a class
//! can be copied, is for the C++ compiler to say.

use std::fmt;
use std::sync::Arc;

/// A C++ type. Clones share one spelling.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Foreign(Arc<Spelled>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Spelled {
    spelling: String,
    array: String,
    form: Form,
}

/// What a spelling shows of the values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Form {
    PointerToConst,
    Pointer,
    Enum,
    Number,
    Text,
    Unknown,
}

impl Foreign {
    /// The type that is spelled so. Tokens are separated by one space where both are words, and by the customary
    /// spelling elsewhere: `image_tag *`, `unsigned int`, `std::map<int, T> *`.
    pub fn new(spelling: impl Into<String>) -> Self {
        Self::with_array(spelling, "")
    }

    /// The type whose declarations end in `array`: `[3]` of `int x[3]`; empty where it is no array.
    pub fn with_array(spelling: impl Into<String>, array: impl Into<String>) -> Self {
        let (spelling, array) = (spelling.into(), array.into());
        let form = Form::of(&spelling);
        Self(Arc::new(Spelled { spelling, array, form }))
    }

    /// The type of an error code.
    pub fn error_code() -> Self {
        Self::new("int")
    }

    /// The spelling; of an array that of its elements, which all facts are about then.
    pub fn spelling(&self) -> &str {
        &self.0.spelling
    }

    /// The suffix of an array: `[3]`; mostly empty.
    pub fn array(&self) -> &str {
        &self.0.array
    }

    /// Whether it is an array, which C++ does not assign as a whole.
    pub fn is_array(&self) -> bool {
        !self.0.array.is_empty()
    }

    /// Whether it is a pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self.0.form, Form::Pointer | Form::PointerToConst)
    }

    /// Whether it is a pointer through which nothing can be changed: `const image_tag *`.
    pub fn is_pointer_to_const(&self) -> bool {
        self.0.form == Form::PointerToConst
    }

    /// Whether it is a built-in arithmetic type, the customary names of those included.
    pub fn is_number(&self) -> bool {
        self.0.form == Form::Number
    }

    /// Whether it is a string of C++.
    pub fn is_text(&self) -> bool {
        self.0.form == Form::Text
    }

    /// Whether copying a value runs nobody's code: it is a pointer, an enum or a number. Any other may throw where it
    /// is copied, moved or made.
    pub fn is_scalar(&self) -> bool {
        self.is_pointer() || self.is_number() || self.0.form == Form::Enum
    }

    /// Whether it is a connection of the runtime, which the event loop that made it may use and no other thread.
    pub fn is_connection(&self) -> bool {
        self.0.spelling == "flux::connection *"
    }

    /// The words of the spelling, names as they are qualified: `const`, `std::map` and `image::Tag` of
    /// `const std::map<image::Tag> *`.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        self.0.spelling.split(move |letter| !is_of_word(letter)).filter(|word| !word.is_empty())
    }

    /// How C spells it, where it can. A pointer to a class is one to C as well: `flux::connection *` is
    /// `struct flux_connection *` there.
    pub fn in_c(&self) -> Option<String> {
        let spelling = self.spelling();
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

    /// The declaration of `name`: `image_tag *request`, `int x[3]`.
    pub fn declare(&self, name: &str) -> String {
        let Spelled { spelling, array, .. } = &*self.0;
        let space = if spelling.ends_with(['*', '&']) { "" } else { " " };
        format!("{spelling}{space}{name}{array}")
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.0.spelling, self.0.array)
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
        let mut words = spelling.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).peekable();
        match words.peek() {
            None => Self::Unknown,
            Some(&"enum") => Self::Enum,
            Some(_) => match words.all(|word| NUMBERS.contains(&word)) {
                true => Self::Number,
                false => Self::Unknown,
            },
        }
    }
}

/// Whether what a pointer points at is `const`: it ends so, or begins so and is no pointer itself.
fn is_const(target: &str) -> bool {
    let target = target.trim_end();
    target.ends_with(" const") || target.ends_with("*const") || target.starts_with("const ") && !target.contains('*')
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_scalar_only_where_its_spelling_shows_it() {
        for ty in ["int", "unsigned long", "const char *", "std::map<int, T> *", "enum color", "const __u8", "pid_t"] {
            assert!(Foreign::new(ty).is_scalar(), "{ty}");
        }
        for ty in ["image_tag", "std::string", "struct tm", "std::vector<int *>", "hit", "", "const"] {
            assert!(!Foreign::new(ty).is_scalar(), "{ty}");
        }
    }

    #[test]
    fn scalars_are_numbers_pointers_or_enums() {
        let facts =
            |ty: &str| [Foreign::is_number, Foreign::is_pointer, Foreign::is_text].map(|is| is(&Foreign::new(ty)));
        assert_eq!(facts("const unsigned"), [true, false, false]);
        assert_eq!(facts("int *"), [false, true, false]);
        assert_eq!(facts("std::string_view"), [false, false, true]);
        for ty in ["enum color", "hit", "std::vector<std::string>"] {
            assert_eq!(facts(ty), [false; 3], "{ty}");
        }
    }

    #[test]
    fn a_pointer_to_const_is_one_by_what_it_points_at() {
        for ty in ["const char *", "Tag const *", "const std::map<int, T> *", "char *const *"] {
            assert!(Foreign::new(ty).is_pointer_to_const(), "{ty}");
        }
        for ty in ["char *", "const char **", "constant *", "std::vector<const char *> *", "const char", "int"] {
            assert!(!Foreign::new(ty).is_pointer_to_const(), "{ty}");
        }
    }

    #[test]
    fn what_is_said_of_an_array_is_said_of_its_elements() {
        let names = Foreign::with_array("char *", "[3]");
        assert!(names.is_array() && names.is_pointer() && names.is_scalar());
        assert_ne!(names, Foreign::new("char *"));
        assert_eq!((names.to_string(), names.declare("list")), ("char *[3]".to_owned(), "char *list[3]".to_owned()));
        assert_eq!(Foreign::new("int").declare("x"), "int x");
        assert_eq!(Foreign::new("T &&").declare("x"), "T &&x");
    }

    #[test]
    fn c_has_words_for_pointers_to_classes() {
        let in_c = |ty: &str| Foreign::new(ty).in_c();
        assert_eq!(in_c("unsigned int").as_deref(), Some("unsigned int"));
        assert_eq!(in_c("const flux::connection *").as_deref(), Some("const struct flux_connection *"));
        assert_eq!(in_c("std::vector<int> *"), None);
        assert_eq!(in_c("std::string"), None);
    }

    #[test]
    fn words_are_qualified_names_and_keywords() {
        let ty = Foreign::new("const std::map<image::Tag, my_bool> *");
        assert_eq!(ty.words().collect::<Vec<_>>(), ["const", "std::map", "image::Tag", "my_bool"]);
        assert!(Foreign::new("flux::connection *").is_connection() && !ty.is_connection());
    }
}
