//! Writes the tree of [`crate::tree`] as text: four spaces a level, 120 columns, the brace of a function on its line.
//!
//! A list that does not fit on its line is filled: its elements go on under the first one, or, where that leaves too
//! little room, a level further in. Nothing else is ever broken.

use crate::tree::{Declaration, Declarator, Expression, Function, Initial, Row, Statement};
use crate::width::width;
use flux_source::{Deep, deep};

/// The last column that text may reach, where it can be helped.
pub(crate) const WIDTH: usize = 120;
/// The columns of a level.
const LEVEL: usize = 4;

/// The text of a file.
pub fn print(declarations: &[Declaration]) -> String {
    let mut printer = Printer::default();
    declarations.iter().for_each(|declaration| printer.declaration(declaration));
    printer.text
}

#[derive(Default)]
struct Printer {
    text: String,
    level: usize,
    /// How many characters the line has so far.
    column: usize,
}

impl Printer {
    fn write(&mut self, text: &str) {
        if self.column == 0 {
            self.start_line(self.level * LEVEL);
        }
        self.text += text;
        self.column += text.chars().count();
    }

    fn start_line(&mut self, column: usize) {
        self.text.extend(std::iter::repeat_n(' ', column));
        self.column = column;
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    fn line(&mut self, text: &str) {
        self.write(text);
        self.end_line();
    }

    /// A line that starts in the first column at every level: the preprocessor's.
    fn directive(&mut self, text: &str) {
        self.text += &format!("#{text}\n");
    }

    fn comment(&mut self, text: &str) {
        // A backslash at the end of the line would take the next line into the comment.
        let text: String = text.chars().map(|letter| if is_printable(letter) { letter } else { '?' }).collect();
        self.line(format!("// {text}").trim_end_matches(['\\', ' ']));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Blank => self.end_line(),
            Declaration::Comment(text) => self.comment(text),
            Declaration::Include(path) => self.directive(&format!("include \"{path}\"")),
            Declaration::SystemInclude(path) => self.directive(&format!("include <{path}>")),
            Declaration::Directive(text) => self.directive(text),
            Declaration::ExternC(inner) => self.extern_c(inner),
            Declaration::OnlyCpp(inner) => self.only_where("ifdef __cplusplus", inner),
            Declaration::OnlyC(inner) => self.only_where("ifndef __cplusplus", inner),
            Declaration::Namespace(name, inner) => {
                self.line(&format!("namespace {name} {{"));
                inner.iter().for_each(|one| self.declaration(one));
                self.line(&format!("}} // namespace {name}"));
            }
            Declaration::Struct(name, members) => {
                let members = members.iter().map(|member| format!("{};", declarator(member)));
                self.lines(&format!("struct {name} {{"), members, "};");
            }
            Declaration::Record(name, members) => {
                let zero = |is_zero| if is_zero { "{}" } else { "" };
                let members =
                    members.iter().map(|(member, is_zero)| format!("{}{};", declarator(member), zero(*is_zero)));
                let compares = format!("auto operator<=>(const {name} &) const = default;");
                self.lines(&format!("struct {name} {{"), members.chain([String::new(), compares]), "};");
            }
            Declaration::Named(_)
            | Declaration::Private
            | Declaration::Class(..)
            | Declaration::Derived(..)
            | Declaration::Alias(..)
            | Declaration::Member(..)
            | Declaration::Union(..)
            | Declaration::Declared(..)
            | Declaration::Method(..)
            | Declaration::Template(..)
            | Declaration::Instantiated(..)
            | Declaration::Constructor(..) => self.class_part(declaration),
            Declaration::EnumClass(name, values) => {
                self.write(&format!("enum class {name} "));
                let values: Vec<_> = values.iter().map(Expression::name).collect();
                self.list("{ ", &values, " }", 1);
                self.line(";");
            }
            Declaration::Enum(name, base, values) => {
                let values = values.iter().map(|value| format!("{value},"));
                self.lines(&format!("enum {name} : {base} {{"), values, "};");
            }
            Declaration::Prototype(result, name, parameters) => {
                self.write(&declarator(&Declarator::new(result, name)));
                self.parameters(parameters, "(void)", 1);
                self.line(";");
            }
            Declaration::Function(function) => self.function(function),
            Declaration::Variable(variable, initial) => self.variable(variable, initial),
            Declaration::Assert(condition, message) => {
                self.write("static_assert");
                self.list("(", &[condition.clone(), Expression::Text(message.clone())], ")", 1);
                self.line(";");
            }
            Declaration::Table(ty, name, rows) => self.table(ty, name, rows),
        }
    }

    /// Classes, and what they consist of.
    fn class_part(&mut self, declaration: &Declaration) {
        match declaration {
            Declaration::Named(name) => self.line(&format!("class {name};")),
            Declaration::Private => {
                self.end_line();
                self.text += &" ".repeat(self.level.saturating_sub(1) * LEVEL + 2);
                self.text += "private:\n";
            }
            Declaration::Class(name, base, inner) => {
                self.line(&format!("class {name} : public {base}"));
                self.line("{");
                self.line("  public:");
                self.members(inner);
            }
            Declaration::Derived(name, base, inner) => {
                let base = if base.is_empty() { String::new() } else { format!(" : {base}") };
                self.line(&format!("struct {name}{base} {{"));
                self.members(inner);
            }
            Declaration::Alias(name, ty) => self.line(&format!("using {name} = {ty};")),
            Declaration::Member(member, initial) => match initial {
                Some(value) => self.variable(member, &Initial::Value(value.clone())),
                None => self.line(&format!("{};", declarator(member))),
            },
            Declaration::Union(inner) => {
                self.line("union {");
                self.members(inner);
            }
            Declaration::Declared(before, function, after) => {
                let head = Declarator::new(format!("{before}{}", function.result), &function.name);
                self.write(&declarator(&head));
                self.parameters(&function.parameters, "()", after.len() + 1);
                self.line(&format!("{after};"));
            }
            Declaration::Method(function, after) => self.method(function, after),
            Declaration::Template(parameter, of) => {
                self.line(&format!("template <class {parameter}>"));
                self.declaration(of);
            }
            Declaration::Instantiated(function) => {
                self.write(&format!("template {}", declarator(&Declarator::new(&function.result, &function.name))));
                self.parameters(&function.parameters, "()", 1);
                self.line(";");
            }
            Declaration::Constructor(function, initial) => {
                self.write(&function.name);
                self.parameters(&function.parameters, "()", 1);
                self.end_line();
                self.level += 1;
                self.list(": ", initial, "", 0);
                self.end_line();
                self.level -= 1;
                self.line("{");
                self.body(&function.body);
                self.line("}");
            }
            _ => {}
        }
    }

    fn lines(&mut self, open: &str, lines: impl Iterator<Item = String>, close: &str) {
        self.line(open);
        self.level += 1;
        lines.for_each(|line| if line.is_empty() { self.end_line() } else { self.line(&line) });
        self.level -= 1;
        self.line(close);
    }

    fn only_where(&mut self, condition: &str, inner: &[Declaration]) {
        self.directive(condition);
        inner.iter().for_each(|one| self.declaration(one));
        self.directive("endif");
    }

    fn extern_c(&mut self, inner: &[Declaration]) {
        self.directive("ifdef __cplusplus");
        self.line("extern \"C\" {");
        self.directive("endif");
        inner.iter().for_each(|one| self.declaration(one));
        self.directive("ifdef __cplusplus");
        self.line("}");
        self.directive("endif");
    }

    /// The members of a class, and its end.
    fn members(&mut self, inner: &[Declaration]) {
        self.level += 1;
        inner.iter().for_each(|one| self.declaration(one));
        self.level -= 1;
        self.line("};");
    }

    /// A function of a class: on one line where it is short.
    fn method(&mut self, function: &Function, after: &str) {
        if let [Statement::Return(value)] = function.body.as_slice() {
            let head = declarator(&Declarator::new(&function.result, &function.name));
            let parameters: Vec<_> = function.parameters.iter().map(declarator).collect();
            let line = format!("{head}({}){after} {{ return ", parameters.join(", "));
            if self.fits(line.chars().count() + width(value) + 3) {
                self.write(&line);
                self.expression(value, 3);
                return self.line("; }");
            }
        }
        self.write(declarator(&Declarator::new(&function.result, &function.name)).trim_start());
        self.parameters(&function.parameters, "()", after.len().max(1));
        if function.body.is_empty() && after.is_empty() {
            return self.line(" {}");
        }
        self.line(after);
        self.line("{");
        self.body(&function.body);
        self.line("}");
    }

    fn function(&mut self, function: &Function) {
        self.write(&declarator(&Declarator::new(&function.result, &function.name)));
        self.parameters(&function.parameters, "()", 1);
        self.end_line();
        if function.caught.is_empty() {
            self.line("{");
            self.body(&function.body);
        } else {
            self.line("try {");
            self.body(&function.body);
            self.line("} catch (...) {");
            self.body(&function.caught);
        }
        self.line("}");
    }

    /// Parameters, behind which so many characters stand on the same line.
    fn parameters(&mut self, parameters: &[Declarator], none: &str, tail: usize) {
        if parameters.is_empty() {
            return self.write(none);
        }
        let parameters: Vec<_> = parameters.iter().map(|one| Expression::Name(declarator(one))).collect();
        self.list("(", &parameters, ")", tail);
    }

    fn table(&mut self, ty: &str, name: &str, rows: &[Row]) {
        self.line(&format!("constexpr {ty} {name}[] = {{"));
        self.level += 1;
        for row in rows {
            match row {
                Row::Comment(text) => self.comment(text),
                Row::Element(element) => {
                    self.expression(element, 1);
                    self.line(",");
                }
                Row::Elements(elements) => {
                    self.fill("", elements, ",", "", 1);
                    self.line(",");
                }
            }
        }
        self.level -= 1;
        self.line("};");
    }

    fn body(&mut self, statements: &[Statement]) {
        self.level += 1;
        statements.iter().for_each(|statement| self.statement(statement));
        self.level -= 1;
    }

    fn unless(&mut self, condition: &Expression, body: &[Statement]) {
        self.write("if (");
        self.expression(&Expression::Prefix("!", Deep::new(condition.clone())), 3);
        self.line(") [[unlikely]] {");
        self.body(body);
        self.line("}");
    }

    fn statement(&mut self, statement: &Statement) {
        deep(|| match statement {
            Statement::Blank => self.end_line(),
            Statement::Comment(text) => self.comment(text),
            Statement::Variable(variable, initial) => self.variable(variable, initial),
            Statement::Assign(to, from) => {
                self.expression(to, 0);
                self.write(" = ");
                self.ending(from);
            }
            Statement::Run(expression) => self.ending(expression),
            Statement::RunWith(function, arguments, body) => {
                self.expression(function, 1);
                let lambda = Expression::name("[&] {");
                let arguments: Vec<_> = arguments.iter().cloned().chain([lambda]).collect();
                self.list("(", &arguments, "", 0);
                self.end_line();
                self.body(body);
                self.line("});");
            }
            Statement::If(condition, then, otherwise) => {
                self.write("if (");
                self.expression(condition, 3);
                self.line(") {");
                self.body(then);
                match otherwise.as_slice() {
                    [] => self.line("}"),
                    [other @ Statement::If(..)] => {
                        self.write("} else ");
                        self.statement(other);
                    }
                    _ => {
                        self.line("} else {");
                        self.body(otherwise);
                        self.line("}");
                    }
                }
            }
            Statement::Unless(condition, body) => self.unless(condition, body),
            Statement::For(element, list, body) => {
                self.write(&format!("for ({} : ", declarator(element)));
                self.expression(list, 3);
                self.line(") {");
                self.body(body);
                self.line("}");
            }
            Statement::Try(body, caught) => {
                self.line("try {");
                self.body(body);
                self.line("} catch (...) {");
                self.body(caught);
                self.line("}");
            }
            Statement::Scope(body) => {
                self.line("{");
                self.body(body);
                self.line("}");
            }
            Statement::Switch(value, cases) => self.switch(value, cases),
            Statement::Closure(name, parameters, body) => self.closure(name, parameters, body),
            Statement::Break => self.line("break;"),
            Statement::Return(value) => {
                self.write("return ");
                self.ending(value);
            }
        })
    }

    fn closure(&mut self, name: &str, parameters: &[Declarator], body: &[Statement]) {
        let parameters: Vec<_> = parameters.iter().map(declarator).collect();
        self.line(&format!("const auto {name} = [&]({}) {{", parameters.join(", ")));
        self.body(body);
        self.line("};");
    }

    fn switch(&mut self, value: &Expression, cases: &[(Vec<String>, Vec<Statement>)]) {
        self.write("switch (");
        self.expression(value, 3);
        self.line(") {");
        for (labels, body) in cases {
            // A variable is known in its own case alone.
            let is_variable = |one: &Statement| matches!(one, Statement::Variable(..) | Statement::Closure(..));
            let open = if body.iter().any(is_variable) { " {" } else { "" };
            let words: Vec<_> = labels.iter().map(|label| format!("case {label}:")).collect();
            match words.split_last() {
                None => self.line(&format!("default:{open}")),
                Some((last, before)) => {
                    before.iter().for_each(|word| self.line(word));
                    self.line(&format!("{last}{open}"));
                }
            }
            self.body(body);
            if !matches!(body.last(), Some(Statement::Return(_))) {
                self.body(&[Statement::Break]);
            }
            if !open.is_empty() {
                self.line("}");
            }
        }
        self.line("}");
    }

    fn variable(&mut self, variable: &Declarator, initial: &Initial) {
        self.write(&declarator(variable));
        match initial {
            Initial::Braces(values) => self.list("{", values, "}", 1),
            Initial::Arguments(arguments) => self.list("(", arguments, ")", 1),
            Initial::Value(value) => {
                self.write(" = ");
                self.expression(value, 1);
            }
        }
        self.line(";");
    }

    /// The last expression of a statement.
    fn ending(&mut self, expression: &Expression) {
        self.expression(expression, 1);
        self.line(";");
    }

    /// Writes an expression, after which `tail` more characters come before a line can be broken.
    fn expression(&mut self, expression: &Expression, tail: usize) {
        deep(|| {
            let whole = width(expression);
            if self.fits(whole + tail) {
                return self.flat(expression, whole);
            }
            match expression {
                Expression::Call(function, arguments) => {
                    self.expression(function, 1);
                    match arguments.as_slice() {
                        // The lines are broken inside of the braces.
                        [only] if ends_in_braces(only) => {
                            self.write("(");
                            self.expression(only, 1 + tail);
                            self.write(")");
                        }
                        _ => self.list("(", arguments, ")", tail),
                    }
                }
                Expression::Element(two) => {
                    let [object, key] = &**two;
                    self.expression(object, 1);
                    self.list("[", std::slice::from_ref(key), "]", tail);
                }
                Expression::Braces(values) => self.list("{", values, "}", tail),
                Expression::Made(name, values) => {
                    self.write(name);
                    self.list("{", values, "}", tail);
                }
                Expression::Infix(left, operator, right) => {
                    self.operand(left, operator, false, operator.len() + 1);
                    self.write(&format!(" {operator}"));
                    if self.fits(1 + width(right) + 2 + tail) {
                        self.write(" ");
                    } else {
                        self.end_line();
                        self.start_line((self.level + 1) * LEVEL);
                    }
                    self.operand(right, operator, true, tail);
                }
                Expression::All(conditions) => self.fill("", conditions, " &&", "", tail),
                Expression::Prefix(operator, value) => {
                    self.write(operator);
                    self.operand(value, operator, true, tail);
                }
                Expression::Lambda(parameters, refers, value) => {
                    self.write(&lambda(parameters, *refers));
                    self.expression(value, LAMBDA_END.len() + tail);
                    self.write(LAMBDA_END);
                }
                _ => self.flat(expression, whole),
            }
        })
    }

    /// Writes what an operator joins, in parentheses where they are needed.
    fn operand(&mut self, operand: &Expression, operator: &str, is_right: bool, tail: usize) {
        match is_enclosed(operand, operator, is_right) {
            true => {
                self.write("(");
                self.expression(operand, tail + 1);
                self.write(")");
            }
            false => self.expression(operand, tail),
        }
    }

    /// Writes an expression of that width on the line.
    fn flat(&mut self, expression: &Expression, width: usize) {
        self.write("");
        flat(expression, &mut self.text);
        self.column += width;
    }

    fn fits(&self, width: usize) -> bool {
        self.column.max(self.level * LEVEL) + width <= WIDTH
    }

    fn list(&mut self, open: &str, elements: &[Expression], close: &str, tail: usize) {
        self.fill(open, elements, ",", close, tail);
    }

    /// Writes elements, breaking the line before each that does not fit on it.
    fn fill(&mut self, open: &str, elements: &[Expression], separator: &str, close: &str, tail: usize) {
        self.write(open);
        let widest = elements.iter().map(width).max().unwrap_or(0);
        let last = elements.len().saturating_sub(1);
        let mut under = self.column.max(self.level * LEVEL);
        if under + widest + close.len() + tail > WIDTH && !open.is_empty() {
            under = (self.level + 1) * LEVEL;
            self.end_line();
            self.start_line(under);
        }
        for (index, element) in elements.iter().enumerate() {
            let after = if index == last { close.len() + tail } else { separator.len() };
            if index > 0 && self.fits(width(element) + after + 1) {
                self.write(" ");
            } else if index > 0 {
                self.end_line();
                self.start_line(under);
            }
            self.expression(element, after);
            self.write(if index == last { close } else { separator });
        }
        if elements.is_empty() {
            self.write(close);
        }
    }
}

/// Whether an expression is braces, or a call of nothing but them.
fn ends_in_braces(expression: &Expression) -> bool {
    deep(|| match expression {
        Expression::Braces(_) => true,
        Expression::Call(_, arguments) => matches!(arguments.as_slice(), [only] if ends_in_braces(only)),
        _ => false,
    })
}

/// Adds the expression on one line to `text`.
fn flat(expression: &Expression, text: &mut String) {
    deep(|| match expression {
        Expression::Name(name) => text.push_str(name),
        Expression::Text(string) => text.push_str(&quoted(string)),
        Expression::Member(object, member) => {
            flat_operand(object, ".", false, text);
            text.push('.');
            text.push_str(member);
        }
        Expression::Address(object) => {
            text.push('&');
            flat(object, text);
        }
        Expression::Call(function, arguments) => {
            flat(function, text);
            flat_list("(", arguments, ", ", ")", text);
        }
        Expression::Instance(name, arguments) => {
            text.push_str(name);
            flat_list("<", arguments, ", ", ">", text);
        }
        Expression::Element(two) => {
            let [object, key] = &**two;
            flat(object, text);
            flat_list("[", std::slice::from_ref(key), "", "]", text);
        }
        Expression::Braces(values) => flat_list("{", values, ", ", "}", text),
        Expression::Compare(left, operator, right) => {
            flat(left, text);
            text.extend([" ", *operator, " "]);
            flat(right, text);
        }
        Expression::All(conditions) => flat_list("", conditions, " && ", "", text),
        Expression::Infix(left, operator, right) => {
            flat_operand(left, operator, false, text);
            text.extend([" ", *operator, " "]);
            flat_operand(right, operator, true, text);
        }
        Expression::Prefix(operator, value) => {
            text.push_str(operator);
            flat_operand(value, operator, true, text);
        }
        Expression::Made(name, values) => {
            text.push_str(name);
            flat_list("{", values, ", ", "}", text);
        }
        Expression::Lambda(parameters, refers, value) => {
            text.push_str(&lambda(parameters, *refers));
            flat(value, text);
            text.push_str(LAMBDA_END);
        }
    })
}

/// What comes before the value of a lambda, and after it.
pub(crate) fn lambda(parameters: &[Declarator], refers: bool) -> String {
    let parameters: Vec<_> = parameters.iter().map(declarator).collect();
    format!("[&]({}){} {{ return ", parameters.join(", "), if refers { " -> const auto &" } else { "" })
}
pub(crate) const LAMBDA_END: &str = "; }";

fn flat_operand(operand: &Expression, operator: &str, is_right: bool, text: &mut String) {
    let is_enclosed = is_enclosed(operand, operator, is_right);
    text.push_str(if is_enclosed { "(" } else { "" });
    flat(operand, text);
    text.push_str(if is_enclosed { ")" } else { "" });
}

/// Whether what `operator` takes is written in parentheses: not where every reader knows what binds more tightly.
pub(crate) fn is_enclosed(operand: &Expression, operator: &str, is_right: bool) -> bool {
    let Expression::Infix(_, inner, _) = operand else { return false };
    let strength = |symbol: &str| match symbol {
        "||" | "&&" => 1,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => 2,
        "+=" | "=" | "?" | ":" => 0,
        _ => 3,
    };
    match *inner == operator {
        // `c ? a : b`
        _ if *inner == ":" => false,
        true => is_right && !matches!(operator, "&&" | "||"),
        false => operator == "!" || strength(inner) <= strength(operator),
    }
}

fn flat_list(open: &str, elements: &[Expression], separator: &str, close: &str, text: &mut String) {
    text.push_str(open);
    for (index, element) in elements.iter().enumerate() {
        text.push_str(if index > 0 { separator } else { "" });
        flat(element, text);
    }
    text.push_str(close);
}

/// `char *argv`, `int count`, `int x[3]`, `Handler_in &`: a star or an ampersand stands with the name.
fn declarator(declarator: &Declarator) -> String {
    let Declarator { ty, name, array } = declarator;
    let space = if name.is_empty() || ty.is_empty() || ty.ends_with(['*', '&']) { "" } else { " " };
    format!("{ty}{space}{name}{array}")
}

/// A string literal. Octal escapes end after three digits, so that they cannot take in what follows.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|letter| match letter {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        letter if letter.is_ascii_control() => format!("\\{:03o}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Whether a letter may stand in a comment: neither a control character nor one that reorders the text around it or
/// ends its line (Unicode's bidirectional controls and separators).
fn is_printable(letter: char) -> bool {
    let reorders = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !letter.is_control() && !reorders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<Expression> {
        names.iter().map(Expression::name).collect()
    }

    fn in_function(statements: Vec<Statement>) -> String {
        let (result, name) = ("void".to_owned(), "f".to_owned());
        let function = Function { result, name, parameters: vec![], body: statements, caught: vec![] };
        print(&[Declaration::Function(function)])
    }

    #[test]
    fn what_does_not_fit_goes_on_under_the_first_element() {
        let long: Vec<_> = (0..20).map(|number| format!("argument_{number}")).collect();
        let long: Vec<_> = long.iter().map(String::as_str).collect();
        let text = in_function(vec![Statement::Run(Expression::name("call").call(names(&long)))]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(lines[2].starts_with("    call(argument_0, ") && lines[2].ends_with(','), "{text}");
        assert!(lines[3].starts_with("         argument_"), "{text}");
        assert!(lines[4].ends_with("argument_19);"), "{text}");
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn a_list_with_no_room_under_its_bracket_starts_on_the_next_line() {
        let wide = "w".repeat(60);
        let function = Expression::name("f".repeat(70));
        let text = in_function(vec![Statement::Run(function.call(names(&[&wide, "x"])))]);
        assert_eq!(text.lines().nth(3), Some(format!("        {wide}, x);").as_str()), "{text}");
    }

    #[test]
    fn a_line_may_be_full_to_the_last_column() {
        let text =
            in_function(vec![Statement::Run(Expression::name("f").call(names(&[&"x".repeat(54), &"y".repeat(56)])))]);
        assert_eq!(text.lines().nth(2).map(str::len), Some(WIDTH), "{text}");
        let text =
            in_function(vec![Statement::Run(Expression::name("f").call(names(&[&"x".repeat(54), &"y".repeat(57)])))]);
        assert_eq!(text.lines().nth(2).map(str::len), Some(61), "{text}");
    }

    #[test]
    fn a_comment_cannot_take_in_the_next_line() {
        let text =
            print(&[Declaration::Comment("ends \\ \\".to_owned()), Declaration::Comment("a\nb\u{202e}→".to_owned())]);
        assert_eq!(text, "// ends\n// a?b?→\n");
    }

    #[test]
    fn what_is_joined_has_its_members_as_a_whole() {
        let [a, b] = ["a", "b"].map(|name| Deep::new(Expression::name(name)));
        let size = Expression::Infix(a, "+", b).member("size").call(vec![]);
        let mut text = String::new();
        flat(&size, &mut text);
        assert_eq!((text.as_str(), width(&size)), ("(a + b).size()", 14));
    }

    #[test]
    fn the_width_is_that_of_the_text() {
        let [a, b, c] = ["a", "bb", "é"].map(Expression::name);
        let call = a.clone().member("m").call(vec![b.clone().address(), Expression::Text("\n\"é".to_owned())]);
        let instance = Expression::Instance("t".to_owned(), vec![a.clone(), b.clone()]).call(vec![]);
        let list = Expression::Braces(vec![call.compare("!=", c), instance, Expression::Braces(vec![])]);
        let all = Expression::All(vec![list, a, b]);
        let mut text = String::new();
        flat(&all, &mut text);
        assert_eq!(text, "{a.m(&bb, \"\\n\\\"é\") != é, t<a, bb>(), {}} && a && bb");
        assert_eq!(width(&all), text.chars().count());
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\n\u{1}2é"), "\"a\\\"b\\\\c\\n\\0012é\"");
    }

    #[test]
    fn stars_stand_with_the_name() {
        let declared = |ty: &str, name: &str, array: &str| {
            declarator(&Declarator { ty: ty.to_owned(), name: name.to_owned(), array: array.to_owned() })
        };
        assert_eq!(declared("image_tag *", "request", ""), "image_tag *request");
        assert_eq!(declared("int", "x", "[3]"), "int x[3]");
        assert_eq!(declared("Handler_in &", "", ""), "Handler_in &");
    }
}
