//! Labels in Graphviz's HTML: a name with its constraints below.

/// `text` in HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A name, in HTML already, with badges below it.
pub(crate) fn with_badges(name: &str, badges: &[String]) -> String {
    if badges.is_empty() {
        return name.to_owned();
    }
    let badge = |text: &String| {
        format!(
            "<TD STYLE=\"ROUNDED\" BORDER=\"1\" COLOR=\"#d9a514\" BGCOLOR=\"#fff3c4\" CELLPADDING=\"2\">\
             <FONT POINT-SIZE=\"9\" COLOR=\"#7a5b00\">&#8201;{}&#8201;</FONT></TD>",
            escaped(text)
        )
    };
    // The empty cells share the width that a long name leaves over, so that the badges keep theirs.
    let badges: String = badges.iter().map(badge).collect();
    format!(
        "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"2\" CELLPADDING=\"0\"><TR><TD>{name}</TD></TR>\
         <TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"3\" CELLPADDING=\"0\">\
         <TR><TD></TD>{badges}<TD></TD></TR></TABLE></TD></TR></TABLE>"
    )
}

/// The label of an arrow, with some air around it.
pub(crate) fn beside_arrow(text: &str) -> String {
    format!("<TABLE BORDER=\"0\" CELLPADDING=\"3\"><TR><TD>{}</TD></TR></TABLE>", escaped(text))
}
