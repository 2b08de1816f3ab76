//! What inputs are given beside the values that come along an edge: defaults in the declaration of a node, and values
//! and constants by name in a step.

use super::Resolver;
use crate::ids;
use crate::syntax::{self, ConstantValue, Declaration, Parameter, QualifiedName};
use flux_diagnostic::{Diagnostic, nearest};
use flux_ir::program::{Constant, NamedInput, NamedValue};

/// What a default can be.
const DEFAULT: &str = "a default is a number, a string, `true`, `false` or the name of an option";

impl<'syntax> Resolver<'syntax, '_, '_> {
    /// The defaults of the last inputs. Reports an input without a default behind one that has a default.
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

    /// A default that is wrong is reported, and then one that fits.
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

    /// What a step gives inputs by their names.
    pub(super) fn named_inputs(&mut self, application: &'syntax syntax::Application<'syntax>) -> Vec<NamedInput> {
        let mut inputs = vec![];
        for named in &application.named {
            let value = match &named.value.value {
                // An option that is a value of the flow, too, is reported where the values are known.
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

/// Whether a name was written without a module before it.
fn is_word(name: &QualifiedName<'_>) -> bool {
    (name.span.end - name.span.start) as usize == name.own.len()
}

/// The value of a constant that is no name; none where it is wrong, which has been reported.
pub(super) fn literal_value(value: &ConstantValue<'_>) -> Option<Constant> {
    match value {
        ConstantValue::Number(quantity) => Some(Constant::Integer(quantity.value)),
        ConstantValue::Text(text) => Some(Constant::Text(text.clone())),
        ConstantValue::Boolean(truth) => Some(Constant::Boolean(*truth)),
        ConstantValue::Wrong | ConstantValue::Option(_) => None,
    }
}
