//! The proxy of `examples/memcached_proxy` for the text protocol, beside memcached itself: the same requests, byte for
//! byte the same replies, before one server or several; for pymemcache and the clients of libmemcached.

use crate::support;
use crate::support::{Server, folder, memcached, text};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const LOOPS: [&[&str]; 2] = [&["--flux-workers=1", "--flux-io=reactor"], &["--flux-workers=2", "--flux-io=proactor"]];

/// The proxy, built once, with its peers in simulated worlds.
fn program() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let program = support::built::examples().join("memcached_proxy/text.flick");
        support::built::build(&program, &[support::built::tests().join("memcached_text/world.cpp")], &["--debug"])
    })
}

/// The proxy before these, which it is bound to so.
fn proxy(backends: &[&Server], bound: &str, loops: &[&str]) -> Server {
    let at: Vec<String> = backends.iter().map(|backend| format!("127.0.0.1:{}", backend.port)).collect();
    let at = format!("--backends={}{bound}", at.join(","));
    Server::listening(Command::new(program()).args(["--client=127.0.0.1:0", &at]).args(loops))
}

/// What comes last.
const END: &str = "VALUE end 0 3\r\nend\r\nEND\r\n";

/// What comes of requests that are sent at once.
fn replies(of: &Server, requests: impl AsRef<[u8]>) -> String {
    let mut connection = of.connect();
    let mut sends = connection.try_clone().unwrap();
    let requests = [requests.as_ref(), b"set end 0 0 3 noreply\r\nend\r\nget end\r\n"].concat();
    let sent = requests.clone();
    let sender = std::thread::spawn(move || sends.write_all(&sent).unwrap());
    let (mut all, mut some) = (String::new(), vec![0; 64 << 10]);
    while !all.ends_with(END) {
        let count = connection.read(&mut some).unwrap();
        assert!(
            count != 0,
            "it ended behind {:?} of {:?}",
            all.lines().last(),
            text(&requests[..requests.len().min(300)])
        );
        all += &text(&some[..count]);
    }
    sender.join().unwrap();
    all
}

/// Requests of all kinds, by the numbers of a generator.
fn requests(count: usize, seed: u64) -> String {
    let mut state = seed * 2 + 1;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut all = "flush_all\r\n".to_owned();
    for number in 0..count {
        let (key, other, third) = (draw(30), draw(30), draw(30));
        let quiet = if draw(4) == 0 { " noreply" } else { "" };
        let value = if draw(3) == 0 { number.to_string() } else { "v".repeat(usize::try_from(draw(3000)).unwrap()) };
        let size = value.len();
        match draw(14) {
            0 | 1 => write!(all, "set k{key} {other} 0 {size}{quiet}\r\n{value}\r\n"),
            2 => write!(all, "add k{key} 0 0 {size}{quiet}\r\n{value}\r\n"),
            3 => write!(all, "replace k{key} 7 0 {size}{quiet}\r\n{value}\r\n"),
            4 => write!(all, "append k{key} 0 0 1{quiet}\r\nA\r\n"),
            5 => write!(all, "prepend k{key} 0 0 1{quiet}\r\nP\r\n"),
            6 => write!(all, "delete k{key}{quiet}\r\n"),
            7 => write!(all, "incr k{key} {other}{quiet}\r\n"),
            8 => write!(all, "touch k{key} 1000{quiet}\r\n"),
            9 => write!(all, "get k{key} none k{other} k{third} k{key}\r\n"),
            10 => write!(all, "gat 1000 k{key} k{other}\r\n"),
            11 => write!(all, "get k{key} k{other}\r\nverbosity 0\r\nget none\r\n"),
            _ => write!(all, "get k{key}\r\n"),
        }
        .unwrap();
    }
    all + "get\r\nno such verb\r\nflush_all\r\nget k1 k2 k3\r\n"
}

/// Each memcached is as if it had come from the start of the same time.
#[test]
fn replies_are_those_of_memcached_and_in_its_order() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    for (seed, loops) in (1..).zip(LOOPS) {
        let requests = requests(600, seed);
        let wanted = replies(&itself, &requests);
        assert!(wanted.len() > 100_000);
        for bound in ["", "; keep 2; retry 1", "; shared; retry 1"] {
            for backends in [&[&first][..], &[&first, &second, &third]] {
                let server = proxy(backends, bound, loops);
                let found = replies(&server, &requests);
                let differs = wanted.lines().zip(found.lines()).position(|(one, two)| one != two);
                assert!(found == wanted, "{loops:?}, {} servers, {bound}: line {differs:?}", backends.len());
            }
        }
    }
}

/// Lines that are no command, have too few words or too many, or numbers that are none; data that is longer or shorter
/// than its command says, or than servers keep; and meta commands.
fn oddities() -> Vec<Vec<u8>> {
    let lines = "|\n| |x|no such verb|get|get a\n|get  a  b | get a|get a \n|gets|bget a b|gat|gat 0|gat 0 |gat x a b\
        |GET a|foo noreply|delete noreply|delete a x|delete a 5 noreply|delete a 0|delete a b c d|delete|set|set a\
        |set a 0 0|set a 0 0 1 2 3|set a x 0 1|set a x 0 1 noreply|set a 0 x 1|set a 0 0 x|set a 0 0 -1|set a -1 0 1\
        |set a 0 0 1x|cas a 0 0 1|cas a 0 0 1 x|prepend a 0 0|incr a|incr a x|incr a noreply|incr a 1 foo|incr a 1 2 3\
        |touch a|touch a x|touch a noreply|touch a 1 noreply|flush_all x|flush_all x noreply|flush_all a b c|verbosity\
        |verbosity x|verbosity noreply|verbosity 0 noreply|cache_memlimit x|cache_memlimit noreply|version x\
        |version noreply|stats foo|stats noreply|stats sizes|mn|mn x|mg|mg a|mg a v|mg a zz|mg a v v|mg none v\
        |mg noreply v|mg a b|mg a v t f k O123|ms|ms a|ms a x|ms a S3|ms a -1|md|md none|md a zz|ma|ma none|ma a Dx\
        |ma count N0 J5|me|me none|mz a|m";
    let long = "k".repeat(251);
    let of_long = "set LONG 0 0 1|set LONG 0 0 1 noreply|incr LONG 1|touch LONG 1|delete LONG|mg LONG v|md LONG\
        |ms LONG 3|me LONG";
    let stored = [
        "set a 0 0 3\r\nabcdef\r\n",
        "set a 0 0 3 noreply\r\nabcdef\r\n",
        "set a 0 0 3\r\nab\r\nget a\r\n",
        "set a 0 0 3 foo\r\nabc\r\n",
        "set a 4294967295 -1 3\nabc\r\n",
        "cas a 0 0 3 1\r\nabcde\r\n",
        "cas a 0 0 3 1 noreply\r\nabc\r\n",
        "ms a 3\r\nabc\r\n",
        "ms a 3 T0 k\r\nabc\r\n",
        "ms a 3\r\nabcde\r\n",
        "ms a 3 zz\r\nabc\r\n",
        "ms a 3 b\r\nabc\r\n",
        "ms a 3 T0 T0\r\nabc\r\n",
        "ms a 3 MZ\r\nabc\r\n",
    ];
    let mut all: Vec<Vec<u8>> = (lines.to_owned() + "|" + &of_long.replace("LONG", &long))
        .split('|')
        .map(|line| (line.to_owned() + "\r\n").into())
        .collect();
    all.extend(stored.map(|one| one.as_bytes().to_vec()));
    for head in ["set a 0 0 2000000", "set a 0 0 2000000 noreply", "cas a 0 0 2000000 1", "ms a 2000000"] {
        all.push([head.as_bytes(), b"\r\n", &[b'x'; 2_000_000], b"\r\n"].concat());
    }
    all.push(format!("get{}\r\n", " key".repeat(3000)).into());
    all.push(format!("get{}\r\n", (0..20_000).map(|key| format!(" key{key}")).collect::<String>()).into());
    all
}

/// Words that have what the protocol forbids in them, numbers as the C library reads them, lines as long as they may
/// be, and what says that no answer is wanted where that is not looked for.
fn strange_lines() -> Vec<Vec<u8>> {
    let lines = "get a\tb|get \x01|get \x7f a|get a\x0bb c\td|get a\0b|get a\0b c\r|get \0 a|\0get a|get\0 a\
        |set a\tb 0 0 1\r\nx\
        |get a\tb a|touch \x01 0|delete a\tb|mg a\tb v k|ms \x02 1 k\r\nx|mg \x02 v k|incr \x01 1|gat 0 a\tb a\
        |foo\tbar|\t|\x01\
        |set a +0 +0 +1\r\nx|set a 0 0 1\t\r\nx|set a 0 0 \t1\r\nx|set a \t+7\t- -0 +1\tx\r\nx\
        |set a -0 0 1\r\nx|set a -1 0 1\
        |set a 0 0 +-1|set a 0 0 - 1|set a 0 0 0x1|set a 0 0 1.0|set a 4294967296 2147483648 1\r\nx\
        |set a 0 0 4294967297\r\nx|set a 0 0 -4294967295\r\nx|set a 0 0 -0\r\n|set a 0 0 2147483646\
        |set a 0 0 2147483648\
        |set a 0 99999999999999999999 1|set a 99999999999999999999 0 1|set a 0 0 99999999999999999999999\
        |set a 9223372036854775808 0 1\r\nx|set a 18446744073709551615 -1223372036854775807 1\r\nx\
        |set a 19446744073709551616 0 1|set a 0 0 00000000000000000000001\r\nx|set a 0 0 1\0 2 3 noreply\r\nx\
        |cas a 0 0 1 +1\r\nx|cas a 0 0 1 18446744073709551615\r\nx|cas a 0 0 1 -1|cas a 0 0 1 noreply|set a 0 0 noreply\
        |set a 0 0 noreply x|set a x 0 noreply 1|set a 0 0 1 noreply x|set a 0 0 1 noreply  \r\nx|set a 0 0 1 x  \r\nx\
        |incr a +1|incr a -1|incr a 1\t|incr a 99999999999999999999|touch a +5|touch a 2147483648|touch a 1x|gat +5 a\
        |gat 2x a b|gat 99999999999999999999 a b|delete a x noreply|delete a 0 noreply|delete a noreply 0\
        |verbosity 0 0 noreply|verbosity 0 1 2|verbosity 0 1 2 3|cache_memlimit 0 noreply|cache_memlimit 1 2 3\
        |flush_all noreply x|flush_all 1000000 noreply x|shutdown|shutdown x|slabs|slabs automove x noreply\
        |slabs automove noreply|slabs reassign 1 2|lru|lru x noreply|lru tune 1 2 3 4 noreply|lru_crawler|lru_crawler x\
        |extstore x noreply|sfoo / HTTP/1.1|m HTTP/1.1|mz HTTP/1.1|version HTTP/1.1|foo HTTP/1.1 x|foo HTTP\
        |mn q|mn x q|mg a q|mg none q|mg a v q|mg a q v zz|mg a q\t|md none q|ma none q|ma a q\
        |ms b 1 q\r\nx|ms b +1 q\r\nx|ms b 4294967297 q\r\nx|ms b 1 q\r\nxyz|ms b 1 ME q\r\nx|ms b 1 q zz\r\nx\
        |ms b x q|me none q\
        |ms b 1 T+5 F+5\r\nx|mg a O0 s t f h l k v u q b x|md b q";
    let mut all: Vec<Vec<u8>> = lines.split('|').map(|line| (line.to_owned() + "\r\n").into()).collect();
    for flags in [15, 16, 17, 22, 30] {
        let flags: String = ["k", "c", "O1", "F0", "T0", "I", "q", "S", "b", "MS"].repeat(3)[..flags].join(" ");
        all.push(format!("ms a 1 {flags}\r\nx\r\n").into());
        all.push(format!("mg a {flags}\r\n").into());
    }
    // All that memcached surely waits for the end of: up to 2048 bytes.
    for size in [2040, 2047, 2048] {
        for head in
            ["get a", "touch a 0", "set a 0 0 1", "ms a 1", "mg a v", "mn", "gat 0 a", "cas a 0 0 1 1", "version"]
        {
            let data = if head.starts_with("set") || head.starts_with("ms") { "x\r\n" } else { "" };
            all.push(format!("{head:width$}\r\n{data}", width = size - 1).into());
            all.push(format!("{head:width$}\n{data}", width = size).into());
        }
        for head in
            ["get ", "set ", "mg ", "delete ", "incr a ", "touch a ", "set a 0 0 1 ", "foo ", "fo", "mn ", "gat 0 "]
        {
            all.push(format!("{head:x<width$}\r\n", width = size - 1).into());
        }
    }
    for size in [250, 251, 1000, 5000] {
        all.push(format!("get {}\r\n", "k".repeat(size)).into());
        all.push(format!("get a {} b\r\n", "k".repeat(size)).into());
    }
    all
}

/// A line of words that are drawn, and data that may be what it says.
fn random_lines(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed * 2 + 1;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let keys = ["a", "b", "c", "k1", "k2", "k3", "a\tb", "\x01", "\x7f", "noreply", "a\0b", "0", "HTTP/1.1", "\u{442}"];
    let numbers = "0 1 2 3 +5 -1 -0 5\t \t3 2x x 007 99999999999999999999 18446744073709551615 4294967297 \
        2147483648 -4294967295 \
        2147483646 noreply 0x10 --1 123456789012345678 1\0";
    let numbers: Vec<&str> = numbers.split(' ').collect();
    let flags =
        ["v", "q", "q", "q1", "k", "O123", "f", "s", "t", "T0", "N0", "zz", "J5", "D2", "ME", "MX", "I", "T+5", "F5"];
    let verbs = "set add replace append prepend cas get get get get bget gat touch incr decr delete mg mg md ma \
        ms ms me mn verbosity \
        cache_memlimit flush_all version slabs lru lru_crawler ifoo gfoo stats";
    let verbs: Vec<&str> = verbs.split(' ').collect();
    let mut all = String::new();
    for _ in 0..count {
        let verb = verbs[draw(verbs.len())];
        let mut words = vec![verb];
        let mut size = None;
        match verb {
            "get" | "bget" => (0..[0, 1, 2, 3, 9][draw(5)]).for_each(|_| words.push(keys[draw(keys.len())])),
            "gat" => {
                words.push(numbers[draw(numbers.len())]);
                (0..[0, 1, 2, 3, 9][draw(5)]).for_each(|_| words.push(keys[draw(keys.len())]));
            }
            "mg" | "md" | "ma" | "ms" => {
                words.push(keys[draw(keys.len())]);
                if verb == "ms" {
                    size = Some(draw(4));
                    words.push(if draw(3) == 0 { numbers[draw(numbers.len())] } else { numbers[size.unwrap()] });
                }
                (0..[0, 1, 2, 3, 16, 17, 18][draw(7)]).for_each(|_| words.push(flags[draw(flags.len())]));
            }
            "me" | "stats" => words.push("none"),
            "flush_all" => words.push("x"),
            _ => {
                words.push(keys[draw(keys.len())]);
                (0..draw(5)).for_each(|_| words.push(numbers[[draw(4), draw(numbers.len())][draw(2)]]));
                if draw(2) == 0 {
                    words.push(["noreply", "noreply", "x"][draw(3)]);
                }
                size = words.get(4).and_then(|word| word.parse().ok()).filter(|size| *size < 10);
            }
        }
        all += &words.join(["  ", " ", " ", " ", " "][draw(5)]);
        all += ["\r\n", "\r\n", "\r\n", "\n", " \r\n", "\0x y\r\n"][draw(6)];
        if let Some(size) = size {
            all += &"v".repeat(size + [0, 0, 0, 0, 1][draw(5)]);
            all += "\r\n";
        }
    }
    all.into()
}

#[test]
fn strange_lines_are_answered_as_by_memcached() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    let mut all: Vec<Vec<u8>> = strange_lines();
    let setting = |name, usual| std::env::var(name).map_or(usual, |value: String| value.parse().unwrap());
    let seed: u64 = setting("FLUX_LINES_SEED", 1);
    all.extend((seed..seed + setting("FLUX_LINES_SEEDS", 300)).map(|seed| random_lines(5, seed)));
    let all: Vec<Vec<u8>> = (all.iter())
        .map(|one| {
            [b"flush_all\r\nset a 0 0 1 noreply\r\na\r\nget a\r\n", &one[..], b"get a b\r\nincr none 1\r\n"].concat()
        })
        .collect();
    let wanted: Vec<String> = all.iter().map(|one| replies(&itself, one)).collect();
    for (loops, bound) in [(LOOPS[0], "; keep 2"), (LOOPS[1], ""), (LOOPS[0], "; shared; retry 1")] {
        let server = proxy(&[&first, &second, &third], bound, loops);
        for (one, wanted) in all.iter().zip(&wanted) {
            let found = replies(&server, one);
            assert!(found == *wanted, "{loops:?}, {bound}: {:?}\n{found}\n{wanted}", text(&one[..one.len().min(400)]));
        }
    }
}

/// Before and behind each is something else.
#[test]
fn what_is_wrong_is_answered_as_memcached_answers_it_and_the_rest_goes_on() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    let around = |one: &[u8]| [b"set a 0 0 1 noreply\r\na\r\nget a\r\n", one, b"get a b\r\nincr none 1\r\n"].concat();
    let all: Vec<Vec<u8>> = oddities().iter().map(|one| around(one)).collect();
    let wanted: Vec<String> = all.iter().map(|one| replies(&itself, one)).collect();
    let wanted_at_once = replies(&itself, all.concat());
    for (loops, bound) in [(LOOPS[0], "; keep 2"), (LOOPS[1], ""), (LOOPS[0], "; shared; retry 1")] {
        let server = proxy(&[&first, &second, &third], bound, loops);
        for (one, wanted) in all.iter().zip(&wanted) {
            let found = replies(&server, one);
            assert!(found == *wanted, "{loops:?}, {bound}: {}\n{found}\n{wanted}", text(&one[..one.len().min(300)]));
        }
        assert!(replies(&server, all.concat()) == wanted_at_once, "{loops:?}, {bound}");
        // memcached itself drops answers where such a line is not the first that it has read.
        let long = "get LONG|gets a LONG|get LONG a|get a b LONG LONG|gat 0 LONG|gat 0 a LONG b"
            .replace("LONG", &"k".repeat(251));
        let long: String = long.split('|').map(|line| format!("get a\r\n{line}\r\nverbosity 0\r\n")).collect();
        let wanted = "VALUE a 0 1\r\na\r\nEND\r\nCLIENT_ERROR bad command line format\r\nOK\r\n".repeat(6);
        assert_eq!(
            replies(&server, "set a 0 0 1 noreply\r\na\r\n".to_owned() + &long),
            wanted + END,
            "{loops:?}, {bound}"
        );
    }
}

/// What may be quiet has `mn` behind it, so that its reply is known, and replies of several servers have their order.
#[test]
fn quiet_meta_commands_are_answered_as_by_memcached() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    let mut quiet =
        "flush_all\r\nms a 1\r\na\r\nmg a q v\r\nmg none q v\r\nms b 1 q\r\nb\r\nmd none q\r\nms c 3 q\r\nabcdef\r\n\
                 mg a q zz\r\n\
                 ma none q\r\nmn\r\nset a 0 0 1 noreply\r\nb\r\nget a b\r\n"
            .to_owned();
    for key in 0..300 {
        write!(quiet, "ms k{key} 2 q\r\n{:02}\r\nmg k{} q v k\r\nget k{key} k{}\r\n", key % 100, key / 2, key / 3)
            .unwrap();
        let what =
            ["mn", "md k5 q", "ma k7 q", "mg none q", "mg k1", "ms k1 1 q ME\r\nx", "verbosity 0 noreply"][key % 7];
        write!(quiet, "{what}\r\nget none k{key} a b\r\n").unwrap();
    }
    let large = format!("ms large 2000000 q\r\n{}\r\nget large a\r\nmg a q v\r\n", "x".repeat(2_000_000));
    quiet += &large;
    let wanted = replies(&itself, &quiet);
    for (loops, bound) in
        [(LOOPS[0], "; keep 2"), (LOOPS[1], "; shared"), (LOOPS[1], ""), (LOOPS[0], "; shared; retry 1")]
    {
        for backends in [&[&first][..], &[&first, &second, &third]] {
            let found = replies(&proxy(backends, bound, loops), &quiet);
            let differs = wanted.lines().zip(found.lines()).position(|(one, two)| one != two);
            assert!(found == wanted, "{loops:?}, {bound}, {} servers: line {differs:?}", backends.len());
        }
    }
}

/// Of some commands nobody knows how many lines they are answered with. What was asked before is answered in its order.
#[test]
fn what_has_any_number_of_replies_comes_behind_all_others() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    let gets: String = (0..30).map(|key| format!("mg k{key} q v\r\nget k{key} none\r\n")).collect();
    let all = gets + "watch nothing\r\n";
    let wanted = itself.ask_and_end(&all);
    for (loops, bound) in [(LOOPS[0], "; keep 2"), (LOOPS[1], ""), (LOOPS[0], "; shared")] {
        let server = proxy(&[&first, &second, &third], bound, loops);
        for _ in 0..10 {
            assert_eq!(server.ask_and_end(&all), wanted, "{loops:?}, {bound}");
        }
    }
}

/// A client that quits, or asks for nothing more, has all of its replies before its connection ends, whichever server
/// gives them; and so has one that sends what nobody can tell the end of.
#[test]
fn who_leaves_has_all_of_its_replies() {
    let [itself, first, second, third] = [(); 4].map(|()| memcached::server());
    let gets: String = (0..12).map(|key| format!("get k{key}\r\n")).collect();
    let wanted = itself.ask(&(gets.clone() + "quit\r\n"));
    assert_eq!(wanted, "END\r\n".repeat(12));
    for bound in ["", "; keep 2", "; shared"] {
        for loops in LOOPS {
            let server = proxy(&[&first, &second, &third], bound, loops);
            for _ in 0..20 {
                assert_eq!(server.ask_and_end(&gets), wanted, "{loops:?}, {bound}");
                for last in ["quit\r\n", " quit now\nget a\r\n", "GET / HTTP/1.1\r\nget a\r\n", "get a\rb\r\n"] {
                    assert_eq!(server.ask(&(gets.clone() + last)), wanted, "{loops:?}, {bound}: {last}");
                }
            }
            assert_eq!(server.ask("quit\r\n"), "", "{loops:?}, {bound}");
            // A line is bounded: as memcached, the proxy leaves who sends no end of one.
            assert_eq!(server.ask(&"x".repeat(3000)), "", "{loops:?}, {bound}");
        }
    }
}

/// A reply that comes late holds up those to what was asked later, and no reply is lost where its server stands still.
#[test]
fn a_server_that_is_slow_keeps_its_place() {
    let [first, second] = [(); 2].map(|()| memcached::server());
    let server = proxy(&[&first, &second], "", LOOPS[0]);
    let (mut sets, mut gets, mut wanted) = (String::new(), String::new(), String::new());
    for key in 0..20 {
        write!(sets, "set k{key} 0 0 2 noreply\r\n{key:02}\r\n").unwrap();
        write!(gets, "get k{key}\r\n").unwrap();
        write!(wanted, "VALUE k{key} 0 2\r\n{key:02}\r\nEND\r\n").unwrap();
    }
    assert_eq!(replies(&server, &sets), END);
    first.stop();
    let found = std::thread::scope(|scope| {
        let found = scope.spawn(|| replies(&server, &gets));
        server.rest();
        first.signal("-CONT");
        found.join().unwrap()
    });
    assert_eq!(found, wanted + END);
}

/// Where a reply is lost that cannot be asked for again, nothing comes of what was asked behind it.
#[test]
fn what_comes_behind_a_reply_that_is_lost_is_nobodys() {
    for bound in ["", "; shared"] {
        let [first, second] = [(); 2].map(|()| memcached::server());
        let server = proxy(&[&first, &second], bound, LOOPS[0]);
        let (mut sets, mut asked, mut wanted) = (String::new(), String::new(), String::new());
        for key in 0..20 {
            write!(sets, "set k{key} 0 0 2 noreply\r\n{key:02}\r\n").unwrap();
            write!(asked, "touch k{key} 0\r\nget k{key}\r\n").unwrap();
            write!(wanted, "TOUCHED\r\nVALUE k{key} 0 2\r\n{key:02}\r\nEND\r\n").unwrap();
        }
        assert_eq!(replies(&server, &sets), END);
        first.stop();
        let mut client = server.connect();
        client.write_all(asked.as_bytes()).unwrap();
        server.rest();
        first.signal("-KILL");
        let mut found = vec![];
        client.read_to_end(&mut found).unwrap();
        assert!(found.len() < wanted.len() && wanted.as_bytes().starts_with(&found), "{bound}: {}", text(&found));
    }
}

/// Replies wait for a client that takes none, in their order; meanwhile others that share its connections have theirs.
#[test]
fn a_client_that_reads_nothing_holds_up_no_other() {
    let [first, second] = [(); 2].map(|()| memcached::server());
    for loops in LOOPS {
        let server = proxy(&[&first, &second], "; shared", loops);
        let (mut sets, mut gets, mut wanted) = (String::new(), String::new(), String::new());
        for number in 0..400 {
            let (key, value) = (number % 20, format!("{:02}", number % 20).repeat(20_000));
            let size = value.len();
            if number < 20 {
                write!(sets, "set k{key} 0 0 {size} noreply\r\n{value}\r\n").unwrap();
            }
            write!(gets, "get k{key} k{}\r\ntouch k{key} 0\r\n", key + 100).unwrap();
            write!(wanted, "VALUE k{key} 0 {size}\r\n{value}\r\nEND\r\nTOUCHED\r\n").unwrap();
        }
        assert_eq!(replies(&server, &sets), END);
        let mut slow = server.connect();
        let mut sends = slow.try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| sends.write_all(gets.as_bytes()).unwrap());
            server.rest();
            for _ in 0..10 {
                assert_eq!(replies(&server, "touch k1 0\r\ntouch k2 0\r\n"), "TOUCHED\r\n".repeat(2) + END);
            }
            let mut found = vec![0; wanted.len()];
            slow.read_exact(&mut found).unwrap();
            assert!(text(&found) == wanted, "{loops:?}");
        });
    }
}

/// Whatever the servers and the network do, what comes is the beginning of what is to come.
#[test]
fn replies_are_in_order_in_simulated_worlds() {
    for bound in ["keep 2 for 50ms; retry 2", "shared; retry 2"] {
        let bound = format!("--backends=127.0.0.1:7001, 127.0.0.1:7002, 127.0.0.1:7003; {bound}");
        support::holds_in_simulated_worlds(program(), &["--client=127.0.0.1:7000", &bound]);
    }
}

/// pymemcache; fetched once.
fn package() -> &'static Path {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = folder("memcached_text", "pymemcache");
        let mut fetch = Command::new("/usr/bin/python3");
        fetch.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", "."]);
        let fetched = fetch.arg("pymemcache==4.0.0").current_dir(&folder).output().unwrap();
        assert!(fetched.status.success(), "{}", text(&fetched.stderr));
        let mut unpack = Command::new("/usr/bin/python3");
        unpack.args(["-m", "zipfile", "-e", "pymemcache-4.0.0-py2.py3-none-any.whl", "."]);
        assert!(unpack.current_dir(&folder).status().unwrap().success());
        folder
    })
}

#[test]
fn pymemcache_sees_no_difference() {
    let [itself, first, second] = [(); 3].map(|()| memcached::server());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memcached_text/client.py");
    let said = |server: &Server| {
        let mut client = Command::new("/usr/bin/python3");
        let output = client.arg(&script).arg(package()).arg(server.port.to_string()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let wanted = said(&itself);
    for loops in LOOPS {
        assert_eq!(said(&proxy(&[&first, &second], "; keep 2", loops)), wanted, "{loops:?}");
    }
}

/// What a client of libmemcached says and whether it was content.
fn client(name: &str, server: &Server, arguments: &[&str]) -> (bool, String) {
    let address = format!("--servers=127.0.0.1:{}", server.port);
    let output = Command::new(name).arg(&address).args(arguments).output();
    let output = output.expect("the clients of memcached: apt-get install libmemcached-tools");
    (output.status.success(), text(&output.stdout))
}

#[test]
fn the_clients_of_libmemcached_see_no_difference() {
    let [itself, first, second] = [(); 3].map(|()| memcached::server());
    let values = folder("memcached_text", "values");
    let files: Vec<String> = (0..6).map(|number| format!("greeting{number}")).collect();
    let paths: Vec<String> = files.iter().map(|file| values.join(file).to_str().unwrap().to_owned()).collect();
    paths.iter().zip(&files).for_each(|(path, file)| std::fs::write(path, format!("hello {file}")).unwrap());
    let (names, paths): (Vec<&str>, Vec<&str>) =
        (files.iter().map(String::as_str).collect(), paths.iter().map(String::as_str).collect());
    let said = |server: &Server| {
        [
            client("memccat", server, &names),
            client("memccp", server, &paths),
            client("memccat", server, &names),
            client("memctouch", server, &["--expire=60", "greeting0"]),
            client("memcexist", server, &["greeting0"]),
            client("memcrm", server, &["greeting0"]),
            client("memcexist", server, &["greeting0"]),
            client("memcping", server, &[]),
            client("memcflush", server, &[]),
            client("memccat", server, &names),
        ]
    };
    let wanted = said(&itself);
    assert!(wanted[2].1.contains("hello greeting5"), "{wanted:?}");
    for loops in LOOPS {
        assert_eq!(said(&proxy(&[&first, &second], "", loops)), wanted, "{loops:?}");
    }
}
