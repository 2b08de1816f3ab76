//! What computed nodes do: random bodies, written as Flux and run a second time here, by code that shares nothing with
//! the compiler.
//!
//! A body computes with `int64`, texts of digits and `bool`. What it gives of another type is an input as it is.

use crate::list::Item;
use crate::model::{Parameter, Type};
use crate::random::Random;
use crate::words::{Condition, Number, Words};

/// Numbers that inputs stand for are below this, so that most of what is computed of them does not overflow.
pub(crate) const BOUND: u64 = 1_000_003;

/// A body.
#[derive(Clone, Debug)]
pub struct Script {
    /// What is done first.
    statements: Vec<Statement>,
    /// What each output is.
    outputs: Vec<Given>,
}

/// A statement. Variables are numbers, and called `a0`, `a1`, in the order in which they begin.
#[derive(Clone, Debug)]
enum Statement {
    /// `let a0 = …;`
    Let(Number),
    /// `let (a0, a1) = Both0(…, …);`
    Take(usize, [Number; 2]),
    /// `a0 = …;`
    Set(usize, Number),
    /// `if … { … } else { … }`
    If(Condition, Vec<Self>, Vec<Self>),
    /// `for x1 in [1, 2] { … }`
    For(Vec<i64>, Vec<Self>),
    /// The same, through an input that is a list of texts.
    ForTexts(usize, Vec<Self>),
    /// `if … { fail 7; }`
    Fail(Condition, u64),
}

/// What an output is.
#[derive(Clone, Debug)]
enum Given {
    /// The input of its name.
    Unchanged,
    /// Another input.
    Input(usize),
    /// A whole number of its type.
    Number(Number),
    Truth(Condition),
    /// Digits.
    Text(Words),
}

/// A computed node that only bodies call: `One0 (int64 p, int64 q) => (int64 r) { … };`
#[derive(Clone, Debug)]
pub struct Helper {
    /// What it gives: one value, where it is called in expressions, or two.
    pub(crate) gives: Vec<Number>,
}

/// What is there to compute with.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// The inputs with their bits; the elements of those that are lists.
    pub inputs: &'a [(Parameter, u64, Vec<u64>)],
    pub helpers: &'a [Helper],
    pub variables: &'a [i64],
    /// Those of the loops around, the outermost first.
    pub elements: &'a [i64],
}

/// What can be drawn.
#[derive(Clone)]
pub(crate) struct Kit<'a> {
    pub inputs: &'a [Parameter],
    pub helpers: &'a [Helper],
    pub variables: usize,
    /// For each loop around whether its elements are texts.
    pub loops: Vec<bool>,
}

/// The helpers of a program: of each two one gives one value, and one two.
pub(crate) fn helpers(random: &mut Random) -> Vec<Helper> {
    let inputs = ["p", "q"].map(|name| Parameter { ty: Type::Wide, name: name.to_owned() });
    let mut helpers: Vec<Helper> = vec![];
    for count in [1, 2, 1, 2] {
        let kit = Kit { inputs: &inputs, helpers: &helpers, variables: 0, loops: vec![] };
        let gives = (0..count).map(|_| Number::any(random, &kit, 2)).collect();
        helpers.push(Helper { gives });
    }
    helpers
}

impl Helper {
    /// The statement that declares the one at `index`.
    pub(crate) fn text(&self, index: usize) -> String {
        let inputs = ["p", "q"].map(|name| Parameter { ty: Type::Wide, name: name.to_owned() });
        let names = ["r", "s"];
        let outputs: Vec<_> = self.gives.iter().zip(names).map(|(_, name)| format!("int64 {name}")).collect();
        let set = |(number, name): (&Number, &str)| format!("{name} = {};", number.text(&inputs, 0));
        let sets: Vec<_> = self.gives.iter().zip(names).map(set).collect();
        let (name, outputs) = (self.name(index), outputs.join(", "));
        format!("{name} (uint64 p, uint64 q) => ({outputs}) {{ {} }};", sets.join(" "))
    }

    pub(crate) fn name(&self, index: usize) -> String {
        format!("{}{index}", if self.gives.len() == 1 { "One" } else { "Both" })
    }

    /// What it gives, the one at `index`; none where it fails.
    pub(crate) fn call(&self, helpers: &[Self], index: usize, values: [u64; 2]) -> Option<Vec<i64>> {
        let input = |value: u64| (Parameter { ty: Type::Wide, name: String::new() }, value, vec![]);
        let inputs = values.map(input);
        let helpers = helpers.get(..index)?;
        let scope = Scope { inputs: &inputs, helpers, variables: &[], elements: &[] };
        self.gives.iter().map(|number| number.value(scope)).collect()
    }
}

impl Script {
    /// A random body for a node with these inputs and outputs; none where an output cannot be computed.
    pub(crate) fn any(
        random: &mut Random,
        inputs: &[Parameter],
        outputs: &[Parameter],
        helpers: &[Helper],
    ) -> Option<Self> {
        let mut kit = Kit { inputs, helpers, variables: 0, loops: vec![] };
        let mut statements = vec![];
        for _ in 0..random.between(1, 4) {
            statements.push(Statement::any(random, &mut kit, 2));
        }
        let outputs = outputs.iter().enumerate().map(|(at, output)| Given::any(random, &kit, at, output));
        let outputs = outputs.collect::<Option<_>>()?;
        Some(Self { statements, outputs })
    }

    /// The statements as Flux.
    pub(crate) fn text(&self, inputs: &[Parameter], outputs: &[Parameter]) -> String {
        let (mut texts, mut variables) = (vec![], 0);
        for statement in &self.statements {
            texts.push(statement.text(inputs, &mut variables, 0));
        }
        for (given, output) in self.outputs.iter().zip(outputs) {
            let name = &output.name;
            texts.extend(match given {
                Given::Unchanged => None,
                Given::Input(at) => inputs.get(*at).map(|input| format!("{name} = {};", input.name)),
                Given::Number(number) => {
                    let number = number.text(inputs, 0);
                    let ty = if output.ty == Type::Wide { "uint64" } else { "int32" };
                    Some(format!("{name} = {ty}({number});"))
                }
                Given::Truth(condition) => Some(format!("{name} = {};", condition.text(inputs, 0))),
                Given::Text(words) => Some(format!("{name} = text(uint64({}) % {BOUND});", words.text(inputs, 0))),
            });
        }
        texts.join(" ")
    }

    /// The bits of the outputs.
    ///
    /// # Errors
    /// It fails with this code; 0 of one that is the runtime's.
    pub(crate) fn run(
        &self,
        inputs: &[(Parameter, u64, Vec<u64>)],
        outputs: &[Parameter],
        helpers: &[Helper],
    ) -> Result<Vec<u64>, u64> {
        let mut variables = vec![];
        run_all(&self.statements, inputs, helpers, &mut variables, &[])?;
        let scope = Scope { inputs, helpers, variables: &variables, elements: &[] };
        let give = |(given, output): (&Given, &Parameter)| match given {
            Given::Unchanged => inputs.iter().find(|(input, ..)| input == output).map(|(_, bits, _)| *bits),
            Given::Input(at) => inputs.get(*at).map(|(_, bits, _)| *bits),
            Given::Number(number) => match (number.value(scope)?, output.ty) {
                (number, Type::Wide) => u64::try_from(number).ok(),
                (number, _) => i32::try_from(number).ok().map(|number| u64::from(number as u32)),
            },
            Given::Truth(condition) => condition.holds(scope).map(u64::from),
            Given::Text(words) => words.value(scope)?.parse::<u64>().ok().map(|number| number % BOUND),
        };
        self.outputs.iter().zip(outputs).map(give).collect::<Option<_>>().ok_or(0)
    }
}

impl Given {
    fn any(random: &mut Random, kit: &Kit<'_>, at: usize, output: &Parameter) -> Option<Self> {
        let same = kit.inputs.iter().position(|input| input.ty == output.ty);
        let is_there = kit.inputs.contains(output);
        if at == 0 {
            return Some(if is_there { Self::Unchanged } else { Self::Input(0) });
        }
        let is_kept = is_there && random.chance(200);
        match output.ty {
            Type::Fragile | Type::Error => None,
            _ if is_kept => Some(Self::Unchanged),
            Type::Integer | Type::Wide => Some(Self::Number(Number::bounded(random, kit))),
            Type::Flag => Some(Self::Truth(Condition::any(random, kit, 2))),
            Type::Text => Some(Self::Text(Words::any(random, kit, 2))),
            _ if is_there => Some(Self::Unchanged),
            _ => same.map(Self::Input),
        }
    }
}

impl Statement {
    fn any(random: &mut Random, kit: &mut Kit<'_>, depth: usize) -> Self {
        let is_inside = depth < 2;
        let number = |random: &mut Random, kit: &Kit<'_>| Number::bounded(random, kit);
        let texts: Vec<_> = kit.inputs.iter().enumerate().filter(|(_, one)| one.ty == Type::List(Item::Text)).collect();
        let texts: Vec<usize> = texts.into_iter().map(|(at, _)| at).collect();
        let takes: Vec<usize> =
            (0..kit.helpers.len()).filter(|at| kit.helpers.get(*at).is_some_and(|one| one.gives.len() == 2)).collect();
        match random.below(if depth == 0 { 1 } else { 7 }) {
            // Inside of others no variable begins.
            0 | 1 if is_inside && kit.variables > 0 => {
                let value = number(random, kit);
                Self::Set(random.below(kit.variables), value)
            }
            2 if depth > 0 && kit.variables > 0 => {
                let condition = Condition::any(random, kit, 2);
                let then = vec![Self::any(random, kit, depth - 1)];
                let otherwise = if random.chance(500) { vec![Self::any(random, kit, depth - 1)] } else { vec![] };
                Self::If(condition, then, otherwise)
            }
            3 | 4 if depth > 0 && kit.variables > 0 => {
                let of_texts = random.choose(&texts);
                kit.loops.push(of_texts.is_some());
                let block = vec![Self::any(random, kit, depth - 1)];
                kit.loops.pop();
                match of_texts {
                    Some(at) => Self::ForTexts(at, block),
                    None => Self::For((0..random.between(1, 3)).map(|_| random.below(100) as i64).collect(), block),
                }
            }
            5 => Self::Fail(Condition::rare(random, kit), 1 + random.below(200) as u64),
            6 if !is_inside && !takes.is_empty() => {
                let two = [number(random, kit), number(random, kit)];
                kit.variables += 2;
                Self::Take(random.choose(&takes).unwrap_or_default(), two)
            }
            _ if is_inside => Self::Fail(Condition::rare(random, kit), 1 + random.below(200) as u64),
            _ => {
                let value = number(random, kit);
                kit.variables += 1;
                Self::Let(value)
            }
        }
    }

    fn text(&self, inputs: &[Parameter], variables: &mut usize, depth: usize) -> String {
        let mut block = |block: &[Self], depth| {
            let texts: Vec<_> = block.iter().map(|one| one.text(inputs, variables, depth)).collect();
            format!("{{ {} }}", texts.join(" "))
        };
        match self {
            Self::Set(variable, value) => format!("a{variable} = {};", value.text(inputs, depth)),
            Self::If(condition, then, otherwise) => {
                let (then, otherwise) = (block(then, depth), block(otherwise, depth));
                format!("if {} {then} else {otherwise}", condition.text(inputs, depth))
            }
            Self::For(elements, inner) => {
                let elements: Vec<_> = elements.iter().map(|element| format!("int64({element})")).collect();
                format!("for x{} in [{}] {}", depth + 1, elements.join(", "), block(inner, depth + 1))
            }
            Self::ForTexts(at, inner) => {
                let name = inputs.get(*at).map_or("", |input| &input.name);
                format!("for x{} in {name} {}", depth + 1, block(inner, depth + 1))
            }
            Self::Fail(condition, code) => format!("if {} {{ fail {code}; }}", condition.text(inputs, depth)),
            Self::Let(value) => {
                *variables += 1;
                format!("let a{} = {};", *variables - 1, value.text(inputs, depth))
            }
            Self::Take(helper, two) => {
                *variables += 2;
                let [one, other] = two.each_ref().map(|one| format!("uint64({})", one.text(inputs, depth)));
                let (first, second) = (*variables - 2, *variables - 1);
                format!("let (a{first}, a{second}) = Both{helper}({one}, {other});")
            }
        }
    }
}

/// Runs statements; fails with a code.
fn run_all(
    block: &[Statement],
    inputs: &[(Parameter, u64, Vec<u64>)],
    helpers: &[Helper],
    variables: &mut Vec<i64>,
    elements: &[i64],
) -> Result<(), u64> {
    for statement in block {
        let scope = Scope { inputs, helpers, variables, elements };
        match statement {
            Statement::Let(value) => {
                let value = value.value(scope).ok_or(0_u64)?;
                variables.push(value);
            }
            Statement::Take(helper, two) => {
                let [one, other] = two.each_ref().map(|one| one.value(scope).and_then(|one| u64::try_from(one).ok()));
                let given = helpers.get(*helper).zip(one.zip(other));
                let given = given.and_then(|(one, (first, second))| one.call(helpers, *helper, [first, second]));
                variables.extend(given.ok_or(0_u64)?);
            }
            Statement::Set(variable, value) => {
                let value = value.value(scope).ok_or(0_u64)?;
                if let Some(place) = variables.get_mut(*variable) {
                    *place = value;
                }
            }
            Statement::If(condition, then, otherwise) => {
                let holds = condition.holds(scope).ok_or(0_u64)?;
                run_all(if holds { then } else { otherwise }, inputs, helpers, variables, elements)?;
            }
            Statement::For(list, block) => {
                for element in list {
                    run_all(block, inputs, helpers, variables, &[elements, &[*element]].concat())?;
                }
            }
            Statement::ForTexts(at, block) => {
                for text in inputs.get(*at).map_or(&[][..], |(_, _, texts)| texts) {
                    let element = (text % BOUND) as i64;
                    run_all(block, inputs, helpers, variables, &[elements, &[element]].concat())?;
                }
            }
            Statement::Fail(condition, code) => {
                if condition.holds(scope).ok_or(0_u64)? {
                    return Err(*code);
                }
            }
        }
    }
    Ok(())
}
