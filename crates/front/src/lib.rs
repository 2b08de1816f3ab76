//! What every notation has to do: read its files into the program model.
//!
//! A [`Front`] is known by the ending of its files. It does no I/O: it is given the text of the program's own file, and
//! asks a [`Library`] for those of modules. What it has to say it says in the terms of its notation; everything after
//! it knows the model alone.

use flux_diagnostic::Diagnostics;
use flux_ir::program::Program;
use flux_source::{FileId, SourceMap};

/// Reads the file at a path, or says why it cannot: the shell's part.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// What files of modules come from.
pub struct Library<'a> {
    /// The standard modules: the name of each, `std.tcp`, and its text.
    pub standard: &'a [(&'static str, &'static str)],
    /// Reads those of the user.
    pub read: &'a mut ReadFile<'a>,
}

/// A notation.
pub trait Front: Sync {
    /// What its files end in, without the point: `flux`.
    fn extension(&self) -> &'static str;

    /// Reads the program in `file`, whose name's stem becomes the program's, with the modules that it uses; their texts
    /// are added to `sources`. What is wrong goes to `diagnostics`: where that has errors, the program is what could be
    /// understood, and is not to be compiled.
    fn read(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        library: Library<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Program;
}
