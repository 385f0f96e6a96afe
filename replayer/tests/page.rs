//! The page of `--report` in a real browser.

use std::path::PathBuf;

use crate::support::base64;
use crate::support::browser::Browser;
use crate::support::command::{Folder, TITR, TITR_REPLAY, here};
use serde_json::{Value, json};
use titr_analyses::{ByKind, CriticalPath, Findings, RankShare, RegionShare};
use titr_common::timeline::{Excerpt, Subject};
use titr_common::units::Seconds;
use titr_formats::input;
use titr_replayer::page::{Origin, PageData, Recorder, write};
use titr_simulation::{Platform, Simulation};
use titr_test_support::cannot_run;

pub(crate) const TORUS: &str =
    "stencil --ranks 64 --dimensions 4x4x4 --torus --bytes 64KiB --iterations 4 --compute 1e5";

/// The page of a generated program on an example platform.
pub(crate) fn page(folder: &Folder, program: &str, platform: &str, more: &[&str]) -> PathBuf {
    if !folder.path().join("t").exists() {
        let arguments: Vec<&str> =
            ["generate"].into_iter().chain(program.split_whitespace()).chain(["-o", "t"]).collect();
        let made = folder.run(TITR, &arguments);
        assert!(made.ends_with("[0]"), "{made}");
    }
    let platform = here(platform);
    let basic = ["--platform", platform.to_str().unwrap(), "--json", "--report", "page.html"];
    let said = folder.run(TITR_REPLAY, &[&basic, more, &["t"]].concat());
    let json = said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}"));
    folder.file("result.json", json);
    folder.path().join("page.html")
}

/// Opens a page, if there is a browser.
pub(crate) fn open(page: &std::path::Path) -> Option<Browser> {
    let browser = Browser::open(page);
    if browser.is_none() {
        cannot_run("there is no chromium (`ci/install test` installs it)");
    }
    browser
}

/// Charts that every page of a program with messages has.
const CHARTS: [&str; 9] = [
    "parts-chart",
    "efficiency-chart",
    "strip-chart",
    "timeline-chart",
    "ranks-chart",
    "matrix-chart",
    "sizes-chart",
    "links-chart",
    "loads-chart",
];

/// How many colours each chart has, by its name.
pub(crate) const COLOURS: &str = "Object.fromEntries([...document.querySelectorAll('canvas')].map((canvas) => {
    const probe = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    probe.drawImage(canvas, 0, 0);
    const { data } = probe.getImageData(0, 0, canvas.width, canvas.height);
    return [canvas.id, new Set(new Uint32Array(data.buffer)).size];
}))";

#[test]
fn every_chart_is_drawn_and_nothing_is_complained_about() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let colours = browser.evaluate(COLOURS);
    for chart in CHARTS {
        // Ranks that are all alike have one colour, and the paper.
        assert!(colours[chart].as_u64().unwrap() >= 2, "{chart}: {colours}");
    }
    let result: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("result.json")).unwrap()).unwrap();
    let time = result["simulated_time"].as_f64().unwrap();
    let answer = browser.evaluate("document.querySelector('.answer').textContent");
    assert_eq!(answer, format!("{:.0}\u{a0}µs", 1e6 * time));
    let title = browser.evaluate("document.title").as_str().unwrap().to_owned();
    assert!(title.starts_with("t: ") && title.ends_with(" on 64\u{a0}ranks, torus 4×4×4 – titr"), "{title}");
    let resources = browser.evaluate("performance.getEntriesByType('resource').length");
    assert_eq!(resources, 0, "everything is in the file");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_machine_without_a_program_is_drawn() {
    let folder = Folder::new();
    for (line, host) in
        [("torus:4x4x4 10Gbit/s 1us", "node-5 (1, 1, 0)"), ("fat-tree:8x8,1x4 100Gbit/s 500ns", "node-5 at ")]
    {
        let shown = folder.run(TITR, &["platform", "show", line, "--report", "machine.html"]);
        assert!(shown.ends_with("[0]"), "{shown}");
        let Some(mut browser) = open(&folder.path().join("machine.html")) else { return };
        let colours = browser.evaluate(COLOURS);
        assert!(colours["hosts-chart"].as_u64().unwrap() >= 2, "{line}: {colours}");
        assert!(colours["links-chart"].as_u64().unwrap() >= 2, "{line}: {colours}");
        let told = browser.evaluate(
            "(() => {
                const canvas = document.getElementById('hosts-chart');
                canvas.focus();
                for (let step = 0; step < 5; step += 1) canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
                return canvas.closest('figure').querySelector('output').textContent;
            })()",
        );
        assert!(told.as_str().unwrap().starts_with(host), "{told}");
        assert_eq!(browser.complaints, [""; 0]);
    }
}

/// The names of curves stand from top to bottom as the curves end, and a page says which keys were set.
#[test]
fn curves_of_traffic_have_their_names_at_their_ends() {
    let folder = Folder::new();
    let key = "network.failures.links=0,3,10";
    let measure = ["traffic", "uniform", "--platform", "torus:16x16 100Gbit/s packet", "--key", key, "--runs", "1"];
    let more = ["--load", "0.1,0.4,0.7", "--warmup", "500", "--cycles", "1500", "--report", "curves.html"];
    let set = ["--set", "network.packet.packet=128B"];
    let shown = folder.run(TITR, &[&measure[..], &more, &set].concat());
    assert!(shown.contains("torus 16×16, network.packet.packet=128B, network.failures.links=0,"), "{shown}");
    let Some(mut browser) = open(&folder.path().join("curves.html")) else { return };
    let title = browser.evaluate("document.title");
    assert!(title.as_str().unwrap().contains("network.packet.packet=128B"), "{title}");
    let files = saved(&mut browser);
    let file = |name: &str| &*files.iter().find(|file| file.0 == name).unwrap().2;
    let at = |row: &str, column: usize| row.split(',').nth(column).unwrap().to_owned();
    let mut ends: Vec<(f64, String)> = file("traffic-accepted.csv")
        .lines()
        .filter(|row| at(row, 1).starts_with("0.7"))
        .map(|row| (at(row, 2).parse().unwrap(), at(row, 0).rsplit('=').next().unwrap().to_owned()))
        .collect();
    ends.sort_by(|one, other| other.0.total_cmp(&one.0));
    let texts = "(text) => [...new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('text')]
        .map((text) => [Number(text.getAttribute('y')), text.textContent])";
    let texts = browser.evaluate(&format!("({texts})({})", json!(file("traffic-accepted.svg"))));
    let mut texts: Vec<(f64, String)> = serde_json::from_value(texts).unwrap();
    let mut names = texts.split_off(texts.len() - 3);
    names.sort_by(|one, other| one.0.total_cmp(&other.0));
    let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ends.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_calibration_is_drawn() {
    let folder = Folder::new();
    let measurements = here("../examples/measurements.json");
    let fit = ["calibrate", measurements.to_str().unwrap(), "--output", "cluster.toml", "--report", "fit.html"];
    folder.run(TITR, &fit);
    let Some(mut browser) = open(&folder.path().join("fit.html")) else { return };
    let colours = browser.evaluate(COLOURS);
    // The paper, the lines, the points and the curve.
    assert!(colours["pattern-0-chart"].as_u64().unwrap() >= 4, "{colours}");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_timeline_can_be_zoomed_with_keys_buttons_and_the_wheel() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let span = |browser: &mut Browser| {
        let view = browser.evaluate("({...document.getElementById('timeline-chart').dataset})");
        let edge = |name: &str| view[name].as_str().unwrap().parse::<f64>().unwrap();
        (edge("from"), edge("to"), edge("top"), edge("bottom"))
    };
    browser.evaluate("document.getElementById('timeline-chart').focus()");
    let whole = span(&mut browser);
    assert_eq!((whole.2, whole.3), (0.0, 64.0));
    browser.press("+");
    let half = span(&mut browser);
    assert!(((half.1 - half.0) * 2.0 / (whole.1 - whole.0) - 1.0).abs() < 1e-9, "{whole:?} {half:?}");
    browser.press("ArrowRight");
    assert!(span(&mut browser).0 > half.0);
    browser.press("PageDown");
    let fewer = span(&mut browser);
    assert_eq!(fewer.3 - fewer.2, 32.0);
    browser.press("0");
    assert_eq!(span(&mut browser), whole);
    browser.evaluate("document.querySelector('button[title=\"Zoom in\"]').click()");
    assert!(span(&mut browser).1 < whole.1);
    browser.press("0");
    browser.evaluate("document.getElementById('timeline-chart').scrollIntoView()");
    let place =
        browser.evaluate("(({x, y}) => ({x, y}))(document.getElementById('timeline-chart').getBoundingClientRect())");
    let at = |name: &str, by: f64| place[name].as_f64().unwrap() + by;
    let wheel = json!({"type": "mouseWheel", "x": at("x", 300.0), "y": at("y", 90.0), "deltaX": 0, "deltaY": -400});
    browser.call("Input.dispatchMouseEvent", wheel);
    browser.wait_for(&format!("Number(document.getElementById('timeline-chart').dataset.to) < {}", whole.1));
    // Messages are drawn where they can be told apart.
    let drawn = "Number(document.getElementById('timeline-chart').dataset.arrows)";
    browser.evaluate("document.getElementById('timeline-chart').focus()");
    browser.press("0");
    assert_eq!(browser.evaluate(drawn), 0);
    browser.press("0");
    browser.wait_for("location.hash.startsWith('#timeline=0,')");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_keyboard_reaches_every_chart_and_every_rank() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let mut reached = Vec::new();
    for _ in 0..90 {
        browser.press("Tab");
        reached.push(browser.evaluate("document.activeElement.id").as_str().unwrap().to_owned());
    }
    for chart in CHARTS {
        assert!(reached.iter().any(|id| id == chart), "{chart}: {reached:?}");
    }
    browser.evaluate("document.getElementById('ranks-chart').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let told = browser.evaluate("document.querySelector('#ranks output').textContent");
    assert!(told.as_str().unwrap().starts_with("rank 2 on node-2 (2, 0, 0): compute "), "{told}");
    browser.evaluate("document.getElementById('matrix-chart').focus()");
    browser.press("ArrowDown");
    let told = browser.evaluate("document.querySelector('#messages output').textContent");
    assert_eq!(told, "from rank 1 to rank 0: 4\u{a0}messages, 262\u{a0}kB");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn it_is_dark_where_the_reader_wants_it_and_white_on_paper() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let look = "(() => {
        const probe = new OffscreenCanvas(9, 9).getContext('2d', { willReadFrequently: true });
        probe.drawImage(document.getElementById('timeline-chart'), 0, 0);
        return [getComputedStyle(document.body).backgroundColor, probe.getImageData(2, 2, 1, 1).data.join()].join(' ');
    })()";
    let mut looks = Vec::new();
    for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "dark")] {
        let feature = json!({"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", feature);
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        looks.push(browser.evaluate(look).as_str().unwrap().to_owned());
        let controls = browser.evaluate("getComputedStyle(document.querySelector('.controls')).display");
        assert_eq!(controls == "none", media == "print");
    }
    assert_eq!(
        looks,
        ["rgb(255, 255, 255) 255,255,255,255", "rgb(20, 23, 27) 20,23,27,255", "rgb(255, 255, 255) 255,255,255,255"]
    );
    let pdf = browser.call("Page.printToPDF", json!({"printBackground": true}));
    let pdf = pdf["data"].as_str().unwrap();
    // "%PDF-"
    assert!(pdf.starts_with("JVBERi") && pdf.len() > 50_000, "{} letters", pdf.len());
    assert_eq!(browser.complaints, [""; 0]);
}

/// Findings of any shape, a comparison, and a tree of switches; texts that look like HTML stay texts.
#[test]
fn findings_and_comparisons_are_shown() {
    let folder = Folder::new();
    let program = "collective allreduce --ranks 16 --bytes 64KiB --iterations 5";
    page(&folder, program, "../examples/fat-tree.toml", &[]);
    std::fs::rename(folder.path().join("result.json"), folder.path().join("before.json")).unwrap();
    let again = ["--set", "network.latency=50 us", "--compare", "before.json"];
    let page = page(&folder, program, "../examples/fat-tree.toml", &again);
    let Some(mut browser) = open(&page) else { return };
    let told = browser.evaluate("document.getElementById('comparison').innerText");
    assert!(told.as_str().unwrap().contains("The predicted time was "), "{told}");
    let colours = browser.evaluate(COLOURS);
    assert!(colours["links-chart"].as_u64().unwrap() > 10, "{colours}");
    let command = browser.evaluate("document.querySelector('#details pre').textContent");
    assert!(command.as_str().unwrap().contains("'network.latency=50 us'"), "{command}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// A run that is too large to be shown state by state: the page stays small, opens, and draws no more than fits on the screen.
#[test]
fn sixteen_thousand_ranks_stay_fluid() {
    let folder = Folder::new();
    let program = "stencil --ranks 16384 --dimensions 32x32x16 --torus --bytes 8kB --iterations 2 --compute 1e5";
    let large = ["--set", "topology.torus.dims=[32,32,16]", "--set", "hosts.cores=1"];
    let page = page(&folder, program, "../examples/torus.toml", &large);
    let size = std::fs::metadata(&page).unwrap().len();
    assert!(size <= 10_000_000, "{size} bytes");
    let Some(mut browser) = open(&page) else { return };
    let colours = browser.evaluate(COLOURS);
    for chart in ["timeline-chart", "matrix-chart", "links-chart"] {
        assert!(colours[chart].as_u64().unwrap() > 2, "{chart}: {colours}");
    }
    browser.evaluate("document.getElementById('timeline-chart').focus()");
    // As many shapes as there are ranks and times would take long, on any machine: the picture has as many as the screen shows.
    let press = "(() => { let shapes = 0;
        for (const name of ['fillRect', 'lineTo', 'fillText', 'putImageData']) {
            const draw = CanvasRenderingContext2D.prototype[name];
            CanvasRenderingContext2D.prototype[name] = function (...where) { shapes += 1; return draw.apply(this, where); };
        }
        document.getElementById('timeline-chart').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        return shapes; })()";
    let shapes = browser.evaluate(press).as_u64().unwrap();
    assert!((1..1000).contains(&shapes), "to zoom draws {shapes} shapes");
    // Too many messages for arrows: their number over time is drawn.
    let said = browser.evaluate("document.getElementById('timeline').innerText");
    assert!(said.as_str().unwrap().contains("messages under way"), "{said}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Texts that look like HTML stay texts, long lists are cut, and what is nothing is left out.
#[test]
fn findings_are_shown_as_they_are() {
    let folder = Folder::new();
    let path = folder.path().join("page.html");
    let platform = Platform::load(&here("../examples/torus.toml"), &[]).unwrap();
    let trace = input::open(&[here("../examples/ring.txt")]).unwrap();
    let (mut result, _) = Simulation::new(&platform, &trace).run_observed(Vec::new()).unwrap();
    let by_kind = ByKind { compute: Seconds(0.0015), latency: Seconds(0.0005), ..ByKind::default() };
    let rank = |rank: u32| RankShare { rank, seconds: Seconds(1e-5 * f64::from(rank)), by_kind: ByKind::default() };
    let region =
        |region: Option<&str>| RegionShare { region: region.map(Into::into), seconds: Seconds(0.001), by_kind };
    let critical_path = Some(CriticalPath {
        length: Seconds(0.002),
        messages: 3,
        by_kind,
        visits: vec![],
        sensitivities: vec![],
        ranks: (0..50).map(rank).collect(),
        regions: vec![region(Some("<script>alert(1)</script>")), region(None)],
        call_sites: vec![],
        segments: vec![],
    });
    result.analyses = Some(Findings { critical_path, ..Findings::default() });
    let subject =
        Subject { ranks: trace.ranks(), time: "simulated time", excerpt: Excerpt::default(), jobs: Vec::new() };
    let (overview, detail) = Recorder::new(&subject).finish();
    let origin = Origin {
        command: vec!["titr-replay".into()],
        program: "<b>ring</b>".into(),
        trace: "ring.txt".into(),
        platform: "p".into(),
        platform_text: "</script>".into(),
        bandwidth: 1.25e9,
        hosts: vec![0, 0, 0, 0],
        names: Vec::new(),
        failures: Vec::new(),
        failed: Vec::new(),
    };
    write(&PageData::new(&origin, &result, (&overview, &detail), &[], None), &path).unwrap();
    let Some(mut browser) = open(&path) else { return };
    browser.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
    browser.evaluate("new Promise((done) => setTimeout(done))");
    let told = browser.evaluate("document.getElementById('details').innerText").as_str().unwrap().to_owned();
    for text in [
        "Critical path",
        "Length 2.00\u{a0}ms",
        "<script>alert(1)</script>\t1.000\t1.500\t0.500",
        "45 more",
        "</script>",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(!told.contains("storage"), "{told}");
    let heading = browser.evaluate("document.querySelector('h1').textContent");
    assert!(heading.as_str().unwrap().starts_with("<b>ring</b>: "), "{heading}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// All files that a page saves: name, kind and text.
fn saved(browser: &mut Browser) -> Vec<(String, String, String)> {
    let saved = "(async () => {
        const files = [];
        URL.createObjectURL = (blob) => { files.push(blob); return 'data:,'; };
        HTMLAnchorElement.prototype.click = function () { files[files.length - 1].title = this.download; };
        for (const button of document.querySelectorAll('button.link')) if (/^(SVG|CSV)$/.test(button.textContent)) button.click();
        return Promise.all(files.map(async (file) => [file.title, file.type, await file.text()]));
    })()";
    serde_json::from_value(browser.evaluate(saved)).unwrap()
}

/// Each chart is saved as SVG, and its data and each table as CSV, by the page itself.
#[test]
fn every_chart_and_table_can_be_saved() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let files = saved(&mut browser);
    for chart in CHARTS {
        let name = chart.replace("-chart", "");
        for (kind, media) in [("svg", "image/svg+xml"), ("csv", "text/csv")] {
            let title = format!("t-{name}.{kind}");
            let (_, found, text) = files.iter().find(|file| file.0 == title).unwrap_or_else(|| panic!("{title}"));
            assert_eq!(found, media);
            assert!(text.lines().count() > 1 && text.ends_with('\n'), "{title}: {text}");
        }
    }
    let is_drawing = "(texts) => texts.map((text) => {
        const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
        return root.localName === 'svg' && root.querySelectorAll('rect, path').length > 1 && !root.querySelector('script, parsererror');
    })";
    let drawings: Vec<&str> = files.iter().filter(|file| file.0.ends_with("svg")).map(|file| &*file.2).collect();
    let drawn = browser.evaluate(&format!("({is_drawing})({})", json!(drawings)));
    assert!(drawn.as_array().unwrap().iter().all(|drawn| drawn == true), "{drawn}");
    let csv = |title: &str| files.iter().find(|file| file.0 == title).unwrap().2.lines().collect::<Vec<_>>();
    assert_eq!(csv("t-matrix.csv")[..2], ["from,to,messages,bytes", "rank 0,rank 1,4,262144"]);
    assert_eq!(csv("t-sizes.csv"), ["smallest size (B),messages,bytes", "65536,1536,100663296"]);
    assert_eq!(csv("t-ranks.csv").len(), 65);
    assert_eq!(browser.complaints, [""; 0]);
}

/// The timeline has the colour of the activity that dominates a cell, as high as its share, and no mixture of colours.
#[test]
fn a_cell_has_the_colour_of_one_activity() {
    let folder = Folder::new();
    // More states than a page has room for.
    let program = "stencil --ranks 16 --dimensions 4x4 --torus --bytes 1kB --iterations 1000 --compute 1e4";
    let page = page(&folder, program, "../examples/cluster16.toml", &[]);
    let Some(mut browser) = open(&page) else { return };
    // Lines on the states have edges of many colours.
    browser.evaluate("document.querySelectorAll('#timeline input:checked').forEach((box) => box.click())");
    let colours = "(() => {
        const canvas = document.getElementById('timeline-chart');
        const probe = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        probe.drawImage(canvas, 0, 0);
        const { data } = probe.getImageData(100, 4, canvas.width - 110, 80);
        // What is not painted shows the paper.
        return [...new Set(new Uint32Array(data.buffer))].filter((pixel) => pixel >>> 24).map((pixel) => [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255]);
    })()";
    let base = "getComputedStyle(document.documentElement)";
    let names = ["compute", "send", "receive", "wait", "file", "collective", "done", "ink", "paper"];
    let paints: Vec<[f64; 3]> = names
        .map(|name| {
            let hex = browser.evaluate(&format!("{base}.getPropertyValue('--{name}').trim()"));
            [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&hex.as_str().unwrap()[at..at + 2], 16).unwrap()))
        })
        .to_vec();
    let pixels: Vec<[f64; 3]> = serde_json::from_value(browser.evaluate(colours)).unwrap();
    assert!(pixels.len() > 1, "{pixels:?}");
    for pixel in pixels {
        let is_own = |paint: &[f64; 3]| pixel.iter().zip(paint).all(|(part, paint)| (part - paint).abs() <= 1.0);
        assert!(paints.iter().any(is_own), "{pixel:?} is none of {paints:?}");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// The pictures of `docs/REPLAYING.md`. `UPDATE=1` writes them.
#[test]
fn pictures_for_the_documentation() {
    let folder = Folder::new();
    let program = "wavefront --ranks 64 --dimensions 8x8 --bytes 40kB --iterations 12 --compute 60us";
    let page = page(&folder, program, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    for scheme in ["light", "dark"] {
        let feature = json!({"media": "screen", "features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", feature);
        let sections = if scheme == "light" { ["answer", "timeline"] } else { ["ranks", "links"] };
        let clip = format!(
            "(([first, last]) => ({{ x: 0, y: first.top + scrollY - 8, width: 1280, height: last.bottom - first.top + 16, scale: 1 }}))(
                ['{}', '{}'].map((id) => document.getElementById(id).getBoundingClientRect()))",
            sections[0], sections[1]
        );
        let clip = browser.evaluate(&clip);
        let shot = json!({"format": "webp", "quality": 70, "clip": clip, "captureBeyondViewport": true});
        let picture = browser.call("Page.captureScreenshot", shot);
        let picture = picture["data"].as_str().unwrap();
        assert!(picture.len() > 20_000, "{} letters", picture.len());
        if std::env::var_os("UPDATE").is_some() {
            let pictures = here("../docs/pictures");
            std::fs::create_dir_all(&pictures).unwrap();
            std::fs::write(pictures.join(format!("report-{scheme}.webp")), base64::bytes(picture)).unwrap();
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}
