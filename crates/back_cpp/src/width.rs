//! How long expressions are on one line, which decides where [`crate::print`] breaks lines.

use crate::print::{LAMBDA_END, WIDTH, is_enclosed, lambda, quoted};
use crate::tree::Expression;
use flux_source::deep;

/// How many characters the expression takes on one line; of what is much longer than a line only that it is.
pub(crate) fn width(expression: &Expression) -> usize {
    let mut ruler = Ruler { width: 0 };
    ruler.expression(expression);
    ruler.width
}

/// Measures expressions until they are longer than any line. What comes last is measured first: the beginning of a
/// chain of operators is deep in it, so that the whole chain would be gone through again for each of its operators.
struct Ruler {
    width: usize,
}

impl Ruler {
    fn text(&mut self, text: &str) {
        self.width += text.chars().count();
    }

    fn list(&mut self, elements: &[Expression], separator: usize) {
        self.width += separator * elements.len().saturating_sub(1);
        elements.iter().rev().for_each(|element| self.expression(element));
    }

    fn operand(&mut self, operand: &Expression, operator: &str, is_right: bool) {
        self.width += 2 * usize::from(is_enclosed(operand, operator, is_right));
        self.expression(operand);
    }

    fn expression(&mut self, expression: &Expression) {
        if self.width <= 2 * WIDTH {
            deep(|| self.inner(expression));
        }
    }

    fn inner(&mut self, expression: &Expression) {
        match expression {
            Expression::Name(name) => self.text(name),
            Expression::Text(string) => self.text(&quoted(string)),
            Expression::Member(object, member) => {
                self.width += 1;
                self.text(member);
                self.operand(object, ".", false);
            }
            Expression::Address(object) => {
                self.width += 1;
                self.expression(object);
            }
            Expression::Call(function, arguments) => {
                self.width += 2;
                self.list(arguments, 2);
                self.expression(function);
            }
            Expression::Instance(name, values) | Expression::Made(name, values) => {
                self.width += 2;
                self.text(name);
                self.list(values, 2);
            }
            Expression::Braces(values) => {
                self.width += 2;
                self.list(values, 2);
            }
            Expression::Element(two) => {
                self.width += 2;
                self.list(&**two, 0);
            }
            Expression::Compare(left, operator, right) => {
                self.width += 2;
                self.text(operator);
                self.expression(right);
                self.expression(left);
            }
            Expression::All(conditions) => self.list(conditions, 4),
            Expression::Infix(left, operator, right) => {
                self.width += 2;
                self.text(operator);
                self.operand(right, operator, true);
                self.operand(left, operator, false);
            }
            Expression::Prefix(operator, value) => {
                self.text(operator);
                self.operand(value, operator, true);
            }
            Expression::Lambda(parameters, refers, value) => {
                self.width += LAMBDA_END.len();
                self.text(&lambda(parameters, *refers));
                self.expression(value);
            }
        }
    }
}
