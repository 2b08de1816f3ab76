//! Random grammars, as text: messages of all parts of the notation that can stand together, each in those before it.

use flux_random_program::Random;
use std::fmt::Write as _;

/// How many messages a grammar has, and how deep choices are in each other.
const MESSAGES: usize = 8;
const DEEPEST: usize = 2;

/// A grammar of this seed. Not each is one: what stands before a list may begin as what ends it, say.
pub fn grammar(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    let mut later: Vec<Known> = vec![];
    // Those that others have in them come last in the text.
    for index in (0..MESSAGES).rev() {
        let mut one = Drawn { random: &mut random, later: &later, fields: 0, numbers: vec![], text: String::new() };
        let known = one.message(index);
        text.insert_str(0, &one.text);
        later.push(known);
    }
    text
}

/// What those know of a message that have it in them.
struct Known {
    name: String,
    /// Its parameters are an integer and a truth value.
    has_parameters: bool,
    /// It ends with what is around it.
    is_open: bool,
}

struct Drawn<'a> {
    random: &'a mut Random,
    later: &'a [Known],
    fields: usize,
    /// What is an integer and is always there.
    numbers: Vec<String>,
    text: String,
}

impl Drawn<'_> {
    fn message(&mut self, index: usize) -> Known {
        let has_parameters = index > 0 && self.random.chance(250);
        let is_open = self.random.chance(150);
        let name = format!("m{index}");
        let parameters = if has_parameters { " (uint8 p, bool q)" } else { "" };
        writeln!(self.text, "type {name} = unit{parameters} {{").unwrap();
        if self.random.chance(300) {
            self.text += "  %byteorder = little;\n";
        }
        if self.random.chance(200) {
            self.text += "  %max_size = 60;\n";
        }
        self.item(0);
        if has_parameters {
            let name = self.name("s");
            let ways = [
                format!("  {name} : bytes &length = p % 3;\n"),
                format!("  if (q) {{ {name} : uint8; }}\n"),
                format!("  {name} : uint8[p % 4];\n"),
                format!("  var {name} : uint16 &parse = p + 1 &requires = $$ != 4 || q;\n"),
            ];
            self.text += &self.random.choose(&ways).unwrap();
        }
        for _ in 0..self.random.between(1, 5) {
            self.item(0);
        }
        if is_open {
            let name = self.name("rest");
            writeln!(self.text, "  {name} : bytes &eod &max_size = 9;").unwrap();
        }
        self.text += "};\n";
        Known { name, has_parameters, is_open }
    }

    fn name(&mut self, kind: &str) -> String {
        self.fields += 1;
        format!("{kind}{}", self.fields)
    }

    /// Some number that is there, or one that always is.
    fn number(&mut self) -> String {
        self.random.choose(&self.numbers).unwrap_or_else(|| "3".to_owned())
    }

    /// An integer field before what it is asked by.
    fn size(&mut self) -> String {
        let name = self.name("n");
        let ty = self.random.choose(&["uint8", "uint16", "int16", "uint24"]).unwrap();
        writeln!(self.text, "  {name} : {ty};").unwrap();
        format!("self.{name}")
    }

    fn items(&mut self, depth: usize) -> String {
        let before = std::mem::take(&mut self.text);
        let numbers = self.numbers.clone();
        for _ in 0..self.random.below(3) {
            self.item(depth + 1);
        }
        self.numbers = numbers;
        std::mem::replace(&mut self.text, before)
    }

    fn item(&mut self, depth: usize) {
        match self.random.below(if depth < DEEPEST { 14 } else { 10 }) {
            0 | 1 => self.integer(),
            2 => {
                let [high, low] = [self.name("b"), self.name("b")];
                let width = self.random.between(1, 7);
                writeln!(self.text, "  {high} : bits({width}); {low} : bits({});", 16 - width).unwrap();
                self.numbers.push(format!("self.{low}"));
            }
            3 => {
                let name = self.name("d");
                let ty = self.random.choose(&["int32", "uint8", "uint64", "int64"]).unwrap();
                let base = self.random.choose(&[10, 16]).unwrap();
                writeln!(self.text, "  {name} : {ty} &digits = {base}; : \";\";").unwrap();
            }
            4 => {
                let name = self.name("t");
                let token = self.random.choose(&["[a-z]+", "[a-z]*", "a|bc|bd", "[0-9]{1,3}"]).unwrap();
                writeln!(self.text, "  {name} : token(\"{token}\") &max_size = 9; : \"!\";").unwrap();
            }
            5 => {
                let (size, name) = (self.size(), self.name("s"));
                let ty = self.random.choose(&["string", "bytes"]).unwrap();
                let more = self.random.choose(&["", " + 1", " - 2"]).unwrap();
                writeln!(self.text, "  {name} : {ty} &length = {size}{more};").unwrap();
            }
            6 => {
                let name = self.name("u");
                let end = self.random.choose(&[";", "\\r\\n", "ab"]).unwrap();
                let convert = self.random.choose(&["", " &convert = trim($$)", " &convert = lower($$)"]).unwrap();
                writeln!(self.text, "  {name} : string &until = \"{end}\" &max_size = 9{convert};").unwrap();
            }
            7 => self.list(),
            8 => self.unit(),
            9 => self.variables(depth == 0),
            10 | 11 => {
                let (number, limit) = (self.number(), self.random.between(1, 9));
                let sign = self.random.choose(&["<", "==", ">"]).unwrap();
                let [then, otherwise] = [self.items(depth), self.items(depth)];
                writeln!(self.text, "  if ({number} {sign} {limit}) {{\n{then}  }} else {{\n{otherwise}  }}").unwrap();
            }
            12 => {
                let number = self.number();
                let [one, two, other] = [self.items(depth), self.items(depth), self.items(depth)];
                write!(self.text, "  switch ({number}) {{\n  0, 1 -> {{\n{one}  }}\n  2 -> {{\n{two}  }}\n").unwrap();
                writeln!(self.text, "  * -> {{\n{other}  }}\n  }}").unwrap();
            }
            _ => {
                let [one, two] = [self.items(depth), self.items(depth)];
                let name = self.name("k");
                write!(self.text, "  switch {{\n  -> {{ : \"+\";\n{one}  }}\n  -> {{ : \"-\";\n{two}  }}\n").unwrap();
                writeln!(self.text, "  -> {{ {name} : token(\"[A-Z]+\") &max_size = 4; : \".\"; }}\n  }}").unwrap();
            }
        }
    }

    fn integer(&mut self) {
        let name = self.name("a");
        let types = ["uint8", "int8", "uint16", "int24", "uint32", "uint40", "int64", "uint64"];
        let ty = self.random.choose(&types).unwrap();
        let more = ["", "", " &requires = $$ != 3", " &requires = $$ < 100", " &convert = $$ % 5 &requires = $$ >= 0"];
        let more = self.random.choose(&more).unwrap();
        writeln!(self.text, "  {name} : {ty}{more};").unwrap();
        self.numbers.push(format!("self.{name}"));
    }

    fn list(&mut self) {
        let name = self.name("l");
        match self.random.below(3) {
            0 => writeln!(self.text, "  {name} : token(\"[a-z]+,\")[] &until = \".\" &max_size = 4;").unwrap(),
            1 => {
                let (size, sum) = (self.size(), self.name("v"));
                let ty = self.random.choose(&["uint8", "int16", "uint24"]).unwrap();
                writeln!(self.text, "  var {sum} : int64 &parse = 0;").unwrap();
                writeln!(
                    self.text,
                    "  {name} : {ty}[{size}] &max_size = 6 &update = self.{sum} = self.{sum} + int64($$);"
                )
                .unwrap();
                self.numbers.push(format!("self.{sum}"));
            }
            _ => {
                let size = self.size();
                if let Some(unit) = self.inner(false) {
                    writeln!(self.text, "  {name} : {unit}[{size}] &max_size = 4;").unwrap();
                }
            }
        }
    }

    /// A message that comes later, with its parameters.
    fn inner(&mut self, may_be_open: bool) -> Option<String> {
        let known: Vec<&Known> = self.later.iter().filter(|one| may_be_open || !one.is_open).collect();
        let one = *known.get(self.random.below(known.len()))?;
        let parameters =
            if one.has_parameters { format!("({} % 7, {} > 2)", self.number(), self.number()) } else { String::new() };
        Some(format!("{}{parameters}", one.name))
    }

    fn unit(&mut self) {
        let name = self.name("m");
        if self.random.chance(500) {
            let size = self.size();
            if let Some(unit) = self.inner(true) {
                writeln!(self.text, "  {name} : {unit} &length = {size};").unwrap();
            }
        } else if let Some(unit) = self.inner(false) {
            writeln!(self.text, "  {name} : {unit};").unwrap();
        }
    }

    /// As of Listing 2 of the paper: a size that is the sum of two; or one that is computed and updated.
    fn variables(&mut self, is_always: bool) {
        if is_always && self.random.chance(500) {
            let [key, total, left, first, second] = ["n", "n", "v", "s", "s"].map(|kind| self.name(kind));
            write!(
                self.text,
                "  {key} : uint8; {total} : uint16;\n  var {left} : uint16 &parse = self.{total} - self.{key}"
            )
            .unwrap();
            writeln!(self.text, " &serialize = self.{total} = self.{key} + $$;").unwrap();
            writeln!(self.text, "  {first} : string &length = self.{key}; {second} : bytes &length = self.{left};")
                .unwrap();
        } else {
            let (name, number, added) = (self.name("v"), self.number(), self.name("a"));
            writeln!(self.text, "  var {name} : int64 &parse = int64({number} % 4);").unwrap();
            writeln!(self.text, "  {added} : uint8 &update = self.{name} = self.{name} + int64($$);").unwrap();
            self.numbers.push(format!("self.{name}"));
            let text = self.name("s");
            writeln!(self.text, "  {text} : bytes &length = self.{name} % 6 &max_size = 9;").unwrap();
        }
    }
}
