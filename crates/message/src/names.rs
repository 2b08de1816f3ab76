//! What the names in formulas stand for, in a message that has been read in part or whole.

use crate::tree::{Content, Read, Tree, Value};
use flux_ir::compute::evaluate;
use flux_ir::message::{Field, FieldId, Formula, Reference, Root};

/// The value of `formula` in `tree`; `own` is the field whose attribute it is, or the element of a list.
pub fn value_of(formula: &Formula, tree: &Tree, own: Option<&Content>) -> Result<Value, String> {
    let values = formula.names.iter().map(|name| named(name, tree, own).map(Into::into));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    evaluate(&formula.value, &values).map_err(|failure| failure.message)?.try_into()
}

fn named(name: &Reference, tree: &Tree, own: Option<&Content>) -> Result<Value, String> {
    let missing = || "a field that is asked for is not there".to_owned();
    match (name.root, name.path.as_slice()) {
        (Root::Own, path) => find(tree, path).and_then(converted).ok_or_else(missing),
        (Root::Parameter(index), _) => tree.parameters.get(index).cloned().ok_or_else(missing),
        (Root::Value, []) => match own {
            Some(Content::Value { read, .. }) => Ok(read.clone()),
            _ => Err(missing()),
        },
        (Root::Value, path) => match own {
            Some(Content::Unit(inner)) => find(inner, path).and_then(converted).ok_or_else(missing),
            _ => Err(missing()),
        },
    }
}

fn converted(content: &Content) -> Option<Value> {
    match content {
        Content::Value { read, converted, .. } => Some(converted.as_ref().unwrap_or(read).clone()),
        _ => None,
    }
}

/// What is at the end of `path`, which begins in `tree`.
pub fn find<'a>(tree: &'a Tree, path: &[FieldId]) -> Option<&'a Content> {
    let (last, way) = path.split_last()?;
    let mut at = tree;
    for step in way {
        match &read(at, *step)?.content {
            Content::Unit(inner) => at = inner,
            _ => return None,
        }
    }
    Some(&read(at, *last)?.content)
}

/// As [`find`], to be changed.
pub fn find_mut<'a>(tree: &'a mut Tree, path: &[FieldId]) -> Option<&'a mut Content> {
    let (first, rest) = path.split_first()?;
    let content = &mut tree.fields.get_mut(first.index())?.as_mut()?.content;
    match (rest, content) {
        ([], content) => Some(content),
        (rest, Content::Unit(inner)) => find_mut(inner, rest),
        _ => None,
    }
}

/// Gives the variables that `field` updates their values, after it or an element of it has been read as `content`.
pub fn update(field: &Field, tree: &mut Tree, content: &Content) -> Result<(), String> {
    for (target, formula) in &field.updates {
        let value = value_of(formula, tree, Some(content))?;
        set(tree, &[*target], value);
    }
    Ok(())
}

/// Gives a field its value, and digits their spelling where it is another.
pub fn set(tree: &mut Tree, path: &[FieldId], value: Value) {
    if let Some(Content::Value { read, spelling, .. }) = find_mut(tree, path)
        && *read != value
    {
        *read = value;
        spelling.clear();
    }
}

/// A field that was read.
pub fn read(tree: &Tree, field: FieldId) -> Option<&Read> {
    tree.fields.get(field.index())?.as_ref()
}
