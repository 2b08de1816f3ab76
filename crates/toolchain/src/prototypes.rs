//! The functions that a program asks of its author, as the generated header declares them.

use flux_back_cpp::GeneratedFile;
use flux_back_cpp::plain::PlainDeclaration;
use flux_source::SourceMap;

/// A function that a program names.
pub struct Prototype {
    /// Its name, as C++ qualifies it.
    pub name: String,
    /// The namespace that it is in: that of a module.
    pub namespace: Option<String>,
    /// The statement that names it: `image.flux:23: typedef hit TestInCache;`
    pub asked_by: String,
    /// As it is declared, without the `;`.
    pub declaration: String,
}

impl Prototype {
    /// Its name in its namespace.
    pub fn own_name(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// A definition that compiles, does nothing, and succeeds.
    pub fn stub(&self) -> String {
        let Self { declaration, .. } = self;
        let unused: String = self.parameters().map(|name| format!("    (void){name};\n")).collect();
        let result = match declaration.split_whitespace().next() {
            Some("bool") => "    return false;\n",
            Some("void") => "",
            Some("int") => "    return 0;\n",
            _ => "    return {};\n",
        };
        let stub = format!("{declaration}\n{{\n{unused}{result}}}\n");
        match &self.namespace {
            Some(namespace) => format!("namespace {namespace} {{\n\n{stub}\n}} // namespace {namespace}\n"),
            None => stub,
        }
    }

    /// The names of its parameters: the last word of each, before an array's brackets.
    fn parameters(&self) -> impl Iterator<Item = &str> {
        let list = self.declaration.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
        let mut depth = 0_i32;
        let parts = list.split(move |character| {
            depth += match character {
                '<' | '(' => 1,
                '>' | ')' => -1,
                _ => 0,
            };
            character == ',' && depth == 0
        });
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        parts.filter_map(move |part| {
            let name = part.split('[').next().unwrap_or_default().trim_end_matches([' ', ')']);
            name.rsplit(|character| !is_word(character)).next().filter(|name| !name.is_empty() && *name != "void")
        })
    }
}

/// A plain function that the program asks for.
pub fn plain_prototype(declaration: &PlainDeclaration, files: &SourceMap) -> Prototype {
    Prototype {
        name: declaration.name.joined("::"),
        namespace: declaration.name.module().map(str::to_owned),
        asked_by: files.name_and_line(declaration.span),
        declaration: declaration.text.clone(),
    }
}

/// All functions that the generated headers declare, in their order: the program's first, then those of modules.
pub fn prototypes(generated: &[GeneratedFile]) -> Vec<Prototype> {
    let mut asked_by = "";
    let mut found = vec![];
    let mut namespace: Option<&str> = None;
    for line in generated.iter().filter(|file| file.name.ends_with(".h")).flat_map(|file| file.text.lines()) {
        if let Some(opened) = line.strip_prefix("namespace ").and_then(|rest| rest.strip_suffix(" {")) {
            namespace = Some(opened);
        } else if line.starts_with("} // namespace") {
            namespace = None;
        }
        if let Some(comment) = line.strip_prefix("// ") {
            asked_by = comment;
        } else if let Some(declaration) = line.strip_suffix(';').filter(|text| text.ends_with(')')) {
            let before = declaration.split('(').next().unwrap_or_default();
            if let Some(name) = before.split([' ', '*']).next_back().filter(|_| !line.starts_with([' ', '#'])) {
                found.push(Prototype {
                    name: namespace.map_or(name.to_owned(), |namespace| format!("{namespace}::{name}")),
                    namespace: namespace.map(str::to_owned),
                    asked_by: asked_by.to_owned(),
                    declaration: declaration.to_owned(),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_names_its_parameters_and_succeeds() {
        let header = "// a.flux:2\nint Read(struct Read_in *in, struct Read_out *out);\n\n// a.flux:4: typedef hit T;\n\
                      bool T(std::map<int, T> value);\nstruct A {\n    int (*a)(int b);\n};\nint Last(int a[3]);\n";
        let file = GeneratedFile { name: "a.flux.h".into(), text: header.into() };
        let stubs: Vec<_> = prototypes(&[file]).iter().map(|one| (one.name.clone(), one.stub())).collect();
        let stub = |declaration: &str, body: &str| format!("{declaration}\n{{\n{body}}}\n");
        assert_eq!(
            stubs,
            [
                (
                    "Read".to_owned(),
                    stub(
                        "int Read(struct Read_in *in, struct Read_out *out)",
                        "    (void)in;\n    (void)out;\n    return 0;\n"
                    )
                ),
                ("T".to_owned(), stub("bool T(std::map<int, T> value)", "    (void)value;\n    return false;\n")),
                ("Last".to_owned(), stub("int Last(int a[3])", "    (void)a;\n    return 0;\n")),
            ]
        );
    }
}
