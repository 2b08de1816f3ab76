//! The text form of both models: what `flux ir` prints and what tests of passes are written in.
//!
//! It prints and parses back to an equal value, spans included, so that any stage of the compiler can be shown, kept in
//! a test and started from. A line holds one thing; a thing with parts ends its line in `{` and has its parts on the
//! lines up to `}`. Whatever has a name is called by it. The parser takes text from users: it never panics, is linear,
//! and refuses blocks nested deeper than [`NESTING_LIMIT`].
//!
//! # Grammar
//!
//! ```text
//! program    = "program" name
//!              { module | use | include | link | type | message | option | code | called | predicate | constraint
//!              | node | source | handler }                             in any order
//! module     = "module" name [ "{" { use | include } "}" ]
//! use        = "use" module
//! include    = "include" TEXT
//! link       = "link" TEXT
//! type       = "record" declared "{" { "field" parameter } "}" | "enum" declared "(" WORD { "," WORD } ")"
//! message    = "message" declared "(" [ parameters ] ")" "max" INT "{" { field } { item } "}"      INT is in bytes
//! field      = "field" name "=" form [ "list" | "times" formula ] [ "length" formula | "until" BYTES
//!              | "until_holds" formula | "eod" ] [ "max" INT ] [ "depth" INT ] [ "parse_at" formula ] [ "stream" ]
//!              [ "convert" formula ] { "requires" formula } { "update" "#" INT formula }
//!              [ "serialize" "#" INT formula ]
//! form       = sized ( "big" | "little" ) | "digits" sized INT | "bits" INT | "bytes" | "string" | "literal" BYTES
//!            | "token" TEXT | "unit" message "(" [ formula { "," formula } ] ")" | "var" TEXT formula
//! sized      = ( "unsigned" | "signed" ) INT                           bits
//! formula    = "[" [ reference { "," reference } ] "]" expression       what its variables are, then itself
//! reference  = ( "self" | "parameter" INT | "value" ) { "." INT } ":" TEXT           the fields on the way, and a type
//! item       = "has" "#" INT | "if" formula "{" { item } "}" "else" "{" { item } "}"
//!            | "switch" [ formula ] "{" { "case" [ "*" ] "(" [ label { "," label } ] ")" "{" { item } "}" } "}"
//! label      = [ "-" ] INT | BYTES
//! code       = "code" declared "=" [ "-" ] INT                        a name of an error code
//! option     = "option" declared kind [ "=" constant ] [ "about" TEXT ]    a constant that is no option itself
//! kind       = "int" | "string" | "path" | "bool" | "duration" | "size"
//! called     = "external" declared ( "node" | "predicate" | "handler" | "session" ) [ effects ] [ "c" ]
//!              [ "of2006" | "plain" outcome "(" [ passing { "," passing } ] ")" TEXT ]        TEXT is its declaration
//!              a function in C or C++; left out where all are named, in order, by what they are for
//! outcome    = "nothing" | "error" | "output" | "expected_output" | "expected_success"
//! passing    = "value" | "seen" | "moved" | "address"
//! predicate  = "predicate" declared ( "=" external [ effects ] | "(" parameter ")" "{" computed "}" )
//!              the type, and the function that tests it, or what is computed
//! constraint = "constraint" declared ( "program" | "session" | "keyed" )
//! node       = "node" declared [ signature [ defaults ] [ "inferred" ] ] [ "blocking" ] [ "replicable" ]
//!              [ "stack" BYTES ] [ effects ]
//!              [ "calls" external ]                                    the function; that of its name is left out
//!              [ "{" { holds | chain | compute } "}" ]
//! effects    = "silent" | "pure"                                      what is promised of the function in C++
//! signature  = "(" [ parameters ] ")" "=>" "(" [ parameters ] ")"
//! defaults   = "defaults" "(" constant { "," constant } ")"           of the last inputs
//! parameters = parameter { "," parameter }
//! parameter  = type and name as declared, or TEXT TEXT TEXT (type, name, array suffix) where that would not parse back
//! holds      = "holds" held { "," held }                               in a key stand inputs of the node
//! held       = constraint ( "?" | "!" ) [ "(" operand { "," operand } ")" ]        reader or writer, and the key
//! compute    = "compute" "{" computed "}"
//! computed   = { "variable" parameter } { statement } [ "says" expression ]     variables beside inputs and outputs
//! statement  = ( "let" | "set" ) "#" INT "=" expression | "fail" number
//!            | "if" expression "{" { statement } "}" "else" "{" { statement } "}"
//!            | "for" "#" INT [ "," "#" INT ] "in" expression "{" { statement } "}"
//!            | "take" "#" INT { "," "#" INT } "=" node "(" [ expression { "," expression } ] ")"
//!            | "put" "#" INT "[" expression "]" "=" expression
//! number     = [ "-" ] INT [ "as" code ] | "errno" WORD               an error code; the name that it has
//! expression = term ":" TEXT [ TEXT ] [ value ] [ "(" [ expression { "," expression } ] ")" ]
//!              type and array suffix, then what the term is of
//! term       = an operator, a function, or a word such as "field"
//! value      = its number or index | "=" ( TEXT | node | predicate ) | ( "list" | function ) "#" INT [ "," "#" INT ]
//! chain      = "flow" [ "[" [ pattern { "," pattern } ] "]" ] "=" steps     brackets make it a line of a dispatch
//! pattern    = "_" | predicate
//! steps      = [ step { "->" step } ] [ "gives" arguments ]            left out until they have been bound; as `takes`
//! step       = [ "%" INT ] ( apply [ takes ] | "(" steps { "&" steps } ")" [ takes ] | each ) [ within ]
//!              its number, where left out one more than that of the step before in the text
//! each       = "[" steps "]" [ "(" constant ")" ]
//!              [ "each" "(" parameter ")" "of" argument [ takes ] [ "carries" "(" carried { "," carried } ")" ] ]
//! carried    = INT "as" INT                                            an output, and the input that it is next time
//! takes      = "takes" arguments
//! arguments  = "(" [ argument { "," argument } ] ")"
//! argument   = "=" constant | "in" "." position | "%" INT "." position | "element" "of" "%" INT | part of error
//!              an input; an output of a step; an element of the list of a step; of a failure
//! within     = "within" constant                                       milliseconds, or an option
//! apply      = node [ "(" ( constant | named ) { "," ( constant | named ) } ")" ]            constants come first
//! named      = name ":" ( name | "=" constant | "?" option )                      an input, and what it takes
//! constant   = [ "-" ] INT | TEXT | "true" | "false" | "option" option
//! source     = "source" ( apply [ "with" arguments ] | "every" INT "ms" ) "=>" node [ takes ] [ "session" external ]
//! handler    = "handle" "error" ( "*" | node ) { "->" ( "*" | node ) } "=>" handles
//! handles    = ( "node" node | "function" external ) [ "->" "_" ] [ "{" { replaces } "}" ] | "_"
//!              with `_` the flow goes on, else it ends; braces are for a node
//! replaces   = "for" node takes [ "gives" "(" output { "," output } ")" ]          with the last part the flow resumes
//! output     = "out" "." position
//!
//! flow       = program { function } { entry }
//! function   = "function" name signature "{" role block-lines "}"
//! role       = ( "abstract" node | "branch" node | "produce" INT | "run" INT )         INT is the index of a source
//!              [ "held" outer { "," outer } ] [ "paths" exits ] [ "fault" offset ]
//! entry      = "entry" [ "produce" function ] "run" function
//! block      = end, not a dispatch | "{" block-lines "}"
//! block-lines = { call } end
//! call       = "%" INT "=" callee "(" [ operand { "," operand } ] ")" [ within ]
//!              [ "holding" taken { "," taken } ] [ "paths" [ "save" ] [ "cut" ] exits [ "ended" offset ] ]
//!              "else" block
//! outer      = constraint ( "?" | "!" ) [ "(" part { "," part } ")" ] [ "by" pass ]
//! part       = "in" "." position { "|" "in" "." position } | constant | "lost"
//! taken      = held [ "by" pass "for" node ]                           a pass moved it up; the node asks for it
//! pass       = "order_constraints"                                     the pass that put it there
//! callee     = "node" node | "function" function | "fork" [ branch { "&" branch } ]
//!            | "each" function signature ( "loop" [ "carrying" carried { "," carried } ] | "at" "once" constant
//!              | "in" "turn" )                                        what the step takes and gives; the function's
//!                                                                     inputs and outputs are those of one element
//!            | ( "handler" | "session" ) external "for" node
//! branch     = function [ "after" INT ]                                INT is the index of an earlier branch
//! operand    = "in" "." position | "%" INT "." position | constant     an input; an output of a step
//!            | part of error "of" "%" INT | "%" INT "." "changed" "." position
//!              of a step that has failed, in its failure block: a part of the failure; an input as its node left it
//! part of error = "error" | "error_text" | "error_node"
//! end        = ( "done" | "resume" ) [ operand { "," operand } ] [ offset ]
//!            | ( "failed" | "ended" | "go_on" ) [ offset ]
//!            | "dispatch" "{" { "line" [ test { "," test } ] "=>" block } [ "unmatched" [ offset ] ] "}"
//! test       = predicate "(" operand ")"
//! exits      = INT "/" INT "/" INT                                     done, failed, ended
//! offset     = "+" INT                                                 left out where 0, but not after "fault"
//!
//! name       = WORD { "::" WORD } | TEXT
//! declared   = [ name "." ] name                                       the module where it is of one, and its own name
//! node, predicate, constraint, option, message, external = declared | "#" INT   where mentioned; #INT is the index
//! function, module = name | "#" INT                                    as above
//! position   = WORD | INT                                              the parameter's name or its index
//! BYTES      = two hexadecimal digits for each byte, in double quotes
//! TEXT       = a double-quoted string with the escapes \" \\ \n \r \t \u{…}
//! ```
//!
//! A name means the first thing so called; what has no name of its own is called by its index. The outputs of a fork
//! are always called by index, as those of several branches may share a name, and so are those of an each step. `//`
//! starts a comment.
//!
//! A line may end in the spans of what it declares or mentions, `@file:start-end`, in the order in which those things
//! begin, outer before inner; the file is left out where it is that of the span before: `@0:120-135 140-145`. Without
//! them, as printed where all are [`Span::default`](flux_source::Span), every span of the line is the default.

mod cursor;
mod externals;
mod lexical;
mod names;
mod parse_chain;
mod parse_compute;
mod parse_flow;
mod parse_message;
mod parse_program;
mod print_chain;
mod print_compute;
mod print_flow;
mod print_message;
mod print_program;
mod printer;

use crate::flow::Flow;
use crate::program::Program;
use flux_source::CHAIN_LIMIT;
use std::fmt;

/// How deep blocks and chains may nest in a text that is parsed: deeper than in what comes of any program.
pub const NESTING_LIMIT: usize = 2 * flux_source::NESTING_LIMIT;

/// The same of expressions, which are as deep as chains of operators are long, with a conversion for each.
const EXPRESSION_LIMIT: usize = 4 * CHAIN_LIMIT;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether to print spans. Without them the text is better to read, and parses back with default spans.
    pub spans: bool,
}

impl Options {
    /// The text of a program. O(size of the program).
    pub fn print_program(self, program: &Program) -> String {
        print_program::print(program, self)
    }

    /// The text of a flow, that of its program first. O(size of the flow).
    pub fn print_flow(self, flow: &Flow) -> String {
        print_flow::print(flow, self)
    }
}

/// The text of a program, with spans.
pub fn print_program(program: &Program) -> String {
    Options { spans: true }.print_program(program)
}

/// The text of a flow, with spans.
pub fn print_flow(flow: &Flow) -> String {
    Options { spans: true }.print_flow(flow)
}

/// The program that `text` says. It is as well-formed as the text: [`crate::verify`] judges that.
///
/// # Errors
///
/// The first line that is not of the grammar, or that mentions a name which nothing bears.
pub fn parse_program(text: &str) -> Result<Program, ParseError> {
    parse_program::parse(text)
}

/// The flow that `text` says. It is as well-formed as the text: [`crate::verify`] judges that.
///
/// # Errors
///
/// As of [`parse_program`].
pub fn parse_flow(text: &str) -> Result<Flow, ParseError> {
    parse_flow::parse(text)
}

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}
