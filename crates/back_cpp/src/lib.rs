//! From a [`Flow`] to C++20 that reads as if it had been written by hand.
//!
//! Two files come out: `image.flux.h`, which the user's files include, with a struct for what each node takes and gives
//! and the declarations of all functions that the user writes; and `image.flux.cpp` with one function for each function
//! of the flow, the tables that the runtime reads, and `main`. Nothing in them knows how the server will run. For
//! sources of 2006 the header is that time's, `mImpl.h` and `mStructs.h` ([`interface_2006`]).
//!
//! [`function`], [`step`] and [`dispatch`] build the code of functions, [`header`], [`unit`] and [`tables`] the rest,
//! all as the tree of [`tree`], which [`print`] writes. Each name of the runtime comes from [`flux_contract`].

mod asked;
pub mod bind_externals;
mod comments;
mod compute;
mod copies;
mod dispatch;
mod each;
mod fork;
mod function;
mod given;
mod handlers;
mod header;
pub mod interface_2006;
mod keys;
pub mod message;
mod names;
mod options;
pub mod plain;
mod print;
pub mod probe;
mod shape;
mod step;
mod structs;
mod tables;
mod tree;
pub mod types;
mod unit;
mod uses;
mod values;
mod width;

pub use crate::asked::{AskedFunction, asked_functions};
use crate::handlers::{PlainHandler, plain_handlers};
use crate::interface_2006::Definitions;
use crate::names::Names;
use crate::tree::Declaration;
use flux_ir::error_code::ErrorPart;
use flux_ir::flow::{Flow, Operand};
use flux_ir::name::Name;
use flux_ir::program::ModuleId;
use flux_source::{FileId, SourceMap, Span};

/// What the sources say of a program as a whole: [`bind_externals::bind_externals`] gives it, and binds what they say
/// of single functions.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// Whether sources in C include the header.
    pub has_c: bool,
    /// Where the sources are written for the compiler of 2006: what they define. That interface is generated then.
    pub interface_2006: Option<Definitions>,
}

/// A file to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeneratedFile {
    /// Its name, without a folder.
    pub name: String,
    /// All of its text.
    pub text: String,
}

/// What all parts of the generator share.
struct Context<'a> {
    flow: &'a Flow,
    sources: &'a SourceMap,
    options: &'a Options,
    handlers: Vec<PlainHandler>,
    names: Names,
    /// Whether some handler reads the texts of exceptions.
    reads_error_text: bool,
}

/// Writes the header, which is the first file, the code, and then the headers of modules, of a verified and numbered
/// flow ([`flux_ir::paths::number`]). Equal flows give equal text. O(size of the flow).
pub fn generate(flow: &Flow, sources: &SourceMap, options: &Options) -> Vec<GeneratedFile> {
    let context = Context::new(flow, sources, options);
    let program = &flow.program.name;
    let file = |name: String, content: &[Declaration]| GeneratedFile { name, text: print::print(content) };
    let code = file(format!("{program}.flux.cpp"), &unit::unit(&context));
    let mut files = vec![];
    if options.interface_2006.is_some() {
        let structs = file(interface_2006::STRUCTS.to_owned(), &interface_2006::structs(&context));
        files.extend([file(context.header_name(), &interface_2006::functions(&context)), structs, code]);
    } else {
        files.extend([file(context.header_name(), &header::header(&context, None)), code]);
    }
    files.extend(types_headers(&context));
    for (id, module) in flow.program.modules.iter() {
        files.push(file(header::module_header_name(module), &header::header(&context, Some(id))));
    }
    files
}

/// The headers with the types that the program declares, which the author's own headers may include: the first of what
/// [`generate`] writes that is wanted. O(size of the flow).
pub fn generate_types(flow: &Flow, sources: &SourceMap) -> Vec<GeneratedFile> {
    let options = Options::default();
    let names = Names::of(flow, std::iter::empty());
    types_headers(&Context { flow, sources, options: &options, handlers: vec![], names, reads_error_text: false })
}

/// The headers of messages, and then one file with the functions of all of them: what [`generate`] writes of messages,
/// by itself. O(size of the messages).
pub fn generate_messages(flow: &Flow, sources: &SourceMap) -> Vec<GeneratedFile> {
    let options = Options::default();
    let names = Names::of(flow, std::iter::empty());
    let context = Context { flow, sources, options: &options, handlers: vec![], names, reads_error_text: false };
    let mut files: Vec<_> = context.homes().filter_map(|home| message::messages_header(&context, home)).collect();
    let mut code = vec![Declaration::Comment(context.banner(None)), Declaration::Blank];
    code.extend(files.iter().map(|file| Declaration::Include(file.name.clone())));
    code.extend(message::messages_code(&context));
    let name = format!("{}.flux.messages.cpp", flow.program.name);
    files.push(GeneratedFile { name, text: print::print(&code) });
    files
}

fn types_headers(context: &Context<'_>) -> Vec<GeneratedFile> {
    let messages = context.homes().filter_map(|home| message::messages_header(context, home));
    messages.chain(context.homes().filter_map(|module| types::types_header(context, module))).collect()
}

impl<'a> Context<'a> {
    fn new(flow: &'a Flow, sources: &'a SourceMap, options: &'a Options) -> Self {
        let handlers = plain_handlers(flow);
        let names = Names::of(flow, handlers.iter().map(|handler| handler.external));
        let is_text = |operand: &Operand| matches!(operand, Operand::Error(_, ErrorPart::Text));
        let mut steps = flow.functions.iter().flat_map(|(_, function)| function.body.all_steps());
        let reads_error_text = steps.any(|step| step.inputs.iter().any(is_text));
        Self { flow, sources, options, handlers, names, reads_error_text }
    }

    /// The program's own file, and each of its modules.
    fn homes(&self) -> impl Iterator<Item = Option<ModuleId>> {
        let modules = self.flow.program.modules.ids().map(Some).collect::<Vec<_>>();
        std::iter::once(None).chain(modules)
    }

    /// The header that declares the functions, and brings the structs.
    fn header_name(&self) -> String {
        match self.options.interface_2006 {
            Some(_) => interface_2006::FUNCTIONS.to_owned(),
            None => format!("{}.flux.h", self.flow.program.name),
        }
    }

    /// `image.flux:21: Image = ReadRequest -> CheckCache;`
    fn statement(&self, span: Span) -> String {
        comments::quote(self.sources, span, "", "")
    }

    /// The module of something by its name; none where it is of none.
    fn module_of(&self, name: &Name) -> Option<ModuleId> {
        let module = name.module()?;
        self.flow.program.modules.iter().find(|(_, one)| one.name == module).map(|(id, _)| id)
    }

    /// The module whose file has this place; none for the program's own file.
    fn module_at(&self, span: Span) -> Option<ModuleId> {
        self.flow.program.modules.iter().find(|(_, one)| one.span.file == span.file).map(|(id, _)| id)
    }

    /// The first line of every generated file; of one that is a module's, where it says which.
    fn banner(&self, module: Option<ModuleId>) -> String {
        let file = module.map_or(FileId::default(), |module| self.flow.program.modules[module].span.file);
        let source = self.sources.file(file).map_or("", |file| file.file_name());
        let version = env!("CARGO_PKG_VERSION");
        format!("Generated by flux {version} from {source}. Changes are lost at the next build.")
    }
}
