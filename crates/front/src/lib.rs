//! What every notation has to do, and how modules of several notations become one program.
//!
//! A [`Front`] is known by the ending of its files. It does no I/O, and it knows no other notation: it says which
//! modules a file uses, and later reads that file into the model, where those modules already are.
//! [`link`](link::link) does the rest, once for all notations: it loads the files, orders them so that each comes
//! after those that it uses, looks up the names of other modules ([`scope`]), and reports what does not fit. What a
//! front has to say it says in the terms of its notation; everything after it knows the model alone.

pub mod generic;
pub mod ids;
pub mod link;
mod load;
mod node_names;
pub mod scope;
pub mod taken;

use crate::scope::Scope;
use flux_source::{FileId, Span};
use std::path::Path;

/// Reads the file at a path, or says why it cannot: the shell's part.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// What files of modules come from.
pub struct Library<'a> {
    /// The standard modules, in the first notation: the name of each, `std.tcp`, and its text.
    pub standard: &'a [(&'static str, &'static str)],
    /// Reads those of the user.
    pub read: &'a mut ReadFile<'a>,
}

/// A notation.
pub trait Front: Sync {
    /// What its files end in, without the point: `flux`.
    fn extension(&self) -> &'static str;

    /// Whether its authors write nodes and edges. Otherwise what the compiler finds out about these is not for them: it
    /// would name nodes that nobody has written.
    fn has_nodes(&self) -> bool {
        true
    }

    /// The modules that a file uses, in order. What else is in the text, and what is wrong in it, is for
    /// [`Self::read`].
    fn uses(&self, file: FileId, text: &str) -> Vec<Use>;

    /// Adds what a file declares to the program of `scope`, in which all that it uses is already. What is wrong is
    /// reported there; the program is then what could be understood, and is not to be compiled.
    fn read(&self, file: FileId, text: &str, scope: &mut Scope<'_>);
}

/// A module as one file wants it.
#[derive(Clone, Debug)]
pub struct Use {
    /// Which.
    pub module: Wanted,
    /// What the file calls it, where that is not its own name.
    pub alias: Option<String>,
    /// The module in the statement.
    pub span: Span,
    /// The name that the file gives it, or else the module.
    pub name_span: Span,
}

/// Where the text of a module is.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// In the standard library, under this name: `tcp` in the folder `std`.
    Standard {
        /// What stands before the name; none where nothing does.
        folder: Option<String>,
        /// The name.
        name: String,
    },
    /// In the file at this path, seen from the file that uses it.
    File(String),
}

/// `image` of `pictures/image.flux`.
pub(crate) fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The notation of the file at `path`, by its ending.
pub fn front_of<'f>(fronts: &[&'f dyn Front], path: &str) -> Option<&'f dyn Front> {
    let ending = Path::new(path).extension()?;
    fronts.iter().copied().find(|front| ending == front.extension())
}
