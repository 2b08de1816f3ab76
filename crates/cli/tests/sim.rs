//! `flux sim`, through the command: the example of `docs/sim.md` prints what is there, JSON and pictures, and what is
//! said where something is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit status, standard output and standard error of `flux sim` in the folder of the example.
fn sim(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    flux(folder, &[&["sim"], arguments].concat())
}

/// Those of another command.
fn flux(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_flux")).args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The fenced blocks of the page: program, estimates, command, output; how to measure; another command, its output.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sim.md");
    let page = std::fs::read_to_string(page).unwrap();
    page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap().1.to_owned()).collect()
}

/// A folder with the program and the estimates of the page.
fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sim_{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let blocks = blocks();
    std::fs::write(folder.join("thumbs.flux"), &blocks[0]).unwrap();
    std::fs::write(folder.join("thumbs.estimates"), &blocks[1]).unwrap();
    folder
}

#[test]
fn the_page_shows_what_is_printed() {
    let blocks = blocks();
    let folder = example("page");
    for (command, output) in [(2, 3), (5, 6)] {
        let arguments: Vec<_> = blocks[command].split_whitespace().skip(1).collect();
        let (status, printed, said) = flux(&folder, &arguments);
        assert_eq!((status, printed.as_str()), (Some(0), blocks[output].as_str()));
        assert_eq!(said, "note: no time is estimated for Listen: they take none\n");
    }
}

/// One of two CPUs more is a load of its own; at what is found the limit is just kept.
#[test]
fn the_load_is_found_up_to_which_a_limit_is_kept() {
    let folder = example("p99");
    let known = ["thumbs.flux", "--estimates", "thumbs.estimates", "--flows", "200", "--json"];
    let of = |arguments: &[&str]| {
        let (status, printed, said) = sim(&folder, &[&known[..], arguments].concat());
        assert_eq!((status, said.as_str()), (Some(0), ""));
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let found = of(&["--p99", "100ms", "--cpus", "1,2"]);
    let rates: Vec<f64> = found.iter().map(|one| one["rate"]["mean"].as_f64().unwrap()).collect();
    assert!(rates[1] > 1.5 * rates[0], "{rates:?}");
    for (factor, keeps) in [(0.8, true), (1.25, false)] {
        let at = of(&["--rate", &(rates[0] * factor).to_string()]);
        let p99 = at[0]["p99"]["mean"].as_f64();
        assert_eq!(p99.is_some_and(|p99| p99 <= 0.1), keeps, "{factor}: {p99:?}");
    }
    assert!(of(&["--p99", "1us"])[0]["rate"].is_null(), "one alone takes longer");
    let (status, _, said) = sim(&folder, &[&known[..], &["--p99", "soon"]].concat());
    assert_eq!((status, said.as_str()), (Some(2), "error: `soon` is no time: write --p99 100ms\n"));
}

/// Of the program alone, with the same estimates.
#[test]
fn a_constraint_is_simulated_as_the_program_has_it() {
    let folder = example("constraints");
    let source = std::fs::read_to_string(folder.join("thumbs.flux")).unwrap();
    let mean = |cache: &str| {
        std::fs::write(folder.join("thumbs.flux"), source.replace("{cache}", cache)).unwrap();
        let load = ["--estimates", "thumbs.estimates", "--cpus", "2", "--rate", "200", "--flows", "1000", "--json"];
        let (status, printed, said) = sim(&folder, &[&["thumbs.flux"][..], &load].concat());
        assert_eq!(status, Some(0), "{cache}: {said}"); // which tells that some have only readers
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()["mean"]["mean"].as_f64().unwrap()
    };
    let [writes, reads, its_own] = ["{cache}", "{cache?}", "{store}"].map(mean);
    assert!(reads < 0.4 * writes && its_own < 0.9 * writes, "{writes}, {reads}, {its_own}");
}

#[test]
fn points_are_objects_and_lines() {
    let folder = example("objects");
    let arguments = ["thumbs.flux", "--estimates", "thumbs.estimates", "--flows", "500", "--clients", "1,8"];
    let more = ["--think", "exponential(10ms)", "--runtime", "event", "--cpus", "1,2", "--json", "--plot", "out.svg"];
    let (status, printed, said) = sim(&folder, &[&arguments[..], &more].concat());
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let objects: Vec<serde_json::Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 4);
    let of =
        |cpus: u64, clients: u64| objects.iter().find(|it| it["cpus"] == cpus && it["clients"] == clients).unwrap();
    // One client alone takes 20 µs + 2 ms + 5 µs + 40 % of 20 ms + 30 µs, and thinks for 10 ms.
    let mean = of(1, 1)["mean"]["mean"].as_f64().unwrap();
    assert!((mean - 0.010_055).abs() < 0.000_5, "{mean}");
    let throughput = of(1, 1)["throughput"]["mean"].as_f64().unwrap();
    assert!((throughput * 0.020_055 - 1.0).abs() < 0.04, "{throughput}");
    // Who was woken for the constraint waits for the loop, which others compute on, while nobody has it.
    assert_eq!(of(1, 8)["limit"]["by"], "constraint cache");
    assert!(of(1, 8)["throughput"]["mean"].as_f64() < of(2, 8)["throughput"]["mean"].as_f64());
    let picture = std::fs::read_to_string(folder.join("out.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    assert_eq!(picture.matches("<polyline").count(), 4, "{picture}");
    assert_eq!(picture.matches("<circle").count(), 8, "{picture}");
}

#[test]
fn other_cpus_are_faster_or_slower() {
    let arguments = ["thumbs.flux", "--estimates", "thumbs.estimates", "--clients", "1", "--json", "--cpu-speed"];
    // Half of the ten milliseconds are a wait.
    for (speed, mean) in [("2", 0.007_5), ("0.5", 0.015)] {
        let (status, printed, _) = sim(&example("speed"), &[&arguments[..], &[speed]].concat());
        let point: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let found = point["mean"]["mean"].as_f64().unwrap();
        assert_eq!(status, Some(0));
        assert!((found / mean - 1.0).abs() < 0.05, "{found}");
    }
    let (status, _, said) = sim(&example("speed"), &[&arguments[..], &["0"]].concat());
    assert_eq!(status, Some(2));
    assert!(said.contains("write a factor, from 0.001 to 1000"), "{said}");
}

#[test]
fn advice_is_an_object_for_each_change() {
    let arguments = ["advise", "thumbs.flux", "--estimates", "thumbs.estimates", "--flows", "300", "--clients", "20"];
    let (status, printed, said) = flux(&example("advice"), &[&arguments[..], &["--cpus", "4", "--json"]].concat());
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let objects: Vec<serde_json::Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Five nodes take time; beside them two paths, the constraint, a CPU and the threads.
    assert_eq!(objects.len(), 10, "{printed}");
    let paths: Vec<_> = objects.iter().filter(|it| it["path"].is_object()).collect();
    assert_eq!(paths[0]["change"], "path 1 takes a tenth less");
    let labels = serde_json::json!(["Listen", "ReadRequest", "LookUp", "Make:[_, _]", "Compress", "Store", "Write"]);
    assert_eq!((&paths[0]["path"]["labels"], &paths[0]["path"]["exit"]), (&labels, &"done".into()));
    assert_eq!(objects[0]["change"], "cache? in place of cache");
    let gains: Vec<_> = objects.iter().map(|it| it["throughput"]["mean"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b) && gains[0] > 0.2, "{gains:?}");
}

#[test]
fn a_call_that_is_wrong_says_what_to_write() {
    let folder = example("wrong");
    let with = |more: &[&str]| sim(&folder, &[&["thumbs.flux", "--estimates", "thumbs.estimates"], more].concat());
    for (arguments, message) in [
        (&[][..], "say what load comes: --rate 100 (flows a second), or --clients 20"),
        (&["--rate", "0"], "`--rate 0`: write how many flows come in a second, for instance 100"),
        (&["--rate", "-1"], "`--rate -1`: write how many flows come in a second, for instance 100"),
        (&["--clients", "2", "--think", "1"], "`1` is no time: write --think 100ms, or 'exponential(100ms)'"),
        (&["--rate", "1", "-e", "Compres=1ms"], "`Compres` is nothing of this program; did you mean `Compress`?"),
    ] {
        assert_eq!(with(arguments), (Some(2), String::new(), format!("error: {message}\n")));
    }
    let (status, _, said) = sim(&folder, &["thumbs.flux", "--rate", "1"]);
    let message = "which way flows take is not estimated: add --estimate hit=0.5, with what you expect";
    assert_eq!((status, said), (Some(2), format!("error: {message}\n")));
}
