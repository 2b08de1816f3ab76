//! Whether a list of values fits a list of parameters, and how.

use flux_ir::program::Parameter;
use flux_source::Span;

/// How values fit parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fit {
    /// The first to the first, and so on.
    Position,
    /// For each parameter the position of the value with its name and type; other values are dropped.
    Name(Vec<usize>),
}

impl Fit {
    /// For each of `count` parameters, the position of the value that it takes.
    pub fn positions(self, count: usize) -> Vec<usize> {
        match self {
            Self::Position => (0..count).collect(),
            Self::Name(positions) => positions,
        }
    }
}

/// Why values do not fit parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// The types agree by position, but the names are the same in another order: almost surely a mistake.
    Permuted,
    /// The first position at which they part.
    Part(usize),
    /// Others are found by their names, and for the parameter at this position there is no value, near or far.
    Lacks(usize),
}

/// How `values` fit `parameters`: by position when arity and types agree; else by name and type when each parameter is
/// among the values. A message fits where any will do. O(n log n).
///
/// # Errors
///
/// They fit neither way.
pub fn fit(values: &[Parameter], parameters: &[Parameter]) -> Result<Fit, Misfit> {
    let differs = values.iter().zip(parameters).position(|(value, parameter)| !parameter.ty.takes(&value.ty));
    if values.len() == parameters.len() && differs.is_none() {
        return if permuted(values, parameters) { Err(Misfit::Permuted) } else { Ok(Fit::Position) };
    }
    let by_name = |parameter: &Parameter| values.iter().position(|value| parameter.takes(value));
    match parameters.iter().map(by_name).collect() {
        Some(positions) => Ok(Fit::Name(positions)),
        None => Err(Misfit::Part(differs.unwrap_or(values.len().min(parameters.len())))),
    }
}

fn permuted(values: &[Parameter], parameters: &[Parameter]) -> bool {
    let names = |list: &[Parameter]| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let (mut left, mut right) = (names(values), names(parameters));
    let in_order = left == right;
    left.sort();
    right.sort();
    !in_order && left == right
}

/// The values that no parameter takes, where they fit by name.
pub fn dropped<'a>(values: &'a [Parameter], positions: &[usize]) -> Vec<&'a Parameter> {
    values.iter().enumerate().filter(|(at, _)| !positions.contains(at)).map(|(_, value)| value).collect()
}

/// `int socket, image_tag *request`: a list as its author would write it.
pub fn show(list: &[Parameter]) -> String {
    list.iter().map(show_one).collect::<Vec<_>>().join(", ")
}

/// `image_tag *request`.
pub fn show_one(parameter: &Parameter) -> String {
    parameter.ty.declare(&parameter.name)
}

/// Where a list is written, from the first parameter to the last; none where it is empty.
pub fn whole(list: &[Parameter]) -> Option<Span> {
    let (first, last) = (list.first()?, list.last()?);
    Some(Span { end: last.span.end, ..first.span })
}

/// `` `socket`, `request` ``.
pub fn show_names(list: &[&Parameter]) -> String {
    list.iter().map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ")
}

/// `1 input`, `3 inputs`, `no inputs`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flux_ir::types::Type;

    fn list(text: &str) -> Vec<Parameter> {
        let one = |part: &str| {
            let (ty, name) = part.trim().split_once(' ').unwrap();
            Parameter { ty: Type::new(ty), name: name.to_owned(), span: Default::default() }
        };
        text.split(',').filter(|part| !part.trim().is_empty()).map(one).collect()
    }

    #[test]
    fn lists_fit_by_position_whatever_the_names() {
        assert_eq!(fit(&list("int a, bool b"), &list("int x, bool y")), Ok(Fit::Position));
    }

    #[test]
    fn the_same_names_in_another_order_do_not_fit() {
        assert_eq!(fit(&list("int from, int to"), &list("int to, int from")), Err(Misfit::Permuted));
    }

    #[test]
    fn lists_fit_by_name_where_position_does_not() {
        assert_eq!(fit(&list("int a, bool b, int c"), &list("int c, int a")), Ok(Fit::Name(vec![2, 0])));
        assert_eq!(fit(&list("int a"), &list("")), Ok(Fit::Name(vec![])));
    }

    #[test]
    fn what_does_not_fit_says_where_it_parts() {
        assert_eq!(fit(&list("int a, bool b"), &list("int a, int b")), Err(Misfit::Part(1)));
        assert_eq!(fit(&list("int a"), &list("int a, int b")), Err(Misfit::Part(1)));
    }
}
