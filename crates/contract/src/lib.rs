//! The contract between generated code and the runtime: the one table of symbols that generated C++ may name.
//!
//! The back end takes every spelling from here, and the runtime's headers provide each of them. So the agreement of
//! both sides is in one place, and [`probe`] turns it into a C++ file that compiles only if they still agree. A symbol
//! enters the table when generated code needs it and leaves with its last use. A change that would break old generated
//! code raises [`SUPPORT_VERSION`].

pub mod message;

/// What [`VERSION`] must be where the generated code is compiled.
pub const SUPPORT_VERSION: u32 = 1;

/// What kind of thing a symbol is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A header, spelled as between the angle brackets.
    Header,
    /// A macro.
    Macro,
    /// A class, an enumeration, or a name for a number.
    Type,
    /// One value of an enumeration.
    Enumerator,
    /// A member function of [`FLOW`], spelled without its object.
    Member,
    /// A function or a function template.
    Function,
    /// A constant or a template of constants.
    Constant,
}

/// Something of the runtime that generated code may name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// How C++ spells it.
    pub spelling: &'static str,
    /// What it is.
    pub kind: SymbolKind,
    /// What it means, in a sentence or two.
    pub meaning: &'static str,
    /// C++ that compiles only where the symbol is what generated code takes it for: declarations for the file of
    /// [`probe`], which build on those of the symbols before; for a member, requirements on `flow`.
    pub expected: &'static str,
}

/// Declares each symbol as a constant whose documentation is its meaning, and lists them all.
macro_rules! symbols {
    ($($(#[doc = $meaning:literal])+ $name:ident = $kind:ident $spelling:literal, $expected:literal;)+) => {
        $(
            $(#[doc = $meaning])+
            pub const $name: Symbol = Symbol {
                spelling: $spelling,
                kind: SymbolKind::$kind,
                meaning: concat!($($meaning),+).trim_ascii(),
                expected: $expected,
            };
        )+
        /// Every symbol, in the order of the table.
        pub const ALL: &[Symbol] = &[$($name),+];
    };
}

symbols! {
    /// The one header that generated code includes; it brings `<utility>` too.
    HEADER = Header "flux/generated_support.hpp",
        "static_assert(std::is_same_v<decltype(std::move(std::declval<int &>())), int &&>);";
    /// The version of this table that the runtime provides.
    VERSION = Macro "FLUX_GENERATED_SUPPORT",
        "static_assert(FLUX_GENERATED_SUPPORT == 1);";
    /// What brings along what the headers of the compiler of 2006 did, for sources that were written for it.
    HEADER_2006 = Header "flux/code_2006/interface_2006.hpp",
        "static_assert(sizeof(std::string) > 0 && sizeof(FILE) > 0);";
    /// What makes `std` that of 2006 for the headers of such sources, where they cannot be read otherwise.
    STD_2006 = Header "flux/code_2006/std_2006.hpp",
        "";
    /// What bodies of nodes and predicates compute with, where the program has some.
    HEADER_COMPUTE = Header "flux/flow/compute.hpp",
        "";
    /// What loops of bodies go through, where the program has some.
    HEADER_TURNS = Header "flux/io/turns.hpp",
        "";
    /// What the first member of every `X_in` points to in such sources; there is never one.
    SESSION = Type "flux::session",
        "static_assert(sizeof(flux::session *) > 0);";

    /// The number of a node, or of a handler that is a plain function, in the table of nodes.
    NODE_NUMBER = Type "flux::node_number",
        "static_assert(std::is_same_v<flux::node_number, std::uint32_t>);";
    /// The number of a generated function in the table of path functions.
    FUNCTION_NUMBER = Type "flux::function_number",
        "static_assert(std::is_same_v<flux::function_number, std::uint32_t>);";
    /// The number of a path, and what is added to one.
    PATH_NUMBER = Type "flux::path_number",
        "static_assert(std::is_same_v<flux::path_number, std::uint64_t>);";

    /// How a generated function ended.
    OUTCOME = Type "flux::outcome",
        "static_assert(std::is_enum_v<flux::outcome>);";
    /// What was called is done.
    OUTCOME_DONE = Enumerator "flux::outcome::done",
        "static_assert(std::is_same_v<decltype(flux::outcome::done), flux::outcome>);";
    /// It failed, and nobody has taken care of that yet.
    OUTCOME_FAILED = Enumerator "flux::outcome::failed",
        "static_assert(static_cast<int>(flux::outcome::failed) == 1);";
    /// An error handler has run, and with that the flow ends.
    OUTCOME_ENDED = Enumerator "flux::outcome::ended",
        "static_assert(static_cast<int>(flux::outcome::ended) == 2);";

    /// What every generated function takes first: the flow that runs it, with its error in hand, its path register and
    /// its counters.
    FLOW = Type "flux::flow",
        "static_assert(std::is_class_v<flux::flow> && !std::is_copy_constructible_v<flux::flow>);";
    /// Counts a call of the node, and says what it is given.
    CALL = Member "call",
        "{ flow.call(flux::node_number{}) } noexcept -> std::same_as<void>;\n    \
         { flow.call(flux::node_number{}, std::string(), \"\") } noexcept -> std::same_as<void>;";
    /// Runs the function that calls a node that blocks where that holds up no other flow. Throws what that throws.
    BESIDE_LOOPS = Member "beside_loops",
        "{ flow.beside_loops([] {}) } -> std::same_as<void>;";
    /// Runs a function on a stack of so many bytes, which is the node's. Throws what that throws, and `std::bad_alloc`.
    ON_STACK = Member "on_stack",
        "{ flow.on_stack(std::size_t{}, [] {}) } -> std::same_as<void>;";
    /// In `flux_size` of a record: how many bytes its fields hold together.
    SIZE_OF_FIELDS = Function "flux::size_of_fields",
        "static_assert(std::is_same_v<std::size_t, decltype(flux::size_of_fields(1, std::string()))>);";
    /// Counts a dispatch of the node.
    DISPATCH = Member "dispatch",
        "{ flow.dispatch(flux::node_number{}) } noexcept -> std::same_as<void>;";
    /// In a `catch` block: the error code of the exception in flight, never 0.
    CAUGHT = Member "caught",
        "{ flow.caught() } noexcept -> std::same_as<int>;";
    /// As `caught`, and keeps the text of the exception.
    CAUGHT_WITH_TEXT = Member "caught_with_text",
        "{ flow.caught_with_text() } noexcept -> std::same_as<int>;";
    /// Counts a failure of the node; its code is now the error in hand.
    FAILED_IN = Member "failed_in",
        "{ flow.failed_in(flux::node_number{}, int{}) } noexcept -> std::same_as<void>;";
    /// The error in hand.
    ERROR = Member "error",
        "{ std::as_const(flow).error() } noexcept -> std::same_as<int>;";
    /// The text of the exception by which the error in hand came, where it was kept; else empty.
    ERROR_TEXT = Member "error_text",
        "{ std::as_const(flow).error_text() } -> std::same_as<std::string>;";
    /// The name of the node that failed with the error in hand.
    ERROR_NODE = Member "error_node",
        "{ std::as_const(flow).error_node() } -> std::same_as<std::string>;";
    /// Adds to the path register and leaves the function as done.
    DONE = Member "done",
        "{ flow.done() } noexcept -> std::same_as<flux::outcome>;\n    \
         { flow.done(flux::path_number{}) } noexcept -> std::same_as<flux::outcome>;";
    /// Adds to the path register and leaves the function as failed, with the error in hand.
    FAILED = Member "failed",
        "{ flow.failed() } noexcept -> std::same_as<flux::outcome>;\n    \
         { flow.failed(flux::path_number{}) } noexcept -> std::same_as<flux::outcome>;";
    /// Adds to the path register and leaves the function as ended.
    ENDED = Member "ended",
        "{ flow.ended() } noexcept -> std::same_as<flux::outcome>;\n    \
         { flow.ended(flux::path_number{}) } noexcept -> std::same_as<flux::outcome>;";
    /// Sets the path register and leaves the function as failed: something outside a node threw.
    FAULT = Member "fault",
        "{ flow.fault(flux::path_number{}) } noexcept -> std::same_as<flux::outcome>;";
    /// The deadline of a step, `flux::within limit(flow, 300)`, in milliseconds, for as long as it stands.
    WITHIN = Type "flux::within",
        "static_assert(std::is_nothrow_constructible_v<flux::within, flux::flow &, std::int64_t>);";
    /// What an atomic node changes in state that Flux keeps, `flux::state_changes changes(flow, outcome)`, for as long
    /// as it may have to be undone.
    STATE_CHANGES = Type "flux::state_changes",
        "static_assert(std::is_nothrow_constructible_v<flux::state_changes, flux::flow &, const flux::outcome &>);";
    /// Sets the flow's session.
    SET_SESSION = Member "set_session",
        "{ flow.set_session(int{}) } noexcept -> std::same_as<void>;";
    /// Adds to the path register where a fallback joins the way of success.
    ADD_PATH = Member "add_path",
        "{ flow.add_path(flux::path_number{}) } noexcept -> std::same_as<void>;";
    /// Gives the path register and zeroes it, before a call of a function.
    BEGIN_PATH = Member "begin_path",
        "{ flow.begin_path() } noexcept -> std::same_as<flux::path_number>;";
    /// After the call, with what `begin_path` gave and the number of the callee's paths to the exit that it took:
    /// the register becomes `before * paths + register`.
    END_PATH = Member "end_path",
        "{ flow.end_path(flux::path_number{}, flux::path_number{}) } noexcept -> std::same_as<void>;";
    /// After the call of a function whose paths are counted by themselves: counts the register as a path of the
    /// function to that exit, and gives the register back what `begin_path` took.
    CUT_PATH = Member "cut_path",
        "{\n        flow.cut_path(flux::path_number{}, flux::function_number{}, flux::outcome{})\n    \
         } noexcept -> std::same_as<void>;";

    /// A branch of a parallel step, made of its flow, the number of the generated function that it calls, that
    /// function, and the structs with its inputs and outputs, where it has some.
    BRANCH = Type "flux::branch",
        "flux::outcome run_branch(flux::flow &flow, values &in);\n\
         static_assert(requires(flux::flow &flow, values &in) {\n    \
             flux::branch(flow, flux::function_number{}, run_branch, in);\n\
         });";
    /// Makes a branch start when another, an earlier one, has ended.
    START_AFTER = Function "flux::start_after",
        "static_assert(requires(flux::branch<values> &later, flux::branch<> &earlier) {\n    \
             { flux::start_after(later, earlier) } noexcept;\n\
         });";
    /// Runs the branches of a parallel step concurrently; when all have ended, gives how the step did. The path
    /// register, 0 before, becomes the number of the path that they took together.
    JOIN = Function "flux::join",
        "static_assert(requires(flux::flow &flow, flux::branch<values> &first, flux::branch<> &second) {\n    \
             { flux::join(flow, first, second) } noexcept -> std::same_as<flux::outcome>;\n\
         });";
    /// As `join`, where the path of each branch is counted by itself; the register is 0 after it.
    JOIN_CUT = Function "flux::join_cut",
        "static_assert(requires(flux::flow &flow, flux::branch<values> &first, flux::branch<> &second) {\n    \
             { flux::join_cut(flow, first, second) } noexcept -> std::same_as<flux::outcome>;\n\
         });";

    /// Calls a function for what stands at each place of some lists, so many places, with a limit on how many calls run
    /// at once; when all have ended, gives how the step did. The path of each is counted by itself.
    EACH = Function "flux::each",
        "static_assert(requires(flux::flow &flow, std::vector<values> &inputs) {\n    \
             { flux::each(flow, flux::function_number{}, 4, run_branch, inputs.size(), inputs) } -> \
             std::same_as<flux::outcome>;\n\
         });";
    /// What an option is that says how many run at once: a number above zero.
    EACH_WIDTH = Type "flux::each_width",
        "static_assert(flux::each_width::least == 1);";
    /// The list of one member of all elements of a list.
    GATHERED = Function "flux::gathered",
        "struct gathered_values {\n    int member;\n};\n\
         static_assert(requires(std::vector<gathered_values> &outputs) {\n    \
             { flux::gathered(outputs, &gathered_values::member) } -> std::same_as<std::vector<int>>;\n\
         });";

    /// The error code of a dispatch in which no line matches.
    NO_MATCH = Constant "flux::no_match",
        "static_assert(std::is_same_v<decltype(flux::no_match), const int> && flux::no_match != 0);";
    /// Copies an array into another of the same type, element by element; or moves it, from a `std::move`.
    COPY = Function "flux::copy",
        "static_assert(requires(int (&to)[2][3], const int (&from)[2][3]) { flux::copy(to, from); });\n\
         static_assert(requires(int (&to)[2][3], int (&from)[2][3]) { flux::copy(to, std::move(from)); });";
    /// A value or an error code: what the stub of a plain function may return.
    EXPECTED = Type "flux::expected",
        "static_assert(std::is_default_constructible_v<flux::expected<std::string, int>>);\n\
         static_assert(std::is_default_constructible_v<flux::expected<void, int>>);";
    /// What a node returns for a value or an error code, the value assigned; or for success or an error code.
    TAKE = Function "flux::take",
        "static_assert(requires(flux::expected<long, int> result, long value) {\n    \
             { flux::take(result, value) } -> std::same_as<int>;\n    \
             { flux::take(flux::expected<void, int>()) } -> std::same_as<int>;\n\
         });";
    /// Whether values of a type can be copied; for an array, its elements.
    KEEPABLE = Constant "flux::keepable",
        "static_assert(flux::keepable<int> && flux::keepable<int[3]> && !flux::keepable<std::unique_ptr<int>>);";

    /// Fails the node that computes.
    COMPUTE_FAIL = Function "flux::compute::fail",
        "static_assert(std::is_same_v<decltype(flux::compute::fail(int{})), void>);";
    /// The sum of two numbers of one type; fails where that has none.
    COMPUTE_ADD = Function "flux::compute::add",
        "static_assert(std::is_same_v<decltype(flux::compute::add(std::uint8_t{}, 1)), std::uint8_t>);";
    /// As `add`, the difference.
    COMPUTE_SUBTRACT = Function "flux::compute::subtract",
        "static_assert(std::is_same_v<decltype(flux::compute::subtract(std::uint8_t{}, 1)), std::uint8_t>);";
    /// As `add`, the product.
    COMPUTE_MULTIPLY = Function "flux::compute::multiply",
        "static_assert(std::is_same_v<decltype(flux::compute::multiply(std::uint8_t{}, 1)), std::uint8_t>);";
    /// As `add`, the quotient.
    COMPUTE_DIVIDE = Function "flux::compute::divide",
        "static_assert(std::is_same_v<decltype(flux::compute::divide(std::uint8_t{}, 1)), std::uint8_t>);";
    /// As `add`, what is left of a division.
    COMPUTE_REMAINDER = Function "flux::compute::remainder",
        "static_assert(std::is_same_v<decltype(flux::compute::remainder(std::uint8_t{}, 1)), std::uint8_t>);";
    /// As `add`, the number on the other side of zero.
    COMPUTE_NEGATE = Function "flux::compute::negate",
        "static_assert(std::is_same_v<decltype(flux::compute::negate(std::int8_t{})), std::int8_t>);";
    /// A number as one of another type; fails where that has none.
    COMPUTE_TO = Function "flux::compute::to",
        "static_assert(std::is_same_v<decltype(flux::compute::to<std::uint8_t>(1.5)), std::uint8_t>);";
    /// The number that a text is; fails where it is none.
    COMPUTE_READ = Function "flux::compute::read",
        "static_assert(std::is_same_v<decltype(flux::compute::read<double>(\"1\")), double>);";
    /// A number, or true or false, as a text.
    COMPUTE_TEXT = Function "flux::compute::text",
        "static_assert(std::is_same_v<decltype(flux::compute::text(true)), std::string>);";
    /// An element of a list, or of a map by its key; fails where there is none.
    COMPUTE_AT = Function "flux::compute::at",
        "static_assert(requires(std::vector<int> list, std::map<int, int> map) {\n    \
             flux::compute::at(list, 1);\n    \
             flux::compute::at(map, 1);\n\
         });";
    /// A part of a text or a list; fails where there is none.
    COMPUTE_SLICE = Function "flux::compute::slice",
        "static_assert(requires(std::string text) {\n    \
             flux::compute::slice(text, 1, 2) + flux::compute::slice(text, 1);\n\
         });";
    /// Two lists, one after the other.
    COMPUTE_JOINED = Function "flux::compute::joined",
        "static_assert(requires(std::vector<int> list) { flux::compute::joined(list, list); });";
    /// Adds a list to the end of another.
    COMPUTE_APPEND = Function "flux::compute::append",
        "static_assert(requires(std::vector<int> list) { flux::compute::append(list, list); });";
    /// Whether a text, a list or a map has something in it.
    COMPUTE_CONTAINS = Function "flux::compute::contains",
        "static_assert(std::is_same_v<decltype(flux::compute::contains(std::string(), \"a\")), bool>);";
    /// Where a text has another in it; fails where it has not.
    COMPUTE_POSITION = Function "flux::compute::position",
        "static_assert(std::is_same_v<decltype(flux::compute::position(std::string(), \"a\")), std::uint64_t>);";
    /// A number of a text, or of an integer.
    COMPUTE_HASH = Function "flux::compute::hash",
        "static_assert(std::is_same_v<decltype(flux::compute::hash(std::string())), std::int64_t>);";
    /// A text in small letters.
    COMPUTE_LOWER = Function "flux::compute::lower",
        "static_assert(std::is_same_v<decltype(flux::compute::lower(\"A\")), std::string>);";
    /// A text in capitals.
    COMPUTE_UPPER = Function "flux::compute::upper",
        "static_assert(std::is_same_v<decltype(flux::compute::upper(\"a\")), std::string>);";
    /// A text without white space around it.
    COMPUTE_TRIM = Function "flux::compute::trim",
        "static_assert(std::is_same_v<decltype(flux::compute::trim(\" a\")), std::string>);";
    /// What stands between the places where a text has another in it.
    COMPUTE_SPLIT = Function "flux::compute::split",
        "static_assert(std::is_same_v<decltype(flux::compute::split(\"a b\", \" \")), std::vector<std::string>>);";
    /// Texts, with another between every two.
    COMPUTE_JOIN = Function "flux::compute::join",
        "static_assert(std::is_same_v<decltype(flux::compute::join({}, \" \")), std::string>);";
    /// The value of an optional; fails where it has none.
    COMPUTE_VALUE = Function "flux::compute::value",
        "static_assert(requires(std::optional<int> of) { flux::compute::value(of) + 1; });";

    /// A list of a message, or an optional of such, as a value of its own.
    COMPUTE_OWN = Function "flux::compute::own",
        "static_assert(requires(std::array<int, 2> list) { flux::compute::own<std::vector<int>>(list).size(); });";
    /// A message that was made; fails where the fields make none.
    COMPUTE_MADE = Function "flux::compute::made",
        "static_assert(requires(flux::expected<int, int> made) { flux::compute::made(made) + 1; });";
    /// What bodies do with values of the type `value`, where the program has some.
    HEADER_DYNAMIC = Header "flux/flow/dynamic.hpp",
        "";
    /// What is of any type of the language.
    VALUE = Type "flux::value",
        "static_assert(requires(flux::value one) {
             { one[\"a\"][0] == flux::value(\"a\") && one < flux::value() } -> std::same_as<bool>;
             { one.is<std::string>() } -> std::same_as<bool>;
         });";
    /// A value of the language as a `flux::value`.
    COMPUTE_TO_VALUE = Function "flux::compute::to_value",
        "static_assert(std::is_same_v<decltype(flux::compute::to_value(std::vector<int>())), flux::value>);";
    /// The name of an enumerator as a `flux::value`.
    COMPUTE_NAME_OF = Function "flux::compute::name_of",
        "static_assert(std::is_same_v<decltype(flux::compute::name_of(1, {\"a\", \"b\"})), flux::value>);";
    /// A `flux::value` as what it is; fails where it is something else.
    COMPUTE_AS = Function "flux::compute::as",
        "static_assert(std::is_same_v<decltype(flux::compute::as<bool>(flux::value())), const bool &>);";
    /// The element of a list, or of a map by its key, or else another value.
    COMPUTE_GET = Function "flux::compute::get",
        "static_assert(requires(std::vector<int> list, std::map<int, int> map) {\n    \
             flux::compute::get(list, 1, 2) + flux::compute::get(map, 1, 2);\n\
         });";
    /// Adds an element to the end of a list.
    COMPUTE_APPEND_ONE = Function "flux::compute::append_one",
        "static_assert(requires(std::vector<int> list) { flux::compute::append_one(list, 1); });";
    /// A text that a loop makes; fails where it is too long.
    COMPUTE_BOUNDED = Function "flux::compute::bounded",
        "static_assert(std::is_same_v<decltype(flux::compute::bounded(\"a\")), std::string>);";
    /// Whether a text is a literal.
    COMPUTE_IS = Function "flux::compute::is",
        "static_assert(requires(std::string text) { !flux::compute::is(text, \"a\"); });";
    /// Gives an element of a list, or the key of a map, a value.
    COMPUTE_PUT = Function "flux::compute::put",
        "static_assert(requires(std::vector<int> list, std::map<int, int> map) {\n    \
             flux::compute::put(list, 1, 2);\n    \
             flux::compute::put(map, 1, 2);\n\
         });";
    /// A map of entries.
    COMPUTE_MAP = Function "flux::compute::map",
        "static_assert(requires { flux::compute::map<int, int>({{1, 2}, {3, 4}}).size(); });";
    /// What a loop goes through, in turns with other flows.
    COMPUTE_IN_TURNS = Function "flux::compute::in_turns",
        "static_assert(requires(std::map<int, int> map) { flux::compute::in_turns<1>(map).begin(); });";
    /// The list of a comprehension.
    COMPUTE_COLLECT = Function "flux::compute::collect",
        "static_assert(requires(std::vector<int> list) {\n    \
             flux::compute::collect<int>(list, std::identity(), std::identity()).size();\n\
         });";
    /// How many elements the list of a comprehension has.
    COMPUTE_LENGTH = Function "flux::compute::length",
        "static_assert(requires(std::vector<int> list) { flux::compute::length(list, std::identity()) + 1; });";
    /// The sum of the list of a comprehension.
    COMPUTE_SUM = Function "flux::compute::sum",
        "static_assert(requires(std::vector<int> list) { flux::compute::sum<int>(list, std::identity()) + 1; });";
    /// The smallest of the list of a comprehension.
    COMPUTE_MIN = Function "flux::compute::min",
        "static_assert(requires(std::vector<int> list) { flux::compute::min<int>(list, std::identity()) + 1; });";
    /// The largest of the list of a comprehension.
    COMPUTE_MAX = Function "flux::compute::max",
        "static_assert(requires(std::vector<int> list) { flux::compute::max<int>(list, std::identity()) + 1; });";
    /// Whether one of the list of a comprehension is true.
    COMPUTE_ANY = Function "flux::compute::any",
        "static_assert(requires(std::vector<bool> list) { !flux::compute::any(list, std::identity()); });";
    /// Whether all of the list of a comprehension are true.
    COMPUTE_ALL = Function "flux::compute::all",
        "static_assert(requires(std::vector<bool> list) { !flux::compute::all(list, std::identity()); });";

    /// The lock of a constraint that all flows share, made of its number in the table of constraints.
    PROGRAM_LOCK = Type "flux::program_lock",
        "constinit flux::program_lock program_lock{0};";
    /// Holds a constraint for the flow from here to the end of the block.
    HOLD = Type "flux::hold",
        "static_assert(std::is_nothrow_constructible_v<flux::hold, flux::flow &, flux::program_lock &, flux::mode>);\n\
         static_assert(!std::is_copy_constructible_v<flux::hold>);";
    /// The locks of a constraint that the flows of a session share, made of its number in the table of constraints.
    SESSION_LOCK = Type "flux::session_lock",
        "constinit flux::session_lock session_lock{0};";
    /// As `hold`, for the flow's session.
    HOLD_SESSION = Type "flux::hold_session",
        "static_assert(\n    \
             std::is_nothrow_constructible_v<flux::hold_session, flux::flow &, flux::session_lock &, flux::mode>);\n\
         static_assert(!std::is_copy_constructible_v<flux::hold_session>);";
    /// The locks of a keyed constraint, made of its number in the table of constraints.
    KEYED_LOCK = Type "flux::keyed_lock",
        "constinit flux::keyed_lock keyed_lock{0};";
    /// A key, made of how it is to be held and its values, of which there is at least one.
    KEY = Function "flux::key",
        "static_assert(requires(int number, char *text) { flux::key(flux::mode::write, number, text); });";
    /// As `hold`, for any number of keys of one constraint.
    HOLD_KEYS = Type "flux::hold_keys",
        "static_assert(requires(flux::flow &flow) {\n    \
             flux::hold_keys(flow, keyed_lock, flux::key(flux::mode::write, 1), flux::key(flux::mode::read, 2));\n\
         });";
    /// Whether equal values of two types are one key.
    SAME_KEY = Constant "flux::same_key",
        "static_assert(flux::same_key<int, const int> && !flux::same_key<int, long>);";
    /// Whether values of a type can be keys.
    KEYABLE = Constant "flux::keyable",
        "static_assert(flux::keyable<int> && flux::keyable<const char *> && !flux::keyable<double>);";
    /// Held together with other readers.
    MODE_READ = Enumerator "flux::mode::read",
        "static_assert(flux::mode::read != flux::mode::write);";
    /// Of a table: held together with others that hold rows of it.
    MODE_INTENT = Enumerator "flux::mode::intent",
        "static_assert(flux::mode::intent != flux::mode::write);";
    /// Held alone.
    MODE_WRITE = Enumerator "flux::mode::write",
        "static_assert(std::is_same_v<decltype(flux::mode::write), flux::mode>);";

    /// A node in the tables: name, file, line.
    NODE_INFO = Type "flux::node_info",
        "constexpr flux::node_info nodes[] = {{\"Listen\", \"a.flux\", 5}};";
    /// A constraint in the tables: name, scope.
    CONSTRAINT_INFO = Type "flux::constraint_info",
        "constexpr flux::constraint_info constraints[] = {{\"cache\", flux::scope::program}};";
    /// Shared by all flows.
    SCOPE_PROGRAM = Enumerator "flux::scope::program",
        "static_assert(std::is_same_v<decltype(flux::scope::program), flux::scope>);";
    /// Shared by the flows of a session.
    SCOPE_SESSION = Enumerator "flux::scope::session",
        "static_assert(std::is_same_v<decltype(flux::scope::session), flux::scope>);";
    /// Shared by the flows with equal keys.
    SCOPE_KEYED = Enumerator "flux::scope::keyed",
        "static_assert(std::is_same_v<decltype(flux::scope::keyed), flux::scope>);";
    /// A generated function in the path graph: name, how many paths lead to each exit, the vertex of each exit; the
    /// exits are in the order of the outcomes.
    PATH_FUNCTION = Type "flux::path_function",
        "constexpr flux::path_function path_functions[] = {{\"Listen_run\", {1, 0, 0}, {1, 2, 3}}};";
    /// A vertex of the path graph: kind, label, function, first edge into it, number of edges into it.
    PATH_VERTEX = Type "flux::path_vertex",
        "constexpr flux::path_vertex path_vertices[] = {{flux::path_kind::start, nullptr, 0, 0, 0}};";
    /// A vertex where the function begins.
    KIND_START = Enumerator "flux::path_kind::start",
        "static_assert(std::is_same_v<decltype(flux::path_kind::start), flux::path_kind>);";
    /// A vertex where ways come together; nothing to show.
    KIND_JOIN = Enumerator "flux::path_kind::join",
        "static_assert(std::is_same_v<decltype(flux::path_kind::join), flux::path_kind>);";
    /// A vertex that is shown by its label.
    KIND_LABEL = Enumerator "flux::path_kind::label",
        "static_assert(std::is_same_v<decltype(flux::path_kind::label), flux::path_kind>);";
    /// A vertex where a call of the function came back as done.
    KIND_CALL_DONE = Enumerator "flux::path_kind::call_done",
        "static_assert(std::is_same_v<decltype(flux::path_kind::call_done), flux::path_kind>);";
    /// A vertex where a call of the function came back as failed.
    KIND_CALL_FAILED = Enumerator "flux::path_kind::call_failed",
        "static_assert(std::is_same_v<decltype(flux::path_kind::call_failed), flux::path_kind>);";
    /// A vertex where a call of the function came back as ended.
    KIND_CALL_ENDED = Enumerator "flux::path_kind::call_ended",
        "static_assert(std::is_same_v<decltype(flux::path_kind::call_ended), flux::path_kind>);";
    /// As `call_done`, where the function's paths are counted by themselves.
    KIND_CUT_DONE = Enumerator "flux::path_kind::cut_done",
        "static_assert(std::is_same_v<decltype(flux::path_kind::cut_done), flux::path_kind>);";
    /// As `call_failed`, where the function's paths are counted by themselves.
    KIND_CUT_FAILED = Enumerator "flux::path_kind::cut_failed",
        "static_assert(std::is_same_v<decltype(flux::path_kind::cut_failed), flux::path_kind>);";
    /// As `call_ended`, where the function's paths are counted by themselves.
    KIND_CUT_ENDED = Enumerator "flux::path_kind::cut_ended",
        "static_assert(std::is_same_v<decltype(flux::path_kind::cut_ended), flux::path_kind>);";
    /// A vertex where a branch of a parallel step came back by whichever exit: its paths are numbered those that are
    /// done first, then the failed and the ended ones.
    KIND_CALL_ANY = Enumerator "flux::path_kind::call_any",
        "static_assert(std::is_same_v<decltype(flux::path_kind::call_any), flux::path_kind>);";
    /// An edge of the path graph: the vertex it comes from, what it adds to the path number.
    PATH_EDGE = Type "flux::path_edge",
        "constexpr flux::path_edge path_edges[] = {{0, flux::path_number{1} << 52}};";
    /// A source in the tables.
    SOURCE_INFO = Type "flux::source_info",
        "flux::outcome produce(flux::flow &flow, values &out);\n\
         flux::outcome run(flux::flow &flow, values &in);\n\
         flux::outcome produce_nothing(flux::flow &flow);\n\
         flux::outcome run_with_nothing(flux::flow &flow);";
    /// A source of the two functions that produce and run its flows: name, file and line, then their numbers. Both
    /// functions take the values, or neither does where the source gives none.
    MAKE_SOURCE = Function "flux::make_source",
        "constexpr flux::source_info sources[] = {\n    \
             flux::make_source<produce, run>({\"Listen\", \"a.flux\", 19}, 0, 1),\n    \
             flux::make_source<produce_nothing, run_with_nothing>({\"Tick\", \"a.flux\", 20}, 2, 3),\n\
         };";
    /// As `make_source`, for one that may run in several instances at once.
    MAKE_REPLICABLE_SOURCE = Function "flux::make_replicable_source",
        "using replicable = decltype(flux::make_replicable_source<produce, run>({\"Listen\", \"a.flux\", 22}, 0, 1));\n\
         static_assert(std::is_same_v<replicable, flux::source_info>);";
    /// A source that starts a flow at every beat: name, file and line, the milliseconds between two beats, the number
    /// of the function that runs the flow.
    MAKE_TIMER = Function "flux::make_timer",
        "using timer = decltype(flux::make_timer<run_with_nothing>({\"every 5ms\", \"a.flux\", 21}, 5, 3));\n\
         static_assert(std::is_same_v<timer, flux::source_info>);";
    /// The value of an option that is a number.
    OPTION_NUMBER = Type "flux::option_number",
        "static_assert(std::is_same_v<flux::option_number, std::int64_t>);\n\
         flux::option_number port{80};\n\
         const char *root{\"public\"};\n\
         bool verbose{};";
    /// An option in the tables.
    OPTION_INFO = Type "flux::option_info",
        "static_assert(std::is_class_v<flux::option_info>);";
    /// An integer.
    OPTION_INTEGER = Enumerator "flux::option_kind::integer",
        "static_assert(std::is_same_v<decltype(flux::option_kind::integer), flux::option_kind>);";
    /// A string.
    OPTION_TEXT = Enumerator "flux::option_kind::text",
        "static_assert(std::is_same_v<decltype(flux::option_kind::text), flux::option_kind>);";
    /// A path, as a string.
    OPTION_PATH = Enumerator "flux::option_kind::path",
        "static_assert(std::is_same_v<decltype(flux::option_kind::path), flux::option_kind>);";
    /// True or false.
    OPTION_TRUTH = Enumerator "flux::option_kind::truth",
        "static_assert(std::is_same_v<decltype(flux::option_kind::truth), flux::option_kind>);";
    /// A number of milliseconds.
    OPTION_DURATION = Enumerator "flux::option_kind::duration",
        "static_assert(std::is_same_v<decltype(flux::option_kind::duration), flux::option_kind>);";
    /// A number of bytes.
    OPTION_SIZE = Enumerator "flux::option_kind::size",
        "static_assert(std::is_same_v<decltype(flux::option_kind::size), flux::option_kind>);";
    /// An option: its flag, its kind, its default as the command line would have it (null where there is none), what
    /// `--help` says of it, and the variable for its value. One that is a number is made with the types that it
    /// becomes.
    MAKE_OPTION = Function "flux::make_option",
        "constexpr flux::option_info options[] = {\n    \
             flux::make_option<int, long>(\"port\", flux::option_kind::integer, \"80\", \"The port\", port),\n    \
             flux::make_option(\"root\", flux::option_kind::path, nullptr, \"\", root),\n    \
             flux::make_option(\"verbose\", flux::option_kind::truth, \"false\", \"\", verbose),\n\
         };";
    /// All that the runtime must know of a program: its name and the tables, each of which may be empty (`{}`); that of
    /// the options comes last and may be left out; so may, behind it, whether flows run on event loops alone.
    PROGRAM = Type "flux::program",
        "constexpr flux::program full{\"a\", nodes, constraints, sources, path_functions, path_vertices, path_edges};\n\
         constexpr flux::program bare{\"a\", {}, {}, {}, {}, {}, {}};\n\
         constexpr flux::program told{\"a\", {}, {}, {}, {}, {}, {}, options};\n\
         static_assert(told.options.size() == 3 && !told.on_loops);\n\
         constexpr flux::program looped{\"a\", {}, {}, {}, {}, {}, {}, options, true};\n\
         static_assert(looped.on_loops);";
    /// Calls the program's own start with its options, where it defines one: `start<Options>(init, options, why)`.
    START = Function "flux::start",
        "static_assert(std::is_same_v<int, decltype(flux::start<int>(\n    \
         std::declval<int (*)(const int &, std::string &)>(), int{}, std::declval<std::string &>()))>);";
    /// Runs the server until it is asked to end; gives the exit status of the process. Last may come a function that
    /// starts the program.
    SERVE = Function "flux::serve",
        "static_assert(std::is_same_v<decltype(flux::serve(full, int{}, std::declval<char **>(),\n    \
         std::declval<int (*)(std::string &)>())), int>);\n\
         static_assert(std::is_same_v<decltype(flux::serve(bare, int{}, std::declval<char **>())), int>);";
}

/// What the probe starts with: the header that generated code includes, and what its own assertions need.
const PROBE_START: &str = "#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace probe {

// What a source gives.
struct values {
    int value;
};
";

/// A C++ file that compiles exactly where the runtime's headers provide every symbol as the table has it.
pub fn probe() -> String {
    let headers = [HEADER, HEADER_COMPUTE, HEADER_DYNAMIC, HEADER_TURNS, HEADER_2006, STD_2006]
        .map(|header| format!("#include <{}>\n", header.spelling))
        .concat();
    let mut text = format!("{headers}\n{PROBE_START}");
    for symbol in ALL {
        let expected = match symbol.kind {
            SymbolKind::Member => format!("static_assert(requires(flux::flow &flow) {{\n    {}\n}});", symbol.expected),
            _ => symbol.expected.to_owned(),
        };
        text += &format!("\n// {}: {}\n{expected}\n", symbol.spelling, symbol.meaning);
    }
    text += "\n} // namespace probe\n";
    text
}
