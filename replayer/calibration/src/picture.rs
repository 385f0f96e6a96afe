//! The curves as a picture: for each pattern, the measured and the predicted time over size, and below it the error of
//! the prediction. A self-contained SVG.

use std::fmt::Write as _;

use crate::cluster::figures;
use crate::residuals::{Residual, Residuals};

const WIDTH: f64 = 460.0;
const CURVE: f64 = 240.0;
const ERRORS: f64 = 80.0;
const GAP: f64 = 30.0;
const MARGIN: f64 = 60.0;
const COLUMNS: usize = 2;
/// Errors beyond this are drawn at the edge.
const MOST_ERROR: f64 = 0.25;

/// The picture.
#[must_use]
pub(crate) fn picture(all: &[Residuals]) -> String {
    let rows = all.len().div_ceil(COLUMNS);
    let (cell_width, cell_height) = (WIDTH + 1.5 * MARGIN, CURVE + ERRORS + GAP + 1.5 * MARGIN);
    let (width, height) = (cell_width * COLUMNS.min(all.len().max(1)) as f64, cell_height * rows as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (at, residuals) in all.iter().enumerate() {
        let (x, y) = ((at % COLUMNS) as f64 * cell_width + MARGIN, (at / COLUMNS) as f64 * cell_height + MARGIN / 2.0);
        let _ = writeln!(svg, "<g transform=\"translate({x:.1} {y:.1})\">");
        panel(&mut svg, residuals);
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// A scale from one number to another, logarithmic or not, to a length.
struct Scale {
    from: f64,
    to: f64,
    length: f64,
}

impl Scale {
    fn logarithmic(values: impl Iterator<Item = f64>, length: f64) -> Self {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (from, to) =
            logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(log), high.max(log)));
        let (from, to) = if from.is_finite() { (from.floor(), to.ceil()) } else { (0.0, 1.0) };
        Self { from, to: to.max(from + 1.0), length }
    }

    fn at(&self, value: f64) -> f64 {
        let log = value.max(f64::MIN_POSITIVE).log10().clamp(self.from, self.to);
        (log - self.from) / (self.to - self.from) * self.length
    }

    /// The powers of ten.
    fn ticks(&self) -> impl Iterator<Item = (f64, f64)> {
        let (from, to) = (self.from as i32, self.to as i32);
        (from..=to).map(|power| (10_f64.powi(power), self.at(10_f64.powi(power))))
    }
}

fn panel(svg: &mut String, residuals: &Residuals) {
    let points = &residuals.points;
    // A message of nothing is drawn as one of a byte.
    let size = |point: &Residual| point.bytes.0.max(1) as f64;
    let across = Scale::logarithmic(points.iter().map(size), WIDTH);
    let up = Scale::logarithmic(points.iter().flat_map(|point| [point.measured, point.predicted]), CURVE);
    let _ = writeln!(svg, "<text y=\"-6\" font-size=\"13\">{}</text>", residuals.title());
    for (top, height) in [(0.0, CURVE), (CURVE + GAP, ERRORS)] {
        let _ =
            writeln!(svg, "<rect y=\"{top}\" width=\"{WIDTH}\" height=\"{height}\" fill=\"none\" stroke=\"#999\"/>");
    }
    for (value, x) in across.ticks() {
        let bottom = CURVE + GAP + ERRORS;
        let _ = writeln!(svg, "<path d=\"M{x:.1} 0V{CURVE}M{x:.1} {}V{bottom}\" stroke=\"#eee\"/>", CURVE + GAP);
        let label = bottom + 15.0;
        let _ =
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{label}\" text-anchor=\"middle\">{}</text>", prefixed(value, "B"));
    }
    for (value, height) in up.ticks() {
        let y = CURVE - height;
        let _ = writeln!(svg, "<path d=\"M0 {y:.1}H{WIDTH}\" stroke=\"#eee\"/>");
        let _ =
            writeln!(svg, "<text x=\"-5\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", y + 4.0, prefixed(value, "s"));
    }
    let middle = CURVE + GAP + ERRORS / 2.0;
    for (error, label) in [(MOST_ERROR, "+25 %"), (0.0, "0 %"), (-MOST_ERROR, "−25 %")] {
        let y = middle - error / MOST_ERROR * ERRORS / 2.0;
        let _ = writeln!(svg, "<path d=\"M0 {y:.1}H{WIDTH}\" stroke=\"#ccc\"/>");
        let _ = writeln!(svg, "<text x=\"-5\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", y + 4.0);
    }
    let line =
        points.iter().map(|point| format!("{:.1},{:.1}", across.at(size(point)), CURVE - up.at(point.predicted)));
    let line: Vec<String> = line.collect();
    let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#c33\"/>", line.join(" "));
    for point in points {
        let (x, y) = (across.at(size(point)), CURVE - up.at(point.measured));
        let told = format!(
            "{} B: measured {} s, predicted {} s ({:+.1} %)",
            point.bytes.0,
            figures(point.measured),
            figures(point.predicted),
            point.error() * 100.0
        );
        let _ =
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#26a\"><title>{told}</title></circle>");
        let error = point.error().clamp(-MOST_ERROR, MOST_ERROR);
        let y = middle - error / MOST_ERROR * ERRORS / 2.0;
        let _ =
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"#c33\"><title>{told}</title></circle>");
    }
    let _ = writeln!(
        svg,
        "<circle cx=\"12\" cy=\"14\" r=\"3\" fill=\"#26a\"/><text x=\"20\" y=\"18\">measured (median)</text>\
         <path d=\"M6 30H18\" stroke=\"#c33\"/><text x=\"20\" y=\"34\">predicted</text>\
         <text x=\"6\" y=\"{}\">error of the prediction</text>",
        CURVE + GAP - 6.0
    );
}

/// A power of ten with a prefix.
fn prefixed(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    // A power of ten is not exact.
    let found = PREFIXES.iter().find(|(factor, _)| value >= factor * 0.999).unwrap_or(&PREFIXES[6]);
    format!("{:.0} {}{unit}", value / found.0, found.1)
}
