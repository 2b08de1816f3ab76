//! Loads a program's modules: follows `use` from file to file until all are there.
//!
//! A module is known by its path, lexically normalised, so a module that two others use is loaded once. Its name is the
//! stem of its file wherever it is used, because that is its C++ namespace; `as` only changes what one file calls it.
//! No module uses itself, directly or indirectly: the files come in an order in which each is after those that it uses.

use crate::scope::Used;
use crate::{Front, Library, Use, Wanted, front_of, ids, stem};
use flux_diagnostic::{Diagnostic, Diagnostics, nearest};
use flux_ir::arena::ArenaId;
use flux_ir::cpp_keyword::is_keyword;
use flux_source::{FileId, SourceMap, Span};
use std::collections::HashMap;

/// A file of a program: a module, or the program's own.
pub(crate) struct LoadedFile<'f> {
    /// Its text.
    pub file: FileId,
    /// Its notation.
    pub front: &'f dyn Front,
    /// The module's name; none for the program's own file.
    pub module: Option<String>,
    /// What it uses; the number of a module is that of its file.
    pub uses: Vec<Used>,
    /// What it calls the modules that it wants and that were reported.
    pub missing: Vec<String>,
}

/// What stands before the names of standard modules.
const STANDARD: &str = "std";

/// The names that no namespace can have.
const TAKEN: [&str; 4] = ["std", "flux", "flux_flows", "main"];

/// Loads the program in `file` with all that it uses, and adds their texts to `sources`. The program's own file comes
/// last, each module after those that it uses. What is wrong goes to `diagnostics`, and is then not used.
///
/// Every file is parsed for what it uses, and once more when all are there: a tree borrows from `sources`. What has no
/// ending of a notation, and the standard modules, are in the first of `fronts`.
pub(crate) fn load<'f>(
    (first, fronts): (&'f dyn Front, &[&'f dyn Front]),
    sources: &mut SourceMap,
    file: FileId,
    library: Library<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<LoadedFile<'f>> {
    let path = sources.file(file).map_or(String::new(), |file| join("", &file.name));
    let mut loader = Loader {
        stems: HashMap::from([(stem(&path), Stem { path: path.clone(), used: None })]),
        places: HashMap::from([(path.clone(), Place::Open)]),
        open: vec![(path.clone(), Span::default())],
        fronts,
        first,
        sources,
        library,
        diagnostics,
        loaded: vec![],
    };
    let front = front_of(fronts, &path).unwrap_or(first);
    loader.file(front, file, &path, None);
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

impl Use {
    /// The name of its file, or that of the standard module.
    fn stem(&self) -> String {
        match &self.module {
            Wanted::Standard { name, .. } => name.clone(),
            Wanted::File(path) => stem(path),
        }
    }

    /// What the file will call it.
    fn name(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.stem())
    }
}

struct Loader<'run, 'library, 'f> {
    fronts: &'run [&'f dyn Front],
    /// That of standard modules.
    first: &'f dyn Front,
    sources: &'run mut SourceMap,
    library: Library<'library>,
    diagnostics: &'run mut Diagnostics,
    loaded: Vec<LoadedFile<'f>>,
    /// By path.
    places: HashMap<String, Place>,
    stems: HashMap<String, Stem>,
    /// The files whose modules are being loaded, outermost first, and where each is used.
    open: Vec<(String, Span)>,
}

impl<'f> Loader<'_, '_, 'f> {
    /// Loads what a file uses, then adds the file; gives its index.
    fn file(&mut self, front: &'f dyn Front, file: FileId, path: &str, module: Option<String>) -> usize {
        let (mut uses, mut missing): (Vec<Used>, _) = (vec![], vec![]);
        let mut named: HashMap<String, (usize, Span)> = HashMap::new();
        let text = self.sources.file(file).map_or("", |file| file.text.as_str());
        for wanted in front.uses(file, text) {
            let name = wanted.name();
            let Some(index) = self.module(path, &wanted) else {
                missing.extend(self.meant(&wanted).map(|meant| stem_of_standard(&meant)));
                missing.push(name);
                continue;
            };
            if let Some(first) = named.insert(name.clone(), (index, wanted.name_span)) {
                self.report_clash(&name, first, (index, wanted.name_span));
            }
            uses.push(Used { name, module: ArenaId::new(index) });
        }
        self.loaded.push(LoadedFile { file, front, module, uses, missing });
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

    /// The index of a module that the file at `user` wants; none where there is no such module, which is reported.
    fn module(&mut self, user: &str, wanted: &Use) -> Option<usize> {
        let path = match &wanted.module {
            Wanted::File(path) => join(user, path),
            Wanted::Standard { folder: Some(folder), name } => format!("{folder}.{name}"),
            Wanted::Standard { folder: None, name } => name.clone(),
        };
        match self.places.get(&path) {
            Some(Place::Loaded(index)) => return Some(*index),
            Some(Place::Wrong) => return None,
            Some(Place::Open) => {
                self.report_cycle(&path, wanted.span);
                return None;
            }
            None => {}
        }
        let found = self.find(&path, wanted);
        let Some((front, text)) = found else {
            self.places.insert(path, Place::Wrong);
            return None;
        };
        let file = self.sources.add(path.clone(), text);
        self.places.insert(path.clone(), Place::Open);
        self.open.push((path.clone(), wanted.span));
        let index = self.file(front, file, &path, Some(wanted.stem()));
        self.open.pop();
        self.places.insert(path, Place::Loaded(index));
        Some(index)
    }

    /// The notation and the text of the module at `path`; none where that cannot be one, which is reported.
    fn find(&mut self, path: &str, wanted: &Use) -> Option<(&'f dyn Front, String)> {
        let Wanted::File(written) = &wanted.module else {
            let known = self.library.standard.iter().find(|(name, _)| *name == path);
            let Some((_, text)) = known else {
                self.report_standard(path, wanted);
                return None;
            };
            return self.has_good_name(path, wanted).then(|| (self.first, (*text).to_owned()));
        };
        let Some(front) = front_of(self.fronts, path) else {
            let endings: Vec<_> = self.fronts.iter().map(|front| format!("`.{}`", front.extension())).collect();
            let headline = format!("`{written}` is not a Flux file");
            let error = Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span);
            let endings = endings.join(" or ");
            let help = format!("a module is a file that ends in {endings}, with C++ of the same name beside it");
            self.diagnostics.push(error.help(help));
            return None;
        };
        if !self.has_good_name(path, wanted) {
            return None;
        }
        let read = (self.library.read)(path);
        let report = |reason| {
            let headline = format!("cannot read the module `{written}`: {reason}");
            let error = Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span);
            self.diagnostics.push(error.help("its path is relative to the file that uses it"));
        };
        let text = read.map_err(report).ok()?;
        Some((front, text))
    }

    /// Whether a module may be called as it is: as a namespace of C++, and as no other file of the program.
    fn has_good_name(&mut self, path: &str, wanted: &Use) -> bool {
        let name = wanted.stem();
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let is_name = name.chars().all(is_word) && !name.starts_with(|first: char| first.is_ascii_digit());
        if name.is_empty() || !is_name || is_keyword(&name) || TAKEN.contains(&name.as_str()) {
            let headline = format!("`{name}` cannot be the name of a module, as it cannot be that of a C++ namespace");
            let error = Diagnostic::error(ids::INVALID_NAME, headline, wanted.span);
            self.diagnostics.push(error.help("rename the file: a letter, and then letters, digits and `_`"));
            return false;
        }
        let Some(first) = self.stems.get(&name) else {
            self.stems.insert(name, Stem { path: path.to_owned(), used: Some(wanted.span) });
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

    /// The standard module that was meant by the name of one that there is not.
    fn meant(&self, wanted: &Use) -> Option<String> {
        let Wanted::Standard { folder, name } = &wanted.module else { return None };
        let path = folder.as_ref().map_or_else(|| name.clone(), |folder| format!("{folder}.{name}"));
        let names = || self.library.standard.iter().map(|(name, _)| *name);
        let is_in_standard = |name: &&str| *name == format!("{STANDARD}.{path}");
        names().find(is_in_standard).or_else(|| nearest(&path, names())).map(str::to_owned)
    }

    /// Reports that there is no standard module of this name.
    fn report_standard(&mut self, path: &str, wanted: &Use) {
        let names = || self.library.standard.iter().map(|(name, _)| *name);
        let stem = wanted.stem();
        let is_standard = match &wanted.module {
            Wanted::Standard { folder, name } => folder.as_ref().unwrap_or(name) == STANDARD,
            Wanted::File(_) => false,
        };
        let help = match self.meant(wanted) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if is_standard => {
                format!("there are {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
            }
            None => {
                let extension = self.first.extension();
                format!("a module of your own is named by its file: `use \"{stem}.{extension}\";`")
            }
        };
        let headline = format!("there is no standard module `{path}`");
        self.diagnostics.push(Diagnostic::error(ids::UNKNOWN_MODULE, headline, wanted.span).help(help));
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
        self.diagnostics.push(error.help("move what both need into a third module, which both use"));
    }
}

/// What a file calls the standard module of this name.
fn stem_of_standard(name: &str) -> String {
    name.strip_prefix(STANDARD).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name).to_owned()
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
