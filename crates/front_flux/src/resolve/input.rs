//! Values of inputs that do not come along an edge. The declaration of a node gives defaults; a step gives values and
//! constants by name.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, ConstantValue, Declaration, Parameter, QualifiedName};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::program::{Constant, NamedInput, NamedValue};

/// The forms of a default, for help texts.
const DEFAULT: &str = "a default is a number, a string, `true`, `false` or the name of an option";

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// The defaults of the last inputs. Reports an input without a default that follows an input with one.
    pub(super) fn defaults(&mut self, declaration: &'syntax Declaration<'syntax>) -> Vec<Constant> {
        let mut first: Option<&Parameter<'_>> = None;
        let mut defaults = vec![];
        for input in &declaration.inputs {
            match (&input.default, first) {
                (Some(default), _) => {
                    first = first.or(Some(input));
                    defaults.push(self.input_default(input, default));
                }
                (None, Some(before)) => {
                    let headline =
                        format!("`{}` has no default, and `{}` before it has one", input.name.text, before.name.text);
                    let error = Diagnostic::error(ids::INPUT_DEFAULT, headline, input.span);
                    self.report(error.mark(before.span, "has a default").help("let inputs with defaults come last"));
                    return vec![];
                }
                (None, None) => {}
            }
        }
        defaults
    }

    /// The default of an input. A wrong default is an error, and a placeholder of a fitting type replaces it.
    fn input_default(
        &mut self,
        input: &'syntax Parameter<'syntax>,
        default: &'syntax syntax::Constant<'syntax>,
    ) -> Constant {
        let found = match &default.value {
            ConstantValue::Option(name) => self.default_option(name).map(Constant::Option),
            literal => literal_value(literal),
        };
        found.unwrap_or_else(|| match self.scope.type_names().read(&input.ty, &input.array).is_number() {
            true => Constant::Integer(0),
            false => Constant::Text(String::new()),
        })
    }

    fn default_option(&mut self, name: &QualifiedName<'_>) -> Option<flux_ir::program::OptionId> {
        let known = self.known_option(name);
        if known.is_none() && self.is_unknown(ids::UNKNOWN_OPTION, name) {
            let options = self.scope.program.options.iter().map(|(_, option)| option.name.to_string());
            let options: Vec<_> = options.collect();
            let written = name.to_string();
            let may_suggest = self.may_suggest(&written);
            let meant = nearest(&written, options.iter().map(String::as_str)).filter(|_| may_suggest);
            let help = meant.map_or(DEFAULT.to_owned(), |meant| format!("did you mean `{meant}`?"));
            let headline = format!("there is no option `{written}`");
            self.report(Diagnostic::error(ids::UNKNOWN_OPTION, headline, name.span).help(help));
        }
        known
    }

    /// The values that a step gives to inputs by name.
    pub(super) fn named_inputs(&mut self, application: &'syntax syntax::Application<'syntax>) -> Vec<NamedInput> {
        let mut inputs = vec![];
        for named in &application.named {
            let value = match &named.value.value {
                // A name may mean an option and a value of the flow. The pass that knows the values reports this.
                ConstantValue::Option(name) => match self.known_option(name) {
                    Some(option) if is_word(name) => Some(NamedValue::Option(option)),
                    Some(option) => Some(NamedValue::Constant(Constant::Option(option))),
                    None if name.parts().0 == self.scope.module() => Some(NamedValue::Value(name.own.to_string())),
                    None => self.constant(&named.value, application).map(NamedValue::Constant),
                },
                literal => literal_value(literal).map(NamedValue::Constant),
            };
            let input = named.input.to_owned();
            inputs.extend(value.map(|value| NamedInput { input, value, span: named.span }));
        }
        inputs
    }
}

/// True if the author wrote the name without a module before it.
fn is_word(name: &QualifiedName<'_>) -> bool {
    (name.span.end - name.span.start) as usize == name.own.len()
}

/// The value of a constant that is not a name; none for a wrong constant, which the parser has reported.
pub(super) fn literal_value(value: &ConstantValue<'_>) -> Option<Constant> {
    match value {
        ConstantValue::Number(quantity) => Some(Constant::Integer(quantity.value)),
        ConstantValue::Text(text) => Some(Constant::Text(text.clone())),
        ConstantValue::Boolean(truth) => Some(Constant::Boolean(*truth)),
        ConstantValue::Wrong | ConstantValue::Option(_) => None,
    }
}
