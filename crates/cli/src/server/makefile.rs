//! The Makefile of a server: what flux itself runs, and all that a user without flux needs.

use super::files::{absolute, parent, relative};
use super::modules::WHOLE;
use super::{links, returns, runtime_library};
use crate::arguments::{Build, Sanitizer};
use crate::failure::{Failure, Result};
use flux_back_cpp::GeneratedFile;
use flux_back_cpp::interface_2006::{SCRIPT_NAME, VARIABLES as VARIABLES_2006};
use flux_ir::program::Link;
use flux_toolchain::node_source::NodeSource;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Without it make would stop at a source that has moved, as what it was made into before still names the old place.
const MOVED: &str = "# A source that has moved: what depends on it is made again.
MAKEFLAGS += --no-builtin-rules
%.c %.cc %.cpp %.cxx: ;

";

/// How the linker is told what the runtime needs: as archives, so that a server runs where they are not installed.
pub const RUNTIME_LIBRARIES: [&str; 2] = ["-l:libboost_context.a", "-l:liburing.a"];

/// What a server is made of.
pub struct Parts<'a> {
    /// Where headers of the author's are: beside the program, and beside its modules.
    pub folders: &'a [PathBuf],
    /// The libraries that the program names.
    pub links: &'a [Link],
    /// The sources of the nodes.
    pub sources: &'a [NodeSource],
    /// The standard modules that have C++, as their files are called, `tcp`, each with the libraries that it names.
    pub modules: &'a [(&'a str, Vec<String>)],
    /// What flux has written.
    pub generated: &'a [GeneratedFile],
    /// Whether the sources are written for the compiler of 2006.
    pub is_of_2006: bool,
}

/// A function with a frame larger than the guard of its stack would else write beyond it, into another flow's stack.
const STACK_PROBES: &str = "-fstack-clash-protection";

/// How a shared object for a host is compiled, in which calls go straight to what they name.
const SHARED_FLAGS: &str = "-fPIC -fno-semantic-interposition";

/// The file in the folder of the build that says how objects are compiled. It changes if that does. If the server is
/// only linked otherwise it does not, and the objects are kept.
pub const COMPILATION: &str = "compilation";

/// What is to be compiled, and how.
#[derive(Clone)]
pub struct Plan {
    name: String,
    /// What is built.
    target: String,
    /// Whether it is a shared object for a host, and the name of the runtime that this has.
    shared: Option<String>,
    cc: String,
    cxx: String,
    flags: Vec<String>,
    libraries: Vec<String>,
    /// Those that the program names, and with which flags their headers are found.
    links: Vec<String>,
    link_cflags: String,
    /// Where headers are looked for beside the runtime.
    folders: String,
    objects: Vec<Object>,
    modules: Vec<Module>,
    /// Of the C++ that was generated.
    generated_object: String,
    copies: Vec<Copied>,
    /// Those that were generated.
    headers: Vec<String>,
}

#[derive(Clone)]
struct Object {
    name: String,
    source: String,
    language: Language,
}

/// A standard module, which is compiled as one file.
#[derive(Clone)]
pub struct Module {
    /// `tcp`.
    pub name: String,
    /// Both in the folder of the build.
    pub source: String,
    pub object: String,
    /// The libraries that it names.
    pub links: Vec<String>,
}

impl Module {
    fn new((name, links): &(&str, Vec<String>)) -> Self {
        let file = |ending: &str| format!("{WHOLE}/{name}.{ending}");
        Self { name: (*name).to_owned(), source: file("cpp"), object: file("o"), links: links.clone() }
    }
}

/// What is compiled in the place of a source, or included in it.
#[derive(Clone)]
struct Copied {
    of: String,
    path: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Cpp,
    COf2006,
    CppOf2006,
}

impl Plan {
    /// The plan for a server called `name`, built in `directory`.
    pub fn new(arguments: &Build, name: &str, directory: &Path, parts: &Parts<'_>) -> Result<Self> {
        let Parts { sources, generated, is_of_2006, .. } = *parts;
        let directory = absolute(directory)?;
        let place = |path: &Path| make_path(&relative(&directory, path));
        let mut copies = vec![];
        for (original, copy) in if is_of_2006 { returns::copies(&directory, sources) } else { vec![] } {
            copies.push(Copied { of: place(original)?, path: place(&copy)? });
        }
        let mut objects: Vec<Object> = vec![];
        for source in sources.iter().filter(|source| source.includer.is_none()) {
            let file = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let taken = objects.iter().filter(|object| object.source.ends_with(&format!("/{file}"))).count();
            let name = if taken == 0 { format!("{file}.o") } else { format!("{file}.{}.o", taken + 1) };
            let language = match (source.is_c, is_of_2006) {
                (true, false) => Language::C,
                (true, true) => Language::COf2006,
                (false, true) => Language::CppOf2006,
                (false, false) => Language::Cpp,
            };
            objects.push(Object { name, source: place(&source.path)?, language });
        }
        let mut folders = String::new();
        for folder in parts.folders {
            folders += &format!("-I{} ", place(&absolute(folder)?)?);
        }
        let headers = generated.iter().map(|file| file.name.clone()).filter(|name| name.ends_with(".h")).collect();
        let libraries = arguments.libraries.iter().map(|library| format!("-l{library}")).collect();
        let (cc, cxx, flags) = (arguments.cc.clone(), arguments.cxx.clone(), flags(arguments));
        let links = parts.links.iter().map(|link| link.library.clone()).collect();
        let modules = parts.modules.iter().map(Module::new).collect();
        let generated_object = format!("{name}.flux.o");
        let runtime = || runtime_library::key(&cxx, &flags.join(" "));
        let shared = arguments.shared.then(runtime).transpose()?.map(|key| format!("{key:016x}"));
        Ok(Self {
            name: name.to_owned(),
            target: target(arguments, name),
            shared,
            generated_object,
            cc,
            cxx,
            flags,
            libraries,
            links,
            link_cflags: links::flags(parts.links).join(" "),
            folders,
            objects,
            modules,
            copies,
            headers,
        })
    }

    /// The flags of every compilation.
    pub fn flags(&self) -> String {
        self.flags.join(" ")
    }

    /// The variables that save make the questions to pkg-config.
    pub fn packages(&self) -> Vec<String> {
        links::packages(&self.links)
    }

    /// The standard modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Whether it is a shared object for a host.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn shared_flags(&self) -> String {
        // Only GCC makes variables of inline functions one for the whole process.
        let unique = if self.cxx.contains("clang") { "" } else { " -fno-gnu-unique" };
        if self.is_shared() { format!(" {SHARED_FLAGS}{unique}") } else { String::new() }
    }

    /// The flags of linking beside those of compiling. In a shared object the symbol tells the host which runtime it
    /// was built for. Of all sources at once GCC says what is meant so, as the runtime's table of system calls declares
    /// them without their types, and what is not so, where it has put functions of the library into each other.
    fn link_flags(&self) -> String {
        let shared = |key: &String| format!(" -shared -Wl,-Bsymbolic-functions -Wl,--defsym=flux_runtime_{key}=1");
        match &self.shared {
            Some(key) => shared(key),
            None if self.flags.iter().any(|flag| flag == LTO) && !self.cxx.contains("clang") => {
                " -Wno-lto-type-mismatch -Wno-stringop-overread".to_owned()
            }
            None => String::new(),
        }
    }

    /// What is compiled, the author's own first.
    pub fn objects(&self) -> Vec<&str> {
        self.objects.iter().map(|object| object.name.as_str()).chain([self.generated_object.as_str()]).collect()
    }

    /// The content of the file [`COMPILATION`]: the Makefile without libraries, the compiler flags for their headers,
    /// and a hash of the runtime and the compiler.
    pub fn compilation(&self) -> String {
        let unlinked = Self { links: vec![], libraries: vec![], ..self.clone() };
        format!(
            "# How objects are compiled: they are compiled again if this changes.\n# The runtime: {:016x}\n{}\n{}",
            runtime_library::key(&self.cxx, &self.flags()).unwrap_or_else(|_| runtime_library::sources_hash()),
            self.link_cflags,
            unlinked.makefile()
        )
    }

    /// The whole text.
    pub fn makefile(&self) -> String {
        let Self { name, target, generated_object, cc, cxx, folders, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        let runtime_libraries = RUNTIME_LIBRARIES.join(" ");
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\
# Generated by flux {version} from {name}.flux. Changes are lost at the next build.
#
# Builds the server {name} without flux:
#     make -C THIS_FOLDER
# The runtime is built from runtime/ unless it is there already, or FLUX_LIBRARY names one. With other FLAGS or another
# CXX remove runtime/libflux.a first.

CC = {cc}
CXX = {cxx}
# Not -I., as this folder has the server, too: one called queue is not to be read for <queue>.
{links}\
CPPFLAGS = -iquote. {folders}-I$(dir $(FLUX_LIBRARY))include -Iruntime/include -idirafter.{links_flags}
FLAGS = {flags}
CFLAGS = -Werror=return-type $(FLAGS) $(COLOR)
CXXFLAGS = -std=c++20 -Werror=return-type $(FLAGS){shared_flags} $(COLOR)
{of_2006}\
LDLIBS = {libraries}
FLUX_LIBRARY = runtime/libflux.a
FLUX_LDLIBS = {runtime_libraries}
OBJECTS = {objects}
{modules}\
HEADERS = {headers}

{target}: $(OBJECTS) $(MODULES){library} Makefile
\t@echo '  link  $@'
\t@$(CXX) $(FLAGS){link_flags} -pthread $(LDFLAGS) -o $@ $(OBJECTS) $(MODULES){library} $(LDLIBS){runtime_ldlibs}

{generated_object}: {name}.flux.cpp {COMPILATION} $(HEADERS)
\t@echo '  compile  $<'
\t@{compile_generated}

runtime/libflux.a:
\t@$(MAKE) --no-print-directory -C runtime CXX='$(CXX)' FLAGS='$(FLAGS)'

",
            flags = self.flags(),
            shared_flags = self.shared_flags(),
            link_flags = self.link_flags(),
            library = if self.is_shared() { "" } else { " $(FLUX_LIBRARY)" },
            runtime_ldlibs = if self.is_shared() { "" } else { " $(FLUX_LDLIBS)" },
            of_2006 = if self.is_of_2006() { VARIABLES_2006 } else { "" },
            compile_generated = match self.is_of_2006() {
                true => compile_2006("CXX", "FLOW_WAYS", "CXXFLAGS_2006", ""),
                false => compile("CXX", "CXXFLAGS", ""),
            },
            modules = self.modules_variables(),
            links = self.links_variables(),
            links_flags = if self.links.is_empty() { "" } else { " $(LINKS_CPPFLAGS)" },
            libraries = self.libraries(),
            objects = self.objects().join(" "),
            headers = self.headers.join(" "),
        );
        for object in &self.objects {
            text += &self.rule(object);
        }
        if !self.modules.is_empty() {
            text.push_str(MODULE_RULE);
        }
        text + &self.copies_rules() + &self.clean_rule()
    }

    /// What make says of sources that have changed since a copy was made of them.
    fn copies_rules(&self) -> String {
        let changed = "error: $< has changed, and $@ was made of it: run flux build again";
        let rule = |Copied { of, path }: &Copied| format!("{path}: {of}\n\t@echo '{changed}' >&2; false\n\n");
        self.copies.iter().map(rule).collect()
    }

    /// How all that make makes is removed, and what make knows of it.
    fn clean_rule(&self) -> String {
        let removed = "$(OBJECTS) $(MODULES) $(OBJECTS:.o=.d) $(MODULES:.o=.d)";
        let rule = format!("clean:\n\t@rm -f {removed} {}\n\n.PHONY: clean\n\n", self.target);
        rule + MOVED + "-include $(OBJECTS:.o=.d) $(MODULES:.o=.d)\n"
    }

    /// The objects of standard modules, and how they are compiled.
    fn modules_variables(&self) -> String {
        let objects: Vec<_> = self.modules.iter().map(|module| module.object.as_str()).collect();
        match objects.is_empty() {
            true => String::new(),
            false => {
                let with_links = self.modules.iter().filter(|module| !module.links.is_empty());
                let links = with_links.map(|module| format!("LINKS_OF_{} = {}\n", module.name, module.links.join(" ")));
                format!("{MODULE_VARIABLES}{}MODULES = {}\n", links.collect::<String>(), objects.join(" "))
            }
        }
    }

    /// The libraries that the program names, and how they are asked for.
    fn links_variables(&self) -> String {
        match self.links.is_empty() {
            true => String::new(),
            false => format!("# What the program links.\nLINKS = {}\n{}", self.links.join(" "), links::VARIABLES),
        }
    }

    /// What is given to the linker.
    fn libraries(&self) -> String {
        let named = (!self.links.is_empty()).then(|| "$(LINKS_LDLIBS)".to_owned());
        self.libraries.iter().cloned().chain(named).collect::<Vec<_>>().join(" ")
    }

    /// How one object is made.
    fn rule(&self, object: &Object) -> String {
        let Object { name: target, source, .. } = object;
        let copy = self.copies.iter().find(|copy| copy.of == *source);
        // What the original includes from beside it is found from the copy, too.
        let folder = copy.map(|_| format!(" -iquote {}", parent(Path::new(source)).display())).unwrap_or_default();
        let command = match object.language {
            Language::C => compile("CC", "CFLAGS", &folder),
            Language::Cpp => compile("CXX", "CXXFLAGS", &folder),
            Language::COf2006 => compile_2006("CC", "C_WAYS", "CFLAGS_2006", &folder),
            Language::CppOf2006 => compile_2006("CXX", "CXX_WAYS", "CXXFLAGS_2006", &folder),
        };
        let source = copy.map_or(source, |copy| &copy.path);
        format!("{target}: {source} {COMPILATION} $(HEADERS)\n\t@echo '  compile  $<'\n\t@{command}\n\n")
    }

    fn is_of_2006(&self) -> bool {
        self.objects.iter().any(|object| matches!(object.language, Language::COf2006 | Language::CppOf2006))
    }
}

/// What is built, in the folder of the build.
pub fn target(arguments: &Build, name: &str) -> String {
    if arguments.shared { format!("{name}.so") } else { name.to_owned() }
}

/// How standard modules are compiled: with nothing of the author's in sight, and for the libraries that each names in
/// LINKS_OF_ and its name. A debugger looks for their sources in
/// HOME_OF_ and their name; that is this folder, unless the object is kept elsewhere.
const MODULE_VARIABLES: &str = "\
# The standard modules. HOME_OF_ and a module's name say where a debugger will find its sources.
MODULE_CPPFLAGS = -iquote. -Inodes -I$(dir $(FLUX_LIBRARY))include \\
    $(foreach one,$(LINKS_OF_$(*F)),$(call linked,$(one),--cflags,)) \\
    -ffile-prefix-map=$(CURDIR)=$(or $(HOME_OF_$(*F)),$(CURDIR))
";

const MODULE_RULE: &str = "\
nodes/whole/%.o: nodes/whole/%.cpp compilation $(HEADERS)
\t@echo '  compile  std.$*'
\t@$(CXX) $(MODULE_CPPFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<

";

/// The command that compiles what does not depend on how it was done in 2006. What it reads is noted, the headers of
/// the system among it: for the compiler those that are generated are such headers, as their folder comes last, and all
/// that they include.
fn compile(compiler: &str, flags: &str, folder: &str) -> String {
    format!("$({compiler}) $(CPPFLAGS) $({flags}){folder} -MD -MP -c -o $@ $<")
}

/// The command that compiles what is of 2006, or sees headers of that time.
fn compile_2006(compiler: &str, ways: &str, flags: &str, folder: &str) -> String {
    format!("sh {SCRIPT_NAME} $@ $< '$({ways})' $({compiler}) $(CPPFLAGS) $({flags}){folder}")
}

/// Optimises across all sources when they are linked.
const LTO: &str = "-flto=auto";

/// The flags of every compilation.
pub fn flags(arguments: &Build) -> Vec<String> {
    let mut flags: Vec<String> = ["-Wall", "-Wextra", "-g", "-pthread", STACK_PROBES].map(String::from).into();
    flags.push(if arguments.debug { "-O0" } else { "-O2" }.into());
    if arguments.lto {
        // By as many processors as there are; the linker reads what the compiler has left in the objects.
        flags.push(LTO.into());
    }
    if let Some(sanitizer) = arguments.sanitize {
        let which = match sanitizer {
            Sanitizer::Thread => "thread",
            Sanitizer::Address => "address,undefined",
        };
        flags.push(format!("-fsanitize={which}"));
        flags.push("-fno-omit-frame-pointer".into());
    }
    flags.extend(arguments.cflags());
    flags
}

/// A path as make can read it.
fn make_path(path: &Path) -> Result<String> {
    let text = path.to_string_lossy().into_owned();
    match text.chars().find(|one| one.is_whitespace() || "$#:%'\"\\".contains(*one)) {
        None => Ok(text),
        Some(one) => {
            Err(Failure::usage(format!("make cannot read the path {text}: it contains `{one}`; move the program")))
        }
    }
}

/// The Makefile of the runtime's own folder.
pub const RUNTIME: &str = "\
# Generated by flux. Builds the Flux runtime: libflux.a.

CXX = g++
FLAGS = -O2 -g -fstack-clash-protection
# Where a debugger will find these sources.
HOME_OF_SOURCES = $(CURDIR)
SOURCES = $(sort $(wildcard src/*.cpp src/*/*.cpp))
# Four files include all sources, those of four rooms each: what many of them include is read and compiled four times.
ROOMS = $(sort $(dir $(SOURCES)))
ROOMS_1 = $(wordlist 1,4,$(ROOMS))
ROOMS_2 = $(wordlist 5,8,$(ROOMS))
ROOMS_3 = $(wordlist 9,12,$(ROOMS))
ROOMS_4 = $(wordlist 13,99,$(ROOMS))
OBJECTS = rooms_1.o rooms_2.o rooms_3.o rooms_4.o

libflux.a: $(OBJECTS)
\t@echo '  archive  $@'
\t@rm -f $@
\t@$(AR) rcs $@ $(OBJECTS)

# The header that generated code includes first, compiled: GCC takes it for objects that have the same flags.
%.gch: %
\t@$(CXX) -std=c++20 -I$(CURDIR)/include $(FLAGS) -w -x c++-header -o $@.$$$$ $(CURDIR)/$< && mv $@.$$$$ $@

$(OBJECTS:.o=.cpp): rooms_%.cpp: $(SOURCES)
\t@printf '#include <%s>\\n' $(foreach room,$(ROOMS_$*),$(wildcard $(room)*.cpp)) > $@

# A debugger is told of lines and functions here, and not of variables: that takes a third of the time.
%.o: %.cpp
\t@echo '  compile  runtime/$<'
\t@$(CXX) -std=c++20 -Iinclude -I. $(patsubst -g,-g1,$(FLAGS)) -ffile-prefix-map=$(CURDIR)=$(HOME_OF_SOURCES) \
\t    -pthread -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)
";
