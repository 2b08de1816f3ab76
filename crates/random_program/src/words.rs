//! The expressions of random bodies: numbers, which are `int64`, what is true or false, and texts.

use crate::model::{Parameter, Type};
use crate::random::Random;
use crate::script::{BOUND, Kit, Scope};

/// A number; what does not fit an `int64`, and what divides by zero, fails.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Constant(i64),
    /// An input that is a number or a text, as a number below [`BOUND`].
    Input(usize),
    Variable(usize),
    /// The element of the loop at this depth, from 0, and whether it is a text.
    Element(usize, bool),
    /// Two numbers, joined by one of `+ - * / %`.
    Joined(char, Box<[Self; 2]>),
    /// `-n`
    Negated(Box<Self>),
    /// `c ? n : m`
    Chosen(Box<(Condition, Self, Self)>),
    /// `sum`, `min`, `max` or `length` of what is made of these elements, of those for which the condition holds.
    Aggregate(&'static str, Vec<i64>, Box<(Self, Condition)>),
    /// `length(t)`
    Length(Box<Words>),
    /// `position(t, u)`
    Position(Box<[Words; 2]>),
    /// `[a, b, c][n]`
    At(Vec<i64>, Box<Self>),
    /// `get(["1": a, "2": b], t, c)`
    Lookup(Vec<i64>, Box<Words>, i64),
    /// `int64(float64(n) / 4)`
    Quarter(Box<Self>),
    /// `pair(first: n, second: m).second`
    Second(Box<[Self; 2]>),
    /// `One0(n, m)`, of helpers the one at this index.
    Called(usize, Box<[Self; 2]>),
}

/// What is true or false.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// `n < m`, or with another comparison.
    Compared(&'static str, Box<[Number; 2]>),
    /// `contains(t, u)`, `starts_with(t, u)` or `ends_with(t, u)`.
    Has(&'static str, Box<[Words; 2]>),
    Not(Box<Self>),
    /// `c && d` or `c || d`
    Both(&'static str, Box<[Self; 2]>),
    /// `any` or `all` of these elements.
    Some(&'static str, Vec<i64>, Box<Self>),
    /// An input that is a `bool`.
    Input(usize),
}

/// A text.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// `text(n)`
    Digits(Box<Number>),
    /// `t + u`
    Joined(Box<[Self; 2]>),
    /// `t[1..3]`
    Slice(Box<Self>, usize, usize),
    /// `trim(" " + upper(t) + " ")`, which is the same.
    Trimmed(Box<Self>),
    /// `join(split(t, "1"), "72")`
    Replaced(Box<Self>),
}

/// A constant alone is folded with others; this one is a value like those of a program.
fn constant(number: i64) -> String {
    format!("int64(text({number}))")
}

fn list(elements: &[i64]) -> String {
    let elements: Vec<_> = elements.iter().map(|element| format!("int64({element})")).collect();
    format!("[{}]", elements.join(", "))
}

fn some(random: &mut Random) -> Vec<i64> {
    (0..random.between(1, 3)).map(|_| random.below(100) as i64).collect()
}

impl Number {
    /// A random one that is a remainder, and so mostly small.
    pub(crate) fn bounded(random: &mut Random, kit: &Kit<'_>) -> Self {
        let bound = random.choose(&[7, 1000, BOUND as i64]).unwrap_or(7);
        let number = Self::any(random, kit, 3);
        number.below(bound)
    }

    /// The remainder of this number, which is not below zero.
    fn below(self, bound: i64) -> Self {
        let (number, bound) = (self, Self::Constant(bound));
        let below = Self::Joined('%', Box::new([number, bound.clone()]));
        Self::Joined('%', Box::new([Self::Joined('+', Box::new([below, bound.clone()])), bound]))
    }

    pub(crate) fn any(random: &mut Random, kit: &Kit<'_>, depth: usize) -> Self {
        let one = |random: &mut Random| Box::new(Self::any(random, kit, depth - 1));
        let two = |random: &mut Random| Box::new([*one(random), *one(random)]);
        match random.below(if depth == 0 { 4 } else { 21 }) {
            0 | 4 => Self::input(random, kit),
            1 if kit.variables > 0 => Self::Variable(random.below(kit.variables)),
            2 if !kit.loops.is_empty() => {
                let at = random.below(kit.loops.len());
                Self::Element(at, kit.loops.get(at) == Some(&true))
            }
            1..=3 => Self::Constant(random.below(20) as i64),
            5 => Self::Negated(one(random)),
            6 | 7 => {
                let inner = kit.inner();
                let name = random.choose(&["sum", "sum", "length", "length", "min", "max"]).unwrap_or("sum");
                let number = Self::any(random, &inner, depth - 1);
                Self::Aggregate(name, some(random), Box::new((number, Condition::any(random, &inner, depth - 1))))
            }
            8 => Self::Length(Box::new(Words::any(random, kit, depth - 1))),
            9 => {
                let (words, part) = (Words::any(random, kit, depth - 1), Words::short(random));
                // Mostly it is there.
                let is_there = random.chance(900);
                let words = if is_there { Words::Joined(Box::new([words, part.clone()])) } else { words };
                Self::Position(Box::new([words, part]))
            }
            10 => {
                let elements = some(random);
                let most = elements.len() as i64 + i64::from(random.chance(100));
                Self::At(elements, Box::new(one(random).below(most)))
            }
            11 => Self::Lookup(some(random), Box::new(Words::short_of(random, kit, depth - 1)), 70),
            20 => Self::Chosen(Box::new((Condition::any(random, kit, depth - 1), *one(random), *one(random)))),
            12 => Self::Quarter(one(random)),
            13 => Self::Second(two(random)),
            14 | 15 => match kit.callable(random) {
                Some(at) => Self::Called(at, Box::new([one(random).below(1000), one(random).below(BOUND as i64)])),
                None => Self::input(random, kit),
            },
            _ => {
                let symbol = random.choose(&['+', '-', '*', '/', '%']).unwrap_or('+');
                let (left, mut right) = (*one(random), *one(random));
                if matches!(symbol, '/' | '%') && random.chance(800) {
                    right = Self::Constant(random.between(1, 9) as i64);
                }
                Self::Joined(symbol, Box::new([left, right]))
            }
        }
    }

    fn input(random: &mut Random, kit: &Kit<'_>) -> Self {
        let is_number = |one: &Parameter| matches!(one.ty, Type::Integer | Type::Wide | Type::Text);
        let numbers: Vec<usize> =
            (0..kit.inputs.len()).filter(|at| kit.inputs.get(*at).is_some_and(is_number)).collect();
        random.choose(&numbers).map_or(Self::Constant(3), Self::Input)
    }

    /// As Flux, in so many loops.
    pub(crate) fn text(&self, inputs: &[Parameter], depth: usize) -> String {
        let of = |one: &Self| one.text(inputs, depth);
        match self {
            Self::Constant(number) => constant(*number),
            Self::Input(at) => {
                let Some(input) = inputs.get(*at) else { return constant(0) };
                match input.ty {
                    Type::Integer => format!("int64({})", input.name),
                    Type::Text => format!("int64(uint64({}) % {BOUND})", input.name),
                    _ => format!("int64({} % {BOUND})", input.name),
                }
            }
            Self::Variable(variable) => format!("a{variable}"),
            Self::Element(at, false) => format!("x{}", at + 1),
            Self::Element(at, true) => format!("int64(uint64(x{}) % {BOUND})", at + 1),
            Self::Joined(symbol, two) => {
                let [left, right] = two.each_ref().map(of);
                format!("({left} {symbol} {right})")
            }
            Self::Negated(one) => format!("(-{})", of(one)),
            Self::Chosen(it) => format!("({} ? {} : {})", it.0.text(inputs, depth), of(&it.1), of(&it.2)),
            Self::Aggregate(name, elements, made) => {
                let (number, condition) = &**made;
                let (x, number, condition) =
                    (depth + 1, number.text(inputs, depth + 1), condition.text(inputs, depth + 1));
                let all = format!("{name}([for x{x} in {} if {condition} : {number}])", list(elements));
                if *name == "length" { format!("int64({all})") } else { all }
            }
            Self::Length(words) => format!("int64(length({}))", words.text(inputs, depth)),
            Self::Position(two) => {
                let [text, part] = two.each_ref().map(|one| one.text(inputs, depth));
                format!("int64(position({text}, {part}))")
            }
            Self::At(elements, at) => format!("{}[{}]", list(elements), of(at)),
            Self::Lookup(values, key, other) => {
                let entries: Vec<_> =
                    (1..).zip(values).map(|(key, value)| format!("\"{key}\": {}", constant(*value))).collect();
                format!("get([{}], {}, {})", entries.join(", "), key.text(inputs, depth), constant(*other))
            }
            Self::Quarter(one) => format!("int64(float64({}) / 4)", of(one)),
            Self::Second(two) => {
                let [first, second] = two.each_ref().map(of);
                format!("pair(first: {first}, second: {second}).second")
            }
            Self::Called(at, two) => {
                let [one, other] = two.each_ref().map(|one| format!("uint64({})", of(one)));
                format!("One{at}({one}, {other})")
            }
        }
    }

    /// What it is; none where it fails.
    pub(crate) fn value(&self, scope: Scope<'_>) -> Option<i64> {
        let two = |[left, right]: &[Self; 2]| Some((left.value(scope)?, right.value(scope)?));
        match self {
            Self::Constant(number) => Some(*number),
            Self::Input(at) => scope.inputs.get(*at).map(|(input, bits, _)| match input.ty {
                Type::Integer => i64::from(*bits as u32 as i32),
                _ => (bits % BOUND) as i64,
            }),
            Self::Variable(variable) => scope.variables.get(*variable).copied(),
            Self::Element(at, _) => scope.elements.get(*at).copied(),
            Self::Joined(symbol, both) => {
                let (left, right) = two(both)?;
                match symbol {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
            }
            Self::Negated(one) => one.value(scope)?.checked_neg(),
            Self::Chosen(it) => if it.0.holds(scope)? { &it.1 } else { &it.2 }.value(scope),
            Self::Aggregate(name, elements, made) => {
                let mut values = vec![];
                for element in elements {
                    let all = [scope.elements, &[*element]].concat();
                    let inner = Scope { elements: &all, ..scope };
                    if made.1.holds(inner)? {
                        values.push(made.0.value(inner)?);
                    }
                }
                match *name {
                    "sum" => values.into_iter().try_fold(0, i64::checked_add),
                    "min" => values.into_iter().min(),
                    "max" => values.into_iter().max(),
                    _ => i64::try_from(values.len()).ok(),
                }
            }
            Self::Length(words) => i64::try_from(words.value(scope)?.len()).ok(),
            Self::Position(two) => {
                let [text, part] = &**two;
                let (text, part) = (text.value(scope)?, part.value(scope)?);
                text.find(&part).and_then(|at| i64::try_from(at).ok())
            }
            Self::At(elements, at) => elements.get(usize::try_from(at.value(scope)?).ok()?).copied(),
            Self::Lookup(values, key, other) => {
                let key = key.value(scope)?;
                let found = (1..).zip(values).find(|(at, _): &(u64, _)| at.to_string() == key);
                Some(found.map_or(*other, |(_, value)| *value))
            }
            Self::Quarter(one) => {
                let quarter = (one.value(scope)? as f64 / 4.0).trunc();
                // A quarter of what 64 bits hold is never too large.
                Some(quarter as i64)
            }
            Self::Second(both) => two(both).map(|(_, second)| second),
            Self::Called(at, both) => {
                let (one, other) = two(both)?;
                let values = [u64::try_from(one).ok()?, u64::try_from(other).ok()?];
                scope.helpers.get(*at)?.call(scope.helpers, *at, values)?.first().copied()
            }
        }
    }
}

impl Condition {
    pub(crate) fn any(random: &mut Random, kit: &Kit<'_>, depth: usize) -> Self {
        let numbers = |random: &mut Random| {
            Box::new([Number::any(random, kit, depth.min(1)), Number::any(random, kit, depth.min(1))])
        };
        let flags: Vec<usize> =
            (0..kit.inputs.len()).filter(|at| kit.inputs.get(*at).is_some_and(|one| one.ty == Type::Flag)).collect();
        match random.below(if depth == 0 { 3 } else { 9 }) {
            3 => Self::Not(Box::new(Self::any(random, kit, depth - 1))),
            4 | 5 => {
                let symbol = random.choose(&["&&", "||"]).unwrap_or("&&");
                Self::Both(symbol, Box::new([Self::any(random, kit, depth - 1), Self::any(random, kit, depth - 1)]))
            }
            6 => {
                let name = random.choose(&["any", "all"]).unwrap_or("any");
                Self::Some(name, some(random), Box::new(Self::any(random, &kit.inner(), depth - 1)))
            }
            7 => {
                let name = random.choose(&["contains", "starts_with", "ends_with"]).unwrap_or("contains");
                Self::Has(name, Box::new([Words::any(random, kit, depth - 1), Words::short(random)]))
            }
            1 if !flags.is_empty() => Self::Input(random.choose(&flags).unwrap_or_default()),
            _ => Self::Compared(random.choose(&["<", "<=", "==", "!=", ">", ">="]).unwrap_or("<"), numbers(random)),
        }
    }

    /// One that seldom holds.
    pub(crate) fn rare(random: &mut Random, kit: &Kit<'_>) -> Self {
        let modulus = random.between(10, 30) as i64;
        let remainder = Number::Joined('%', Box::new([Number::input(random, kit), Number::Constant(modulus)]));
        Self::Compared("==", Box::new([remainder, Number::Constant(random.below(10) as i64)]))
    }

    pub(crate) fn text(&self, inputs: &[Parameter], depth: usize) -> String {
        match self {
            Self::Compared(symbol, two) => {
                let [left, right] = two.each_ref().map(|one| one.text(inputs, depth));
                format!("{left} {symbol} {right}")
            }
            Self::Has(name, two) => {
                let [text, part] = two.each_ref().map(|one| one.text(inputs, depth));
                format!("{name}({text}, {part})")
            }
            Self::Not(one) => format!("!({})", one.text(inputs, depth)),
            Self::Both(symbol, two) => {
                let [left, right] = two.each_ref().map(|one| one.text(inputs, depth));
                format!("({left}) {symbol} ({right})")
            }
            Self::Some(name, elements, one) => {
                let (x, one) = (depth + 1, one.text(inputs, depth + 1));
                format!("{name}([for x{x} in {} : {one}])", list(elements))
            }
            Self::Input(at) => inputs.get(*at).map_or(String::new(), |input| input.name.clone()),
        }
    }

    pub(crate) fn holds(&self, scope: Scope<'_>) -> Option<bool> {
        match self {
            Self::Compared(symbol, two) => {
                let [left, right] = &**two;
                let (left, right) = (left.value(scope)?, right.value(scope)?);
                Some(match *symbol {
                    "<" => left < right,
                    "<=" => left <= right,
                    "==" => left == right,
                    "!=" => left != right,
                    ">" => left > right,
                    _ => left >= right,
                })
            }
            Self::Has(name, two) => {
                let [text, part] = &**two;
                let (text, part) = (text.value(scope)?, part.value(scope)?);
                Some(match *name {
                    "contains" => text.contains(&part),
                    "starts_with" => text.starts_with(&part),
                    _ => text.ends_with(&part),
                })
            }
            Self::Not(one) => one.holds(scope).map(|holds| !holds),
            // The right side counts, and may fail, only where the left one does not decide.
            Self::Both(symbol, two) => {
                let [left, right] = &**two;
                let left = left.holds(scope)?;
                if left == (*symbol == "||") { Some(left) } else { right.holds(scope) }
            }
            Self::Some(name, elements, one) => {
                for element in elements {
                    let all = [scope.elements, &[*element]].concat();
                    let holds = one.holds(Scope { elements: &all, ..scope })?;
                    if holds == (*name == "any") {
                        return Some(holds);
                    }
                }
                Some(*name == "all")
            }
            Self::Input(at) => scope.inputs.get(*at).map(|(_, bits, _)| bits & 1 == 1),
        }
    }
}

impl Words {
    pub(crate) fn any(random: &mut Random, kit: &Kit<'_>, depth: usize) -> Self {
        let one = |random: &mut Random| Box::new(Self::any(random, kit, depth - 1));
        match random.below(if depth == 0 { 1 } else { 6 }) {
            2 => Self::Joined(Box::new([*one(random), Self::short(random)])),
            3 => {
                let words = Self::Joined(Box::new([*one(random), Self::short(random)]));
                Self::Slice(Box::new(words), 0, random.between(1, 2))
            }
            4 => Self::Trimmed(one(random)),
            5 => Self::Replaced(one(random)),
            _ => Self::Digits(Box::new(Number::any(random, kit, depth.min(1)))),
        }
    }

    /// A digit.
    fn short(random: &mut Random) -> Self {
        Self::Digits(Box::new(Number::Constant(random.below(10) as i64)))
    }

    /// Mostly a digit.
    fn short_of(random: &mut Random, kit: &Kit<'_>, depth: usize) -> Self {
        let five = Number::Constant(5);
        Self::Digits(Box::new(Number::Joined('%', Box::new([Number::any(random, kit, depth), five]))))
    }

    pub(crate) fn text(&self, inputs: &[Parameter], depth: usize) -> String {
        let of = |one: &Self| one.text(inputs, depth);
        match self {
            Self::Digits(number) => format!("text({})", number.text(inputs, depth)),
            Self::Joined(two) => {
                let [left, right] = two.each_ref().map(of);
                format!("({left} + {right})")
            }
            Self::Slice(one, from, to) => format!("({})[{from}..{to}]", of(one)),
            Self::Trimmed(one) => format!("trim(\" \" + upper({}) + \" \")", of(one)),
            Self::Replaced(one) => format!("join(split({}, \"1\"), \"72\")", of(one)),
        }
    }

    pub(crate) fn value(&self, scope: Scope<'_>) -> Option<String> {
        match self {
            Self::Digits(number) => Some(number.value(scope)?.to_string()),
            Self::Joined(two) => {
                let [left, right] = &**two;
                Some(left.value(scope)? + &right.value(scope)?)
            }
            Self::Slice(one, from, to) => one.value(scope)?.get(*from..*to).map(str::to_owned),
            Self::Trimmed(one) => one.value(scope),
            Self::Replaced(one) => Some(one.value(scope)?.replace('1', "72")),
        }
    }
}

impl Kit<'_> {
    /// What can be drawn in one more loop.
    fn inner(&self) -> Self {
        let mut inner = self.clone();
        inner.loops.push(false);
        inner
    }

    /// A helper that can be called in an expression.
    fn callable(&self, random: &mut Random) -> Option<usize> {
        let gives_one = |at: &usize| self.helpers.get(*at).is_some_and(|one| one.gives.len() == 1);
        let callable: Vec<_> = (0..self.helpers.len()).filter(gives_one).collect();
        random.choose(&callable)
    }
}
