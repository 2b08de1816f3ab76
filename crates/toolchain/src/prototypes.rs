//! The functions that a program asks of its author, and stubs of them.

use flux_back_cpp::AskedFunction;

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

impl From<AskedFunction> for Prototype {
    fn from(AskedFunction { name, declaration, asked_by }: AskedFunction) -> Self {
        Self { name: name.joined("::"), namespace: name.module().map(str::to_owned), asked_by, declaration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::name::Name;

    #[test]
    fn a_stub_names_its_parameters_and_succeeds() {
        let stub = |name: Name, declaration: &str| {
            let (declaration, asked_by) = (declaration.to_owned(), "a.flux:2".to_owned());
            Prototype::from(AskedFunction { name, declaration, asked_by }).stub()
        };
        assert_eq!(
            stub(Name::new("Read"), "int Read(struct Read_in *in, struct Read_out *out)"),
            "int Read(struct Read_in *in, struct Read_out *out)\n{\n    (void)in;\n    (void)out;\n    return 0;\n}\n"
        );
        assert_eq!(
            stub(Name::new("T"), "bool T(std::map<int, T> value)"),
            "bool T(std::map<int, T> value)\n{\n    (void)value;\n    return false;\n}\n"
        );
        let inner = "int Last(int a[3])\n{\n    (void)a;\n    return 0;\n}\n";
        let expected = format!("namespace m {{\n\n{inner}\n}} // namespace m\n");
        assert_eq!(stub(Name::of(Some("m"), "Last"), "int Last(int a[3])"), expected);
    }
}
