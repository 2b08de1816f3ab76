//! Names of declarations: the module that declares something, and what it calls it.
//!
//! The two stay apart from the front that reads them to whatever prints them. Nothing in the compiler looks for a point
//! in a text to find a module: [`Name`] has it. The text form of the models, where a name is text again, is the one
//! place that puts the two together and takes them apart.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// What a declaration is called in the whole program. Modules of a program have different names, so two names that are
/// equal are one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Name {
    module: Option<Arc<str>>,
    own: Arc<str>,
}

impl Name {
    /// A name of the program's own file.
    pub fn new(own: impl Into<Arc<str>>) -> Self {
        Self { module: None, own: own.into() }
    }

    /// A name of `module`; of the program's own file where that is none.
    pub fn of(module: Option<impl Into<Arc<str>>>, own: impl Into<Arc<str>>) -> Self {
        Self { module: module.map(Into::into), own: own.into() }
    }

    /// The module that declares it; none for the program's own file.
    pub fn module(&self) -> Option<&str> {
        self.module.as_deref()
    }

    /// What its module calls it.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Whether a module declares it, and not the program's own file.
    pub fn is_of_module(&self) -> bool {
        self.module.is_some()
    }

    /// The module and the name with `separator` between them: `tcp::Listen` for C++, `tcp_Listen` for a word.
    pub fn joined(&self, separator: &str) -> String {
        match &self.module {
            Some(module) => format!("{module}{separator}{}", self.own),
            None => self.own.to_string(),
        }
    }

    /// The name with its end cut off: `Listen` of `Listen_in`; none where it does not end so.
    pub fn strip_suffix(&self, end: &str) -> Option<Self> {
        Some(Self { module: self.module.clone(), own: self.own.strip_suffix(end)?.into() })
    }
}

/// In the order of how they are written: the one order of constraints goes by it.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        fn written(name: &Name) -> impl Iterator<Item = u8> {
            let module = name.module.iter().flat_map(|module| module.bytes().chain([b'.']));
            module.chain(name.own.bytes())
        }
        written(self).cmp(written(other)).then_with(|| self.module.cmp(&other.module))
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As the language writes it: `tcp.Listen`.
impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = &self.module {
            write!(out, "{module}.")?;
        }
        out.write_str(&self.own)
    }
}

/// Whether the name is written so, for tests and tools.
impl PartialEq<str> for Name {
    fn eq(&self, written: &str) -> bool {
        let own = match &self.module {
            Some(module) => written.strip_prefix(&**module).and_then(|rest| rest.strip_prefix('.')),
            None => Some(written),
        };
        own == Some(&*self.own)
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, written: &&str) -> bool {
        self == *written
    }
}

/// What names stand for. Looking one up needs its two parts and copies neither.
#[derive(Clone, Debug)]
pub struct NameMap<T> {
    own: HashMap<Arc<str>, T>,
    of_modules: HashMap<Arc<str>, HashMap<Arc<str>, T>>,
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self { own: HashMap::new(), of_modules: HashMap::new() }
    }
}

impl<T> NameMap<T> {
    /// What `own` of `module` stands for.
    pub fn find(&self, module: Option<&str>, own: &str) -> Option<&T> {
        match module {
            Some(module) => self.of_modules.get(module)?.get(own),
            None => self.own.get(own),
        }
    }

    /// As [`Self::find`], to change it.
    pub fn find_mut(&mut self, module: Option<&str>, own: &str) -> Option<&mut T> {
        match module {
            Some(module) => self.of_modules.get_mut(module)?.get_mut(own),
            None => self.own.get_mut(own),
        }
    }

    /// What `name` stands for.
    pub fn get(&self, name: &Name) -> Option<&T> {
        self.find(name.module(), name.own())
    }

    /// Lets `name` stand for `value`, unless it stands for something.
    pub fn add(&mut self, name: &Name, value: T) {
        let names = match &name.module {
            Some(module) => self.of_modules.entry(module.clone()).or_default(),
            None => &mut self.own,
        };
        names.entry(name.own.clone()).or_insert(value);
    }

    /// What `module` calls the things that are here, in no order.
    pub fn names_of(&self, module: Option<&str>) -> impl Iterator<Item = &str> {
        let names = match module {
            Some(module) => self.of_modules.get(module),
            None => Some(&self.own),
        };
        names.into_iter().flat_map(HashMap::keys).map(|own| &**own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_with_its_module_and_compares_so() {
        let (own, of_tcp) = (Name::new("Listen"), Name::of(Some("tcp"), "Listen"));
        assert_eq!((own.to_string(), of_tcp.to_string()), ("Listen".to_owned(), "tcp.Listen".to_owned()));
        assert_eq!(of_tcp.joined("::"), "tcp::Listen");
        assert_ne!(own, of_tcp);
        assert!(of_tcp == "tcp.Listen" && own == "Listen");
        assert!(of_tcp != "Listen" && of_tcp != "tcpListen" && own != "tcp.Listen");
    }

    #[test]
    fn names_of_one_word_in_two_modules_are_two() {
        let mut names = NameMap::default();
        for (number, name) in [Name::new("A"), Name::of(Some("m"), "A"), Name::new("A")].iter().enumerate() {
            names.add(name, number);
        }
        assert_eq!((names.find(None, "A"), names.find(Some("m"), "A")), (Some(&0), Some(&1)));
        assert_eq!(names.find(Some("n"), "A"), None);
        assert_eq!(names.names_of(Some("m")).collect::<Vec<_>>(), ["A"]);
    }
}
