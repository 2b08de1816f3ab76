//! Tokens: regular expressions over bytes, as an automaton that goes along byte by byte.
//!
//! The expressions are the usual ones: bytes, `.` for any, `[a-z]` and `[^ \r\n]`, `*`, `+`, `?`, `{2,8}`, `|` and
//! parentheses; a backslash before what has a meaning, and `\r`, `\n`, `\t`, `\0`, `\x1f`. A token is the longest text
//! that the expression allows. It ends at the first byte that cannot go on, and nothing is given back: so reading is
//! linear, and one byte after the token decides.
//!
//! The automaton is that of Glushkov (The abstract theory of automata, 1961), made deterministic: a state is the set of
//! places in the expression where its text may have come to.

use super::ByteSet;
use std::collections::{BTreeSet, HashMap};

/// How many places an expression may have, and how many states its automaton.
const LIMIT: usize = 256;

/// How deep parentheses may be in each other.
const DEPTH_LIMIT: usize = 32;

/// A regular expression, ready to read.
#[derive(Clone, Debug)]
pub struct Token {
    states: Vec<State>,
}

/// How far a token has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenState(u32);

#[derive(Clone, Debug)]
struct State {
    /// Which state each byte leads to.
    next: Vec<Option<TokenState>>,
    /// Whether the text so far is whole.
    accepts: bool,
}

/// Why a text is no expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenError {
    /// Where, in bytes.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

impl Token {
    /// The automaton of `expression`.
    ///
    /// # Errors
    ///
    /// What is no expression, and what is too large.
    pub fn new(expression: &str) -> Result<Self, TokenError> {
        let (reader, whole) = Reader::read(expression)?;
        determine(&reader, &whole)
    }

    /// The bytes that a token of `expression` may begin with, and whether it may have none; nothing of what is no
    /// expression. This makes no automaton.
    pub fn beginning(expression: &str) -> (ByteSet, bool) {
        let Ok((reader, whole)) = Reader::read(expression) else { return (ByteSet::new(), true) };
        let sets = whole.first.iter().filter_map(|place| reader.places.get(*place));
        (sets.fold(ByteSet::new(), |all, set| all.union(*set)), whole.is_empty)
    }

    /// Before the first byte.
    pub fn start(&self) -> TokenState {
        TokenState(0)
    }

    /// All states; the first is that of [`Token::start`].
    pub fn states(&self) -> impl Iterator<Item = TokenState> {
        (0..self.states.len()).map(|index| TokenState(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// After one more byte; none where the token cannot go on so.
    pub fn step(&self, state: TokenState, byte: u8) -> Option<TokenState> {
        *self.states.get(state.0 as usize)?.next.get(usize::from(byte))?
    }

    /// Whether the token is whole.
    pub fn accepts(&self, state: TokenState) -> bool {
        self.states.get(state.0 as usize).is_some_and(|state| state.accepts)
    }

    /// Whether no byte can go on.
    pub fn is_last(&self, state: TokenState) -> bool {
        self.states.get(state.0 as usize).is_none_or(|state| state.next.iter().all(Option::is_none))
    }

    /// Whether `text` is one.
    pub fn matches(&self, text: &[u8]) -> bool {
        let end = text.iter().try_fold(self.start(), |state, byte| self.step(state, *byte));
        end.is_some_and(|end| self.accepts(end))
    }

    /// The number of a state, from 0.
    pub fn number(&self, state: TokenState) -> u32 {
        state.0
    }

    /// Whether it may be as long as one likes.
    pub fn is_unbounded(&self) -> bool {
        // Depth first: a way back to an open state is a circle.
        let (mut done, mut on_way) = (BTreeSet::new(), BTreeSet::from([0]));
        let mut open = vec![(0_u32, self.successors(0))];
        while let Some((state, rest)) = open.last_mut() {
            match rest.pop() {
                Some(next) if on_way.contains(&next) => return true,
                Some(next) if !done.contains(&next) => {
                    on_way.insert(next);
                    open.push((next, self.successors(next)));
                }
                Some(_) => {}
                None => {
                    done.insert(*state);
                    on_way.remove(state);
                    open.pop();
                }
            }
        }
        false
    }

    fn successors(&self, state: u32) -> Vec<u32> {
        let next = self.states.get(state as usize).map(|state| state.next.as_slice()).unwrap_or_default();
        next.iter().flatten().map(|state| state.0).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A part of an expression: the places that it may begin and end with, and whether it may be empty.
#[derive(Clone, Default)]
struct Part {
    is_empty: bool,
    first: BTreeSet<usize>,
    last: BTreeSet<usize>,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The bytes at each place.
    places: Vec<ByteSet>,
    /// The places that may follow each.
    follow: Vec<BTreeSet<usize>>,
}

impl<'a> Reader<'a> {
    /// The places of `expression`, and the whole of it.
    fn read(expression: &'a str) -> Result<(Self, Part), TokenError> {
        let mut reader = Self { bytes: expression.as_bytes(), at: 0, places: vec![], follow: vec![] };
        let whole = reader.choice(0)?;
        match reader.at < reader.bytes.len() {
            true => Err(reader.error("this `)` closes nothing")),
            false => Ok((reader, whole)),
        }
    }

    fn error(&self, message: &str) -> TokenError {
        TokenError { at: self.at.min(self.bytes.len()), message: message.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// `a|b`
    fn choice(&mut self, depth: usize) -> Result<Part, TokenError> {
        if depth > DEPTH_LIMIT {
            return Err(self.error("the parentheses are too deep in each other"));
        }
        let mut whole = self.sequence(depth)?;
        while self.take(b'|') {
            let other = self.sequence(depth)?;
            whole.is_empty |= other.is_empty;
            whole.first.extend(other.first);
            whole.last.extend(other.last);
        }
        Ok(whole)
    }

    fn sequence(&mut self, depth: usize) -> Result<Part, TokenError> {
        let mut whole = Part { is_empty: true, ..Part::default() };
        while let Some(byte) = self.peek() {
            if matches!(byte, b'|' | b')') {
                break;
            }
            let part = self.repeated(depth)?;
            whole = self.join(whole, part);
        }
        Ok(whole)
    }

    fn join(&mut self, left: Part, right: Part) -> Part {
        for place in &left.last {
            if let Some(follow) = self.follow.get_mut(*place) {
                follow.extend(&right.first);
            }
        }
        let mut whole = Part { is_empty: left.is_empty && right.is_empty, ..Part::default() };
        whole.first.extend(left.first);
        if left.is_empty {
            whole.first.extend(&right.first);
        }
        whole.last.extend(right.last);
        if right.is_empty {
            whole.last.extend(left.last);
        }
        whole
    }

    /// One thing, and how often.
    fn repeated(&mut self, depth: usize) -> Result<Part, TokenError> {
        let start = self.at;
        let one = self.one(depth)?;
        let (least, most) = match self.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => {
                self.at += 1;
                return self.counted(start, depth, &one);
            }
            _ => return Ok(one),
        };
        self.at += 1;
        if most.is_none() {
            for place in &one.last {
                if let Some(follow) = self.follow.get_mut(*place) {
                    follow.extend(&one.first);
                }
            }
        }
        Ok(Part { is_empty: one.is_empty || least == 0, ..one })
    }

    /// `{2}`, `{2,}` and `{2,8}` after what begins at `start`, which is read again for each time.
    fn counted(&mut self, start: usize, depth: usize, one: &Part) -> Result<Part, TokenError> {
        // Each time takes a place, of which there are not many.
        if one.first.is_empty() {
            return Err(self.error("there is nothing here to repeat"));
        }
        let least = self.number()?;
        let mut most = Some(least);
        if self.take(b',') {
            most = if self.peek() == Some(b'}') { None } else { Some(self.number()?) };
        }
        if !self.take(b'}') || most.is_some_and(|most| most < least || most == 0) {
            return Err(self.error("write `{2}`, `{2,8}` or `{2,}`"));
        }
        let end = self.at;
        let mut whole = Part { is_empty: true, ..Part::default() };
        for time in 0..most.unwrap_or(least + 1) {
            self.at = start;
            let mut part = self.one(depth)?;
            let is_rest = most.is_none() && time == least;
            if is_rest {
                for place in &part.last {
                    if let Some(follow) = self.follow.get_mut(*place) {
                        follow.extend(&part.first);
                    }
                }
            }
            part.is_empty |= time >= least;
            whole = self.join(whole, part);
        }
        self.at = end;
        Ok(whole)
    }

    fn number(&mut self) -> Result<usize, TokenError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.bytes.get(start..self.at).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| *number <= LIMIT);
        number.ok_or_else(|| self.error("a number up to 256 is wanted here"))
    }

    fn one(&mut self, depth: usize) -> Result<Part, TokenError> {
        let Some(byte) = self.peek() else { return Err(self.error("the expression ends too early")) };
        match byte {
            b'(' => {
                self.at += 1;
                let inner = self.choice(depth + 1)?;
                if !self.take(b')') {
                    return Err(self.error("a `)` is missing"));
                }
                Ok(inner)
            }
            b'*' | b'+' | b'?' | b'{' => Err(self.error("there is nothing here to repeat")),
            b'[' => {
                let set = self.class()?;
                self.place(set)
            }
            b'.' => {
                self.at += 1;
                self.place(ByteSet::ALL)
            }
            _ => {
                let byte = self.byte()?;
                self.place(ByteSet::of(byte))
            }
        }
    }

    fn place(&mut self, set: ByteSet) -> Result<Part, TokenError> {
        if self.places.len() >= LIMIT {
            return Err(self.error("the expression is too long"));
        }
        if set.is_empty() {
            return Err(self.error("no byte is in this set"));
        }
        let place = BTreeSet::from([self.places.len()]);
        self.places.push(set);
        self.follow.push(BTreeSet::new());
        Ok(Part { is_empty: false, first: place.clone(), last: place })
    }

    /// A byte, which may be written with a backslash.
    fn byte(&mut self) -> Result<u8, TokenError> {
        let Some(byte) = self.peek() else { return Err(self.error("the expression ends too early")) };
        self.at += 1;
        if byte != b'\\' {
            return Ok(byte);
        }
        let Some(escaped) = self.peek() else { return Err(self.error("nothing follows the backslash")) };
        self.at += 1;
        Ok(match escaped {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'0' => 0,
            b'x' => {
                let digits = self.bytes.get(self.at..self.at + 2).and_then(|digits| std::str::from_utf8(digits).ok());
                let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let value = value.ok_or_else(|| self.error("two hexadecimal digits follow `\\x`"))?;
                self.at += 2;
                value
            }
            letter if letter.is_ascii_alphanumeric() => return Err(self.error("this letter has no meaning here")),
            other => other,
        })
    }

    /// `[a-z]`
    fn class(&mut self) -> Result<ByteSet, TokenError> {
        self.at += 1;
        let is_negated = self.take(b'^');
        let mut set = ByteSet::new();
        while !self.take(b']') {
            if self.peek().is_none() {
                return Err(self.error("a `]` is missing"));
            }
            let low = self.byte()?;
            let is_range = self.peek() == Some(b'-') && self.bytes.get(self.at + 1).is_some_and(|end| *end != b']');
            let high = if is_range {
                self.at += 1;
                self.byte()?
            } else {
                low
            };
            if high < low {
                return Err(self.error("this range ends before it begins"));
            }
            set = set.union((low..=high).collect());
        }
        Ok(if is_negated { set.complement() } else { set })
    }
}

/// The deterministic automaton of an expression that was read, whose parts are those of `whole`.
fn determine(reader: &Reader<'_>, whole: &Part) -> Result<Token, TokenError> {
    // The start is the set of no place: it is told from others by being the first.
    let mut known: HashMap<BTreeSet<usize>, TokenState> = HashMap::new();
    let mut sets: Vec<(BTreeSet<usize>, bool)> = vec![(whole.first.clone(), whole.is_empty)];
    let mut states: Vec<State> = vec![];
    while let Some((candidates, accepts)) = sets.get(states.len()).cloned() {
        let mut next = vec![None; 256];
        for byte in 0..=u8::MAX {
            let has = |place: &&usize| reader.places.get(**place).is_some_and(|set| set.contains(byte));
            let places: BTreeSet<usize> = candidates.iter().filter(has).copied().collect();
            if places.is_empty() {
                continue;
            }
            let state = match known.get(&places) {
                Some(state) => *state,
                None => {
                    let following = places.iter().filter_map(|place| reader.follow.get(*place)).flatten().copied();
                    let accepts = places.iter().any(|place| whole.last.contains(place));
                    let state = TokenState(u32::try_from(sets.len()).unwrap_or(u32::MAX));
                    sets.push((following.collect(), accepts));
                    known.insert(places, state);
                    state
                }
            };
            if let Some(entry) = next.get_mut(usize::from(byte)) {
                *entry = Some(state);
            }
        }
        states.push(State { next, accepts });
        if sets.len() > LIMIT {
            return Err(TokenError { at: 0, message: "the expression has too many states".to_owned() });
        }
    }
    Ok(Token { states })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(expression: &str) -> Token {
        Token::new(expression).unwrap()
    }

    #[test]
    fn expressions_match_what_they_say() {
        for (expression, right, wrong) in [
            ("abc", &["abc"][..], &["", "ab", "abcd"][..]),
            ("[a-c]+", &["a", "cab"], &["", "d"]),
            ("[^\\r\\n]*", &["", "x y"], &["\r", "a\n"]),
            ("a|bc|", &["", "a", "bc"], &["b", "abc"]),
            ("(ab)*c?", &["", "c", "abab", "ababc"], &["aba", "cc"]),
            ("[0-9]{2,4}", &["12", "1234"], &["1", "12345"]),
            ("x{2}", &["xx"], &["x"]),
            ("x{2,}", &["xx", "xxxxx"], &["x"]),
            ("(a?){2}b", &["b", "ab", "aab"], &["aaab"]),
            (".\\.\\x2e", &["a..", "..."], &["a.b"]),
        ] {
            let token = token(expression);
            right.iter().for_each(|text| assert!(token.matches(text.as_bytes()), "{expression} {text}"));
            wrong.iter().for_each(|text| assert!(!token.matches(text.as_bytes()), "{expression} {text}"));
        }
    }

    #[test]
    fn what_has_no_end_is_known() {
        for (expression, is_unbounded) in [("a*", true), ("(a|b){2,}", true), ("a{0,9}b?", false), ("GET|PUT", false)] {
            assert_eq!(token(expression).is_unbounded(), is_unbounded, "{expression}");
        }
        assert_eq!(Token::beginning("[ab]c?"), ([b'a', b'b'].into_iter().collect(), false));
        assert_eq!(Token::beginning("a*b?"), ([b'a', b'b'].into_iter().collect(), true));
        assert!(!token("ab").is_last(token("ab").start()));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for expression in [
            "(",
            ")",
            "a)",
            "*",
            "[",
            "[z-a]",
            "\\",
            "\\q",
            "\\x1",
            "x{",
            "x{3,2}",
            "x{9999}",
            "[^\\0-\\xff]",
            "[]a]",
            "(){3}",
        ] {
            assert!(Token::new(expression).is_err(), "{expression}");
        }
        assert!(Token::new(&"(".repeat(99)).is_err());
        assert!(Token::new("(a|b)*a(a|b){12}").is_err(), "it has 4096 states");
    }
}
