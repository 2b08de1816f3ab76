//! What computed predicates say: random formulas over whole numbers, written as Flux and computed a second time here,
//! by code that shares nothing with the compiler.

use crate::random::Random;

/// A number that is computed of another, as an `int64`; what does not fit that, and what divides by zero, fails.
#[derive(Clone, Debug)]
pub enum Formula {
    /// The number that is asked about.
    Asked,
    /// The element of the sum around it.
    Element,
    /// A number, which is not negative.
    Constant(i64),
    /// Two numbers, joined by one of `+ - * / %`.
    Joined(char, Box<[Self; 2]>),
    /// The sum over these elements of a formula of each, where it is not below the other one.
    Sum(Vec<i64>, Box<[Self; 2]>),
}

/// Whether one formula is below another.
#[derive(Clone, Debug)]
pub struct Comparison(pub [Formula; 2]);

impl Comparison {
    /// A random one.
    pub(crate) fn any(random: &mut Random) -> Self {
        // Remainders keep both close to each other, so that either outcome is likely.
        let remainder = |random: &mut Random| {
            let (inner, modulus) = (Formula::any(random, 3, false), Formula::Constant(random.between(2, 9) as i64));
            Formula::Joined('%', Box::new([inner, modulus]))
        };
        Self([remainder(random), remainder(random)])
    }

    /// What it says of a number; none where it fails.
    pub fn holds(&self, asked: i128) -> Option<bool> {
        let [left, right] = &self.0;
        Some(left.value(asked, None)? < right.value(asked, None)?)
    }

    /// The body of a predicate whose input is `name`.
    pub fn text(&self, name: &str) -> String {
        let [left, right] = &self.0;
        let name = format!("int64({name})");
        format!("{} < {}", left.text(&name, 0), right.text(&name, 0))
    }
}

impl Formula {
    fn any(random: &mut Random, depth: usize, in_sum: bool) -> Self {
        let two = |random: &mut Random, in_sum| {
            Box::new([Self::any(random, depth - 1, in_sum), Self::any(random, depth - 1, in_sum)])
        };
        match random.below(if depth == 0 { 3 } else { 8 }) {
            0 => Self::Constant(random.below(20) as i64),
            1 if in_sum => Self::Element,
            1 | 2 => Self::Asked,
            7 => Self::Sum((0..random.below(4)).map(|_| random.below(100) as i64).collect(), two(random, true)),
            _ => Self::Joined(random.choose(&['+', '-', '*', '/', '%']).unwrap_or('+'), two(random, in_sum)),
        }
    }

    fn value(&self, asked: i128, element: Option<i64>) -> Option<i64> {
        match self {
            Self::Asked => i64::try_from(asked).ok(),
            Self::Element => element,
            Self::Constant(number) => Some(*number),
            Self::Joined(symbol, two) => {
                let [left, right] = two.each_ref().map(|one| one.value(asked, element));
                let (left, right) = (left?, right?);
                match symbol {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
            }
            Self::Sum(elements, two) => {
                let [value, least] = &**two;
                let mut sum = 0_i64;
                for element in elements {
                    let least = least.value(asked, Some(*element))?;
                    if *element >= least {
                        sum = sum.checked_add(value.value(asked, Some(*element))?)?;
                    }
                }
                Some(sum)
            }
        }
    }

    /// As Flux; `depth` is how many sums are around it, by which their elements are called.
    fn text(&self, asked: &str, depth: usize) -> String {
        match self {
            Self::Asked => asked.to_owned(),
            Self::Element => format!("x{depth}"),
            // A constant alone is folded with others; this one is a value like those of a program.
            Self::Constant(number) => format!("int64(text({number}))"),
            Self::Joined(symbol, two) => {
                let [left, right] = &**two;
                format!("({} {symbol} {})", left.text(asked, depth), right.text(asked, depth))
            }
            Self::Sum(elements, two) => {
                let [value, least] = two.each_ref().map(|one| one.text(asked, depth + 1));
                let elements: Vec<_> = elements.iter().map(|element| format!("int64({element})")).collect();
                let (own, all) = (depth + 1, elements.join(", "));
                match elements.is_empty() {
                    // Of what type the elements of none are, nothing says.
                    true => Self::Constant(0).text(asked, depth),
                    false => format!("sum([for x{own} in [{all}] if x{own} >= {least} : {value}])"),
                }
            }
        }
    }
}
