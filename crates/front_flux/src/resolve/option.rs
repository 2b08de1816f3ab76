//! Options: constants that the server is told when it starts. Each has a flag of its own and a default of its kind.

use super::Resolver;
use super::input::literal_value;
use crate::ids;
use crate::quantity::{Quantity, Unit};
use crate::syntax::{self, ConstantValue, OptionDeclaration, QualifiedName, Statement};
use flux_diagnostic::{Diagnostic, Id, nearest};
use flux_ir::name::Name;
use flux_ir::program::{Constant, OptionId, OptionKind, ServerOption};

/// The flags that every server has, and what its runtime's flags start with.
const TAKEN_FLAGS: [&str; 3] = ["help", "flux", "flux-"];

/// Something that limits a step, as a constant or an option says.
struct Limit {
    id: Id,
    kind: OptionKind,
    /// What it is.
    is: &'static str,
    /// How it is written.
    help: &'static str,
}

const DEADLINE: Limit = Limit {
    id: ids::DEADLINE_DURATION,
    kind: OptionKind::Duration,
    is: "a deadline is a duration",
    help: "write a duration, `within 300ms`, or the name of an option that is one",
};

const WIDTH: Limit = Limit {
    id: ids::EACH_WIDTH,
    kind: OptionKind::Int,
    is: "how many run at once is a number",
    help: "write a number above zero, `[Node](4)`, or the name of an option that is an `int`",
};

/// What a constant can be.
const CONSTANT: &str = "a constant is a number, a string, `true`, `false` or the name of an option";

/// The flag of an option, without the dashes before it: `tcp-idle-time` of `tcp.idle_time`. Capitals aside, since the
/// environment has none but them.
pub(super) fn flag(name: &Name) -> String {
    name.joined("-").replace('_', "-").to_lowercase()
}

impl<'syntax> Resolver<'syntax, '_, '_> {
    pub(super) fn declare_options(&mut self) {
        let syntax = self.syntax;
        for statement in &syntax.statements {
            let Statement::Option(option) = statement else { continue };
            let default = option.default.as_ref().and_then(|default| self.default(option, default));
            let name = &option.name;
            self.check_word(&name.own, name.span, "option");
            let declared = name.declared();
            let flag = flag(&declared);
            if TAKEN_FLAGS.iter().any(|taken| flag == *taken || taken.ends_with('-') && flag.starts_with(taken)) {
                self.report_taken(option, &flag);
            }
            let (kind, about, span) = (option.kind, option.about.clone(), option.span);
            let made = ServerOption { name: declared, kind, default, about, span };
            let id = self.scope.add_option(made, name.span);
            match self.flags.get(&flag) {
                Some(first) => self.report_second(option, *first, &flag),
                None => _ = self.flags.insert(flag, id),
            }
        }
    }

    fn report_taken(&mut self, option: &OptionDeclaration, flag: &str) {
        let headline = format!("the option `{}` would have the flag `--{flag}`, which every server has", option.name);
        let diagnostic = Diagnostic::error(ids::DUPLICATE_OPTION, headline, option.name.span);
        self.report(diagnostic.help("choose another name"));
    }

    fn report_second(&mut self, option: &OptionDeclaration, first: OptionId, flag: &str) {
        let (name, other) = (option.name.declared(), &self.scope.program.options[first].name);
        let headline = match name == *other {
            true => format!("the option `{name}` is declared twice"),
            false => format!("the options `{other}` and `{name}` have one flag, `--{flag}`"),
        };
        let diagnostic = Diagnostic::error(ids::DUPLICATE_OPTION, headline, option.name.span);
        let diagnostic = diagnostic.mark(self.scope.option_name(first), "the first one");
        self.report(diagnostic.help("give one of them another name"));
    }

    /// The default as a value of the option's kind; none where it is not, which is reported.
    fn default(&mut self, option: &OptionDeclaration, default: &syntax::Constant) -> Option<Constant> {
        match (&default.value, option.kind) {
            (ConstantValue::Wrong, _) => return None,
            (ConstantValue::Number(Quantity { value, unit: Unit::One }), OptionKind::Int)
            | (ConstantValue::Number(Quantity { value, unit: Unit::Byte }), OptionKind::Size)
            | (ConstantValue::Number(Quantity { value, unit: Unit::Millisecond }), OptionKind::Duration) => {
                return Some(Constant::Integer(*value));
            }
            (ConstantValue::Number(Quantity { value: value @ 0.., unit: Unit::One }), OptionKind::Size) => {
                return Some(Constant::Integer(*value));
            }
            (ConstantValue::Text(text), OptionKind::Text | OptionKind::Path) => {
                return Some(Constant::Text(text.clone()));
            }
            (ConstantValue::Boolean(truth), OptionKind::Bool) => return Some(Constant::Boolean(*truth)),
            _ => {}
        }
        let headline = match default.value {
            ConstantValue::Option(ref other) => {
                format!("the default of `{}` is the name `{}`, not a value", option.name, other)
            }
            _ => format!("the default of `{}` is not {}", option.name, described(option.kind)),
        };
        let help = match option.kind {
            OptionKind::Int => "write a whole number: `8080`",
            OptionKind::Text | OptionKind::Path => "write it in quotes: `\"public\"`",
            OptionKind::Bool => "write `true` or `false`",
            OptionKind::Duration => "write a number with its unit: `100ms`, `2s`, `5m`",
            OptionKind::Size => "write a number of bytes, or with a unit: `512`, `64k`, `2M`, `1G`",
        };
        self.report(Diagnostic::error(ids::OPTION_DEFAULT, headline, default.span).help(help));
        None
    }

    /// The value of a constant of a step; none where it is wrong, which has been reported or is now.
    pub(super) fn constant(
        &mut self,
        constant: &'syntax syntax::Constant,
        step: &syntax::Application,
    ) -> Option<Constant> {
        let ConstantValue::Option(name) = &constant.value else { return literal_value(&constant.value) };
        let known = self.known_option(name);
        let (module, own) = name.parts();
        if known.is_none() && self.scope.declared_type(module, own).is_some() {
            let headline = format!("`{name}` is a type, and no constant");
            let help = format!("`{}` has no type as an input in this place; {CONSTANT}", step.node);
            self.report(Diagnostic::error(ids::UNKNOWN_OPTION, headline, constant.span).help(help));
        } else if known.is_none() && self.is_unknown(ids::UNKNOWN_OPTION, name) {
            let help = self.help_for_constant(name, step);
            let headline = format!("there is no option `{name}`");
            self.report(Diagnostic::error(ids::UNKNOWN_OPTION, headline, constant.span).help(help));
        }
        known.map(Constant::Option)
    }

    /// The time that a step has; none where it is wrong, which has been reported or is now.
    pub(super) fn deadline(&mut self, time: &'syntax syntax::Constant) -> Option<Constant> {
        match &time.value {
            ConstantValue::Wrong => None,
            ConstantValue::Number(Quantity { value: value @ 1.., unit: Unit::Millisecond }) => {
                Some(Constant::Integer(*value))
            }
            ConstantValue::Number(Quantity { value, unit }) => {
                let headline = match unit {
                    Unit::Millisecond => "a deadline of no time has always passed".to_owned(),
                    Unit::Byte => "a deadline is a duration, not a size".to_owned(),
                    Unit::One => format!("the deadline `{value}` has no unit"),
                };
                self.report_limit(&DEADLINE, headline, time)
            }
            ConstantValue::Text(_) | ConstantValue::Boolean(_) => {
                self.report_limit(&DEADLINE, DEADLINE.is.to_owned(), time)
            }
            ConstantValue::Option(name) => self.limit_by_option(&DEADLINE, name, time),
        }
    }

    /// How many instances of an each step run at once; none where it is wrong, which has been reported or is now.
    pub(super) fn width(&mut self, width: &'syntax syntax::Constant) -> Option<Constant> {
        match &width.value {
            ConstantValue::Wrong => None,
            ConstantValue::Number(Quantity { value: value @ 1.., unit: Unit::One }) => Some(Constant::Integer(*value)),
            ConstantValue::Number(Quantity { value, unit: Unit::One }) => {
                self.report_limit(&WIDTH, format!("with {value} at once, nothing would ever run"), width)
            }
            ConstantValue::Number(_) | ConstantValue::Text(_) | ConstantValue::Boolean(_) => {
                self.report_limit(&WIDTH, WIDTH.is.to_owned(), width)
            }
            ConstantValue::Option(name) => self.limit_by_option(&WIDTH, name, width),
        }
    }

    fn limit_by_option(
        &mut self,
        limit: &Limit,
        name: &'syntax QualifiedName<'syntax>,
        constant: &'syntax syntax::Constant,
    ) -> Option<Constant> {
        if let Some(id) = self.known_option(name) {
            let option = &self.scope.program.options[id];
            if option.kind == limit.kind {
                return Some(Constant::Option(id));
            }
            let headline = format!("{}, and the option `{name}` is {}", limit.is, described(option.kind));
            return self.report_limit(limit, headline, constant);
        }
        if self.is_unknown(ids::UNKNOWN_OPTION, name) {
            let written = name.to_string();
            let may_suggest = self.may_suggest(&written);
            let is_candidate = |option: &ServerOption| may_suggest && option.kind == limit.kind;
            let fitting = self.scope.program.options.iter().filter(|(_, option)| is_candidate(option));
            let fitting: Vec<_> = fitting.map(|(_, option)| option.name.to_string()).collect();
            let help = match nearest(&written, fitting.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => limit.help.to_owned(),
            };
            let headline = format!("there is no option `{name}`");
            self.report(Diagnostic::error(ids::UNKNOWN_OPTION, headline, constant.span).help(help));
        }
        None
    }

    fn report_limit(&mut self, limit: &Limit, headline: String, constant: &syntax::Constant) -> Option<Constant> {
        self.report(Diagnostic::error(limit.id, headline, constant.span).help(limit.help));
        None
    }

    /// What to write for `name`, which is no option, as a constant of `step`.
    fn help_for_constant(&mut self, name: &QualifiedName<'_>, step: &syntax::Application) -> String {
        let node = &step.node;
        let inputs = self.known_node(node).map_or(&[][..], |id| self.scope.program.nodes[id].inputs());
        let written = &name.to_string();
        if inputs.iter().any(|input| input.name == *written) {
            return match step.constants.len() {
                1 => format!("values of the flow are passed along the arrows: write `{node}`"),
                _ => format!("constants bind the first inputs: leave out `{name}`, and declare it after those"),
            };
        }
        if self.known_node(name).is_some_and(|node| self.is_defined(node)) {
            return format!("`{name}` is a node, and steps are joined by `->`: `{name} -> {node}`");
        }
        if !self.may_suggest(written) {
            return CONSTANT.to_owned();
        }
        let options = self.scope.program.options.iter().map(|(_, option)| option.name.to_string());
        let words: Vec<_> = ["true", "false"].map(str::to_owned).into_iter().chain(options).collect();
        match nearest(written, words.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => CONSTANT.to_owned(),
        }
    }
}

fn described(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::Int => "a whole number",
        OptionKind::Text => "a string",
        OptionKind::Path => "a path",
        OptionKind::Bool => "`true` or `false`",
        OptionKind::Duration => "a duration",
        OptionKind::Size => "a size",
    }
}
