//! The same program however it is laid out, and words that are keywords by their place alone.

use crate::{flow, nodes, program, sources};
use flux_source::Span;

#[test]
fn white_space_and_comments_change_nothing() {
    let wide = "A ( char  * x , int y [ 3 ] ) => ( ) ;\nsource every 2s => A ;\nB = C ( - 1 , \"s\" ) -> ( D & E ) ;\n\
        typedef t F ;\nG : [ _ , t ] = ;\natomic A : { c ? ( x , y ) , d } ;\nhandle error A -> * => H ;";
    let tight = "A(char*x,int y[3])=>();source every 2s=>A;B=C(-1,\"s\")->(D&E);\
        typedef t F;G:[_,t]=;atomic A:{c?(x,y),d};handle error A->*=>H;";
    let commented = tight.replace(',', "/* a */,// b\n").replace("=>", "=>/**/").replace(';', ";// ; \"\n");
    let plain = |text: &str| {
        let mut read = program(text);
        // Places differ, and nothing else.
        for (_, node) in read.nodes.iter_mut() {
            node.span = Span::default();
        }
        let options = flux_ir::text::Options { spans: false };
        options.print_program(&read)
    };
    assert_eq!(plain(wide), plain(tight));
    assert_eq!(plain(&commented), plain(tight));
}

#[test]
fn every_word_but_seven_can_name_a_node() {
    for word in [
        "type",
        "use",
        "include",
        "option",
        "every",
        "node",
        "unit",
        "as",
        "flow",
        "path",
        "blocking",
        "replicable",
        "silent",
        "pure",
    ] {
        let text = format!(
            "{word} (int x) => (int x);\nsource {word} => B;\nB = {word} -> {word};\n\
             {word}x:[_] = ;\natomic {word}:{{{word}}};"
        );
        assert!(nodes(&program(&text)).iter().any(|node| node == word), "{word}");
        let text = format!("{word} = C;\nsource A => {word};\nhandle error {word} => {word};");
        assert_eq!(flow(&program(&text), word), "C");
        let text = format!("{word}:[_] = C;\n{word} [_] = D;");
        assert_eq!(flow(&program(&text), word), "[_] = C; [_] = D");
    }
}

#[test]
fn a_step_on_a_line_of_its_own_is_not_a_statement() {
    let read = program("A =\nB(3) ->\nC(\"x\")\n->\nuse -> type\n;\nsource\nL\n=>\nA;");
    assert_eq!(flow(&read, "A"), "B[Integer(3)] -> C[Text(\"x\")] -> use -> type");
    assert_eq!(sources(&read), ["L => A"]);
}

#[test]
fn a_file_may_come_from_anywhere() {
    assert_eq!(nodes(&program("\u{feff}A = B;\r\nB () => ();\r\n")), ["A", "B"]);
    assert!(nodes(&program("")).is_empty());
    assert!(nodes(&program("// nothing")).is_empty());
}
