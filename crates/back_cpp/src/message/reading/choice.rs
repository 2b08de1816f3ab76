//! How the function of a message takes one way of several: by a value that has been read, or by the next byte.

use super::super::byte_range::{byte, within};
use super::super::formula::{Known, Said, literal};
use super::super::plan::{Step, is_changing};
use super::{NO_VALUE, Reading, call, infix};
use crate::tree::{Declarator, Expression as Cpp, Initial, Statement};
use flux_ir::message::{ByteSet, Label, Switch};
use flux_source::Deep;

impl<'p> Reading<'_, 'p> {
    pub(super) fn switch(&self, switch: &'p Switch, ways: &[Vec<Step<'p>>], choice: &str, body: &mut Vec<Statement>) {
        let way = |index: usize| {
            let mut inner = vec![self.chosen(choice, index + 1)];
            for (other, steps) in ways.iter().enumerate() {
                inner.extend(if other == index { vec![] } else { self.none_of(steps) });
            }
            if let Some(steps) = ways.get(index) {
                self.scoped(|| self.steps(steps, &mut inner));
            }
            inner
        };
        let default = switch.cases.iter().position(|case| case.is_default);
        let Some(on) = &switch.on else {
            return body.push(self.switch_by_byte(switch, default, &way));
        };
        let value = self.formula(on, &NO_VALUE, "", body);
        if !is_changing(self.message, on) {
            return self.switch_by_value(switch, &value, default, &way, body);
        }
        // What was chosen stays so.
        let number = self.claim("way");
        let set = |index: usize| vec![Statement::Assign(Cpp::name(&number), Cpp::name(index + 1))];
        let mut choose = vec![];
        self.switch_by_value(switch, &value, default, &set, &mut choose);
        let taken = Cpp::name(format!("at.{choice}"));
        body.push(Statement::Variable(Declarator::new("unsigned", &number), Initial::Value(taken)));
        body.push(Statement::If(infix(Cpp::name(&number), "==", Cpp::name(0)), choose, vec![]));
        let cases = switch.cases.iter().enumerate().map(|(index, _)| (vec![(index + 1).to_string()], way(index)));
        body.push(Statement::Switch(Cpp::name(&number), cases.collect()));
    }

    fn switch_by_value(
        &self,
        switch: &'p Switch,
        value: &Said,
        default: Option<usize>,
        way: &dyn Fn(usize) -> Vec<Statement>,
        body: &mut Vec<Statement>,
    ) {
        let otherwise = default.map_or_else(|| vec![Statement::Return(self.wrong("", "no_case"))], way);
        let cases = || switch.cases.iter().enumerate().filter(|(_, case)| !case.is_default);
        if let Known::Integer { signed, .. } = value.known {
            let mut all: Vec<_> = cases()
                .filter_map(|(index, case)| {
                    let labels = case.labels.iter().filter_map(|label| match label {
                        Label::Integer(label) if *label >= 0 || signed => Some(label.to_string()),
                        _ => None,
                    });
                    let labels: Vec<_> = labels.collect();
                    (!labels.is_empty()).then(|| (labels, way(index)))
                })
                .collect();
            all.push((vec![], otherwise));
            return body.push(Statement::Switch(value.cpp.clone(), all));
        }
        let chain = cases().collect::<Vec<_>>().into_iter().rev().fold(otherwise, |otherwise, (index, case)| {
            let is = |label: &Label| match label {
                Label::Bytes(bytes) => {
                    Cpp::Infix(Deep::new(value.cpp.clone()), "==", Deep::new(Cpp::name(literal(bytes))))
                }
                Label::Integer(value) => Cpp::name(value),
            };
            let any =
                case.labels.iter().map(is).reduce(|one, other| Cpp::Infix(Deep::new(one), "||", Deep::new(other)));
            vec![Statement::If(any.unwrap_or(Cpp::name("false")), way(index), otherwise)]
        });
        body.extend(chain);
    }

    fn switch_by_byte(
        &self,
        switch: &'p Switch,
        default: Option<usize>,
        way: &dyn Fn(usize) -> Vec<Statement>,
    ) -> Statement {
        let firsts: Vec<_> =
            switch.cases.iter().map(|case| self.messages.firsts.items(self.message, &case.items)).collect();
        // Before what is inside, where another may be.
        let is_wide = firsts.iter().any(|first| first.bytes.iter().count() > MOST_LABELS);
        let next = if is_wide { self.claim("byte") } else { String::new() };
        let mut cases = vec![(vec!["in.not_here".to_owned()], vec![Statement::Return(call("in.undecided", vec![]))])];
        let mut taken = ByteSet::new();
        let mut wide = vec![];
        let empty = firsts.iter().zip(&switch.cases).position(|(first, case)| !case.is_default && first.can_be_empty);
        for (index, (first, case)) in firsts.iter().zip(&switch.cases).enumerate() {
            let own = first.bytes.intersection(taken.complement());
            if case.is_default || own.is_empty() || empty == Some(index) {
                continue;
            }
            taken = taken.union(own);
            match own.iter().count() > MOST_LABELS {
                true => wide.push((own, index)),
                false => {
                    let labels: Vec<_> = own.iter().collect();
                    let inner = match labels.as_slice() {
                        [first] => passing(*first, way(index)),
                        _ => way(index),
                    };
                    cases.push((labels.into_iter().map(byte).collect(), inner));
                }
            }
        }
        let otherwise = match empty.or(default) {
            Some(index) => way(index),
            None => vec![Statement::Return(self.wrong("", "no_beginning"))],
        };
        if wide.is_empty() {
            cases.push((vec![], otherwise));
            return Statement::Switch(call("in.peek", vec![]), cases);
        }
        let chain = wide
            .into_iter()
            .rev()
            .fold(otherwise, |otherwise, (set, index)| vec![Statement::If(within(&next, set), way(index), otherwise)]);
        cases.push((vec![], chain));
        let byte = Statement::Variable(Declarator::constant("int", &next), Initial::Value(call("in.peek", vec![])));
        Statement::Scope(vec![byte, Statement::Switch(Cpp::name(next), cases)])
    }
}

/// What follows where this byte is known to be next: a literal that is only that byte needs no second look, but that
/// the message may have it.
fn passing(byte: u8, mut way: Vec<Statement>) -> Vec<Statement> {
    let wanted = Cpp::name(literal(&[byte]));
    let is_it = |read: &Cpp| {
        matches!(read, Cpp::Call(function, given)
            if **function == Cpp::name("in.literal") && given.first() == Some(&wanted))
    };
    // Before it stands which way was chosen.
    if let Some(Statement::Unless(read, _)) = way.get_mut(1)
        && is_it(read)
    {
        *read = call("in.passes", vec![wanted]);
    }
    way
}

/// How many bytes are labels of a case; more are asked for by comparisons.
const MOST_LABELS: usize = 8;
