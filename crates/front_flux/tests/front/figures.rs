//! The programs of the paper, as printed there.

use crate::{flow, handlers, mistakes, nodes, program, requirements, sources};

/// Figure 2 of the paper, byte for byte. (It misspells `FourOhFour`, which section 2.4 does not.)
const FIGURE_2: &str = "// concrete node signatures
Listen ()
=> (int socket);
ReadRequest (int socket)
=> (int socket, bool close,
image_tag *request);
CheckCache (int socket, bool close,
image_tag *request)
=> (int socket, bool close,
image_tag *request);
// omitted for space:
// ReadInFromDisk, StoreInCache
Compress (int socket, bool close,
image_tag *request,
__u8 *rgb_data)
=> (int socket, bool close,
image_tag *request);
Write (int socket, bool close,
image_tag *request)
=> (int socket, bool close,
image_tag *request);
Complete (int socket, bool close,
image_tag *request) => ();
// source node
source Listen => Image;
// abstract node
Image = ReadRequest -> CheckCache
-> Handler -> Write -> Complete;
// predicate type & dispatch
typedef hit TestInCache;
Handler:[_, _, hit] = ;
Handler:[_, _, _] =
ReadInFromDisk -> Compress
-> StoreInCache;
// error handler
handle error ReadInFromDisk => FourOhFor;
// atomicity constraints
atomic CheckCache:{cache};
atomic StoreInCache:{cache};
atomic Complete:{cache};
";

/// Figure 1 of the paper, with the arrows as printed.
const FIGURE_1: &str = "source Listen ⇒ Image;
Image = ReadRequest → CheckCache
→ Handler
→ Write → Complete;
Handler [_, _, hit] = ;
Handler [_, _, _] =
ReadInFromDisk
→ Compress
→ StoreInCache;
";

#[test]
fn figure_2_reads_as_printed() {
    let read = program(FIGURE_2);
    let declared = ["Listen", "ReadRequest", "CheckCache", "Compress", "Write", "Complete"];
    let rest = ["Image", "Handler", "ReadInFromDisk", "StoreInCache"];
    assert_eq!(nodes(&read), [declared.as_slice(), &rest].concat());
    for (_, node) in read.nodes.iter() {
        assert_eq!(node.signature.is_some(), declared.iter().any(|name| node.name == *name), "{}", node.name);
    }
    let request = &read.nodes[read.node_named("ReadRequest").expect("declared")].outputs()[2];
    assert_eq!((request.ty.written(), request.name.as_str()), ("image_tag *", "request"));
    assert_eq!(sources(&read), ["Listen => Image"]);
    assert_eq!(flow(&read, "Image"), "ReadRequest -> CheckCache -> Handler -> Write -> Complete");
    assert_eq!(flow(&read, "Handler"), "[_, _, hit] = ; [_, _, _] = ReadInFromDisk -> Compress -> StoreInCache");
    assert_eq!(handlers(&read), ["ReadInFromDisk => FourOhFor()"]);
    assert_eq!(requirements(&read, "StoreInCache"), ["cache Write []"]);
    assert_eq!(read.constraints.len(), 1);
}

#[test]
fn figure_1_reads_with_its_arrows() {
    assert_eq!(mistakes(FIGURE_1), ["5 error [unknown-predicate]"]);
    let read = program(&format!("{FIGURE_1}typedef hit TestInCache;"));
    assert_eq!(sources(&read), ["Listen => Image"]);
    assert_eq!(flow(&read, "Image"), "ReadRequest -> CheckCache -> Handler -> Write -> Complete");
    assert_eq!(flow(&read, "Handler"), "[_, _, hit] = ; [_, _, _] = ReadInFromDisk -> Compress -> StoreInCache");
    assert_eq!(nodes(&read)[..3], ["Image", "Handler", "Listen"]);
}

#[test]
fn the_fragment_of_section_3_1_1_reads() {
    let read = program("A = B;\nC = D;\natomic A: {x};\natomic B: {y};\natomic C: {y};\natomic D: {x};\n");
    assert_eq!(nodes(&read), ["A", "C", "B", "D"]);
    assert_eq!(requirements(&read, "D"), ["x Write []"]);
}
