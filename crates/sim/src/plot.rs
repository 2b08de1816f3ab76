//! Draws predictions as SVG: throughput over the load, and latency below it, a line for each number of CPUs. Lines
//! differ in their dashes as well as in their colours.

use crate::interval::Interval;
use std::fmt::Write as _;

/// The points of one number of CPUs.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// The points, by ascending load.
    pub points: Vec<Point>,
}

/// What is predicted of one load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Flows a second, or clients.
    pub load: f64,
    /// Flows a second.
    pub throughput: Interval,
    /// What 95 % of the flows do not take longer than, in milliseconds; none where it grows for ever.
    pub p95: Option<Interval>,
}

const COLORS: [&str; 6] = ["#0b62a4", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#475569"];
const DASHES: [&str; 6] = ["none", "8 4", "2 3", "12 4 2 4", "5 5", "1 5"];

/// Where a panel is.
const LEFT: f64 = 80.0;
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 220.0;

/// A panel: what is drawn, and its scales.
struct Panel {
    top: f64,
    most_load: f64,
    most: f64,
}

impl Panel {
    fn x(&self, load: f64) -> f64 {
        LEFT + WIDTH * load / self.most_load
    }

    fn y(&self, value: f64) -> f64 {
        self.top + HEIGHT * (1.0 - value.min(self.most) / self.most)
    }
}

/// Draws the lines; `load` names what is along the axis.
pub fn draw(title: &str, load: &str, lines: &[Line]) -> String {
    let most_load = round_up(lines.iter().flat_map(|line| &line.points).map(|point| point.load).fold(0.0, f64::max));
    let height = 640 + 18 * lines.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"640\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escaped(title)
    );
    let throughput = |point: &Point| Some(point.throughput);
    panel(&mut svg, 56.0, most_load, "throughput, flows/s", load, lines, &throughput);
    panel(&mut svg, 346.0, most_load, "95 % of latencies, ms", load, lines, &|point| point.p95);
    for (at, line) in lines.iter().enumerate() {
        let y = 628 + 18 * at;
        let (color, dash) = style(at);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y}h40\" stroke=\"{color}\" stroke-dasharray=\"{dash}\" stroke-width=\"2\"/>\
             <text x=\"130\" y=\"{}\">{}</text>",
            y + 4,
            escaped(&line.name)
        );
    }
    svg + "</svg>\n"
}

fn style(at: usize) -> (&'static str, &'static str) {
    (COLORS[at % COLORS.len()], DASHES[at % DASHES.len()])
}

fn panel(
    svg: &mut String,
    top: f64,
    most_load: f64,
    name: &str,
    load: &str,
    lines: &[Line],
    figure: &dyn Fn(&Point) -> Option<Interval>,
) {
    let figures = lines.iter().flat_map(|line| &line.points).filter_map(figure);
    let most = round_up(figures.map(|interval| interval.mean).fold(0.0, f64::max));
    let panel = Panel { top, most_load, most };
    let bottom = top + HEIGHT;
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{name}</text>", top - 10.0);
    for tick in 0..=5 {
        let part = f64::from(tick) / 5.0;
        let (x, y) = (panel.x(most_load * part), panel.y(most * part));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}h{WIDTH}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            short(most * part),
            bottom + 16.0,
            short(most_load * part)
        );
    }
    let end = LEFT + WIDTH;
    let _ = writeln!(svg, "<text x=\"{end}\" y=\"{}\" text-anchor=\"end\">{load}</text>", bottom + 32.0);
    for (at, line) in lines.iter().enumerate() {
        let (color, dash) = style(at);
        let points: Vec<_> = line.points.iter().filter_map(|point| Some((point.load, figure(point)?))).collect();
        let path: Vec<_> =
            points.iter().map(|(load, it)| format!("{:.1},{:.1}", panel.x(*load), panel.y(it.mean))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-dasharray=\"{dash}\" \
             stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (load, it) in points {
            let (low, high) = (panel.y((it.mean - it.within).max(0.0)), panel.y(it.mean + it.within));
            let x = panel.x(load);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{color}\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>",
                panel.y(it.mean)
            );
        }
    }
}

/// The next number above that is 1, 2 or 5 and zeros.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let zeros = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|step| step * zeros).find(|step| *step >= value * 0.999_999).unwrap_or(value)
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
