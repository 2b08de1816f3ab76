//! Loads a program's modules: follows `use` from file to file until all are there.
//!
//! A module is known by its path, lexically normalised, so one that two others use is loaded once. Its name is the stem
//! of its file wherever it is used, as that is its C++ namespace; `as` is only what one file calls it. No module uses
//! itself, by whatever way: the files come in an order in which each is after those that it uses.

use crate::cpp_keyword::is_keyword;
use crate::syntax::{Name, Statement, Use, UsedModule};
use crate::{FluxFront, ids, lexer, parser, stem};
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_front::{Front as _, Library};
use flux_source::{FileId, SourceMap, Span};
use std::collections::HashMap;

/// A file of a program: a module, or the program's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadedFile {
    /// Its text.
    pub file: FileId,
    /// The module's name; none for the program's own file.
    pub module: Option<String>,
    /// What it uses.
    pub uses: Vec<Used>,
    /// What it calls the modules that it wants and that were reported: nothing more is said of them.
    pub missing: Vec<String>,
}

/// A module as one file uses it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Used {
    /// What the file calls it.
    pub name: String,
    /// Which of the files it is.
    pub index: usize,
}

impl LoadedFile {
    /// The file of a program that uses no modules.
    pub fn alone(file: FileId) -> Self {
        Self { file, module: None, uses: vec![], missing: vec![] }
    }
}

/// What stands before the names of standard modules.
const STANDARD: &str = "std";

/// The names that no namespace can have.
const TAKEN: [&str; 4] = ["std", "flux", "flux_flows", "main"];

/// Loads the program in `file` with all that it uses, and adds their texts to `sources`. The program's own file comes
/// last, each module after those that it uses. What is wrong goes to `diagnostics`, and is then not used.
///
/// Every file is parsed for what it uses, and once more when all are there: a tree borrows from `sources`.
pub fn load(
    sources: &mut SourceMap,
    file: FileId,
    library: Library<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<LoadedFile> {
    let path = sources.file(file).map_or(String::new(), |file| join("", &file.name));
    let mut loader = Loader {
        stems: HashMap::from([(stem(&path), Stem { path: path.clone(), used: None })]),
        places: HashMap::from([(path.clone(), Place::Open)]),
        open: vec![(path.clone(), Span::default())],
        sources,
        library,
        diagnostics,
        loaded: vec![],
    };
    loader.file(file, &path, None);
    loader.loaded
}

/// Where a file is on its way.
#[derive(Clone, Copy)]
enum Place {
    /// What it uses is being loaded.
    Open,
    /// At this index of the files.
    Loaded(usize),
    /// It was reported.
    Wrong,
}

/// The first file of a stem.
struct Stem {
    path: String,
    /// Where it is used; none for the program's own file.
    used: Option<Span>,
}

/// A `use` statement, apart from the text.
struct Wanted {
    /// Of its file as the statement has it; as the name of a standard module is written.
    path: String,
    is_file: bool,
    /// The name of its file without the ending, or the last word of a standard module's.
    stem: String,
    alias: Option<String>,
    /// The module in the statement.
    span: Span,
    /// What the file will call it.
    name_span: Span,
}

impl Wanted {
    /// What the file will call it.
    fn name(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.stem.clone())
    }
}

struct Loader<'run, 'library> {
    sources: &'run mut SourceMap,
    library: Library<'library>,
    diagnostics: &'run mut Diagnostics,
    loaded: Vec<LoadedFile>,
    /// By path.
    places: HashMap<String, Place>,
    stems: HashMap<String, Stem>,
    /// The files whose modules are being loaded, outermost first, and where each is used.
    open: Vec<(String, Span)>,
}

impl Loader<'_, '_> {
    /// Loads what a file uses, then adds the file; gives its index.
    fn file(&mut self, file: FileId, path: &str, module: Option<String>) -> usize {
        let (mut uses, mut missing): (Vec<Used>, _) = (vec![], vec![]);
        let mut named: HashMap<String, (usize, Span)> = HashMap::new();
        for wanted in self.wanted(file) {
            let name = wanted.name();
            let Some(index) = self.module(path, &wanted) else {
                missing.push(name);
                continue;
            };
            if let Some(first) = named.insert(name.clone(), (index, wanted.name_span)) {
                self.report_clash(&name, first, (index, wanted.name_span));
            }
            uses.push(Used { name, index });
        }
        self.loaded.push(LoadedFile { file, module, uses, missing });
        self.loaded.len() - 1
    }

    /// Reports that a file calls two modules `name`, or says twice that it uses one.
    fn report_clash(&mut self, name: &str, first: (usize, Span), second: (usize, Span)) {
        let (headline, help) = match first.0 == second.0 {
            true => (format!("the module `{name}` is used twice"), "remove one of the two lines"),
            false => (format!("two modules are called `{name}` here"), "give one of them another name: `use … as …;`"),
        };
        let error = Diagnostic::error(ids::MODULE_CLASH, headline, second.1).mark(first.1, "the first one");
        self.diagnostics.push(error.help(help));
    }

    /// What a file uses. What else is wrong in it is reported when it is read.
    fn wanted(&self, file: FileId) -> Vec<Wanted> {
        let text = self.sources.file(file).map_or("", |file| file.text.as_str());
        let syntax = parser::parse(text, lexer::lex(file, text), &mut Diagnostics::new());
        let uses = syntax.statements.iter().filter_map(|statement| match statement {
            Statement::Use(used) => Some(used),
            _ => None,
        });
        let wanted = |Use { module, alias, .. }: &Use<'_>| Wanted {
            path: module.to_string(),
            is_file: matches!(module, UsedModule::File(_)),
            stem: match module {
                UsedModule::Standard(name) => name.own.to_string(),
                UsedModule::File(path) => stem(&path.text),
            },
            alias: alias.as_ref().map(|alias| alias.as_str().to_owned()),
            span: module.span(),
            name_span: alias.as_ref().map_or(module.span(), |Name { span, .. }| *span),
        };
        uses.map(wanted).collect()
    }

    /// The index of a module that the file at `user` wants; none where there is no such module, which is reported.
    fn module(&mut self, user: &str, wanted: &Wanted) -> Option<usize> {
        let path = if wanted.is_file { join(user, &wanted.path) } else { wanted.path.clone() };
        match self.places.get(&path) {
            Some(Place::Loaded(index)) => return Some(*index),
            Some(Place::Wrong) => return None,
            Some(Place::Open) => {
                self.report_cycle(&path, wanted.span);
                return None;
            }
            None => {}
        }
        let name = wanted.stem.as_str();
        let is_known = wanted.is_file || self.is_standard(wanted);
        let text = if is_known && self.has_good_name(name, &path, wanted) { self.text(&path, wanted) } else { None };
        let Some(text) = text else {
            self.places.insert(path, Place::Wrong);
            return None;
        };
        let file = self.sources.add(path.clone(), text);
        self.places.insert(path.clone(), Place::Open);
        self.open.push((path.clone(), wanted.span));
        let index = self.file(file, &path, Some(name.to_owned()));
        self.open.pop();
        self.places.insert(path, Place::Loaded(index));
        Some(index)
    }

    /// Whether a module may be called `name`: as a namespace of C++, and as no other file of the program.
    fn has_good_name(&mut self, name: &str, path: &str, wanted: &Wanted) -> bool {
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let is_name = name.chars().all(is_word) && !name.starts_with(|first: char| first.is_ascii_digit());
        if wanted.is_file && !path.ends_with(&format!(".{}", FluxFront.extension())) {
            let headline = format!("`{}` is no Flux file", wanted.path);
            let error = Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span);
            self.diagnostics
                .push(error.help("a module is a file that ends in `.flux`, with C++ of the same name beside it"));
            return false;
        }
        if name.is_empty() || !is_name || is_keyword(name) || TAKEN.contains(&name) {
            let headline = format!("`{name}` cannot name a module, as it cannot name a namespace of C++");
            let error = Diagnostic::error(ids::INVALID_NAME, headline, wanted.span);
            self.diagnostics.push(error.help("rename the file: a letter, and then letters, digits and `_`"));
            return false;
        }
        let Some(first) = self.stems.get(name) else {
            self.stems.insert(name.to_owned(), Stem { path: path.to_owned(), used: Some(wanted.span) });
            return true;
        };
        let headline = format!("two files of the program are called `{name}`: `{}` and `{path}`", first.path);
        let mut error = Diagnostic::error(ids::MODULE_CLASH, headline, wanted.span);
        if let Some(used) = first.used {
            error = error.mark(used, "the first one");
        }
        self.diagnostics.push(error.help("rename one of the files: its name is that of its C++ namespace"));
        false
    }

    /// The text of a module.
    fn text(&mut self, path: &str, wanted: &Wanted) -> Option<String> {
        if !wanted.is_file {
            let known = self.library.standard.iter().find(|(name, _)| *name == path);
            return known.map(|(_, text)| (*text).to_owned());
        }
        let read = (self.library.read)(path);
        let report = |reason| {
            let headline = format!("cannot read the module `{}`: {reason}", wanted.path);
            let error = Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span);
            self.diagnostics.push(error.help("its path is relative to the file that uses it"));
        };
        read.map_err(report).ok()
    }

    /// Whether what is wanted by its name is a standard module.
    fn is_standard(&mut self, wanted: &Wanted) -> bool {
        let path = wanted.path.as_str();
        let names = || self.library.standard.iter().map(|(name, _)| *name);
        if names().any(|name| name == path) {
            return true;
        }
        let in_standard = names().find(|name| *name == format!("{STANDARD}.{path}"));
        let help = match in_standard.or_else(|| nearest(path, names())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if path.strip_prefix(STANDARD).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) => {
                format!("there are {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
            }
            None => format!("a module of your own is named by its file: `use \"{path}.flux\";`"),
        };
        let headline = format!("there is no standard module `{path}`");
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span).help(help));
        false
    }

    /// Reports that the file at `path`, which is open, is used once more inside.
    fn report_cycle(&mut self, path: &str, span: Span) {
        let from = self.open.iter().position(|(open, _)| open == path).unwrap_or(0);
        let cycle: Vec<_> = self.open.iter().skip(from).collect();
        let names = cycle.iter().map(|(path, _)| path.as_str()).chain([path]).map(|path| format!("`{path}`"));
        let shown = names.collect::<Vec<_>>().join(" -> ");
        let headline = match cycle.len() {
            1 => format!("the module `{path}` uses itself"),
            _ => format!("modules use each other in a circle: {shown}"),
        };
        let mut error = Diagnostic::error(ids::MODULE_CYCLE, headline, span);
        for (path, used) in cycle.iter().skip(1) {
            error = error.mark(*used, format!("`{path}` is used here"));
        }
        self.diagnostics.push(error.help("move what both need into a module of its own, which both use"));
    }
}

/// The path of `path` as the file at `user` has it, without `.` and, where that can be told, without `..`.
fn join(user: &str, path: &str) -> String {
    let folder = user.rsplit_once('/').map_or("", |(folder, _)| folder);
    let absolute = path.starts_with('/') || folder.is_empty() && user.starts_with('/');
    let parts = if path.starts_with('/') { "" } else { folder }.split('/').chain(path.split('/'));
    let rooted = absolute || !path.starts_with('/') && folder.starts_with('/');
    let mut kept: Vec<&str> = vec![];
    for part in parts {
        match (part, kept.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => _ = kept.pop(),
            ("..", None) if rooted => {}
            _ => kept.push(part),
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn paths_are_seen_from_the_file_that_uses_them() {
        for (user, path, joined) in [
            ("echo.flux", "cache.flux", "cache.flux"),
            ("a/echo.flux", "lib/cache.flux", "a/lib/cache.flux"),
            ("a/b/echo.flux", "../lib/./cache.flux", "a/lib/cache.flux"),
            ("echo.flux", "../cache.flux", "../cache.flux"),
            ("../a/echo.flux", "../../cache.flux", "../../cache.flux"),
            ("/srv/echo.flux", "../../cache.flux", "/cache.flux"),
            ("/echo.flux", "cache.flux", "/cache.flux"),
            ("a/echo.flux", "/srv//cache.flux", "/srv/cache.flux"),
            ("", "./a/../echo.flux", "echo.flux"),
        ] {
            assert_eq!(join(user, path), joined, "{path} from {user}");
        }
    }
}
