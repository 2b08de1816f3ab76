//! Names that a declaration cannot have, because every server uses them already.

/// Each with the reason.
pub const TAKEN: [(&str, &str); 5] = [
    ("main", "the server starts in a `main` of its own"),
    ("flux", "`flux` is the namespace of the runtime"),
    ("flux_flows", "`flux_flows` is the namespace of the generated code"),
    ("FLUX_GENERATED_SUPPORT", "it is a macro of the runtime"),
    ("std", "`std` is the namespace of the C++ library"),
];
