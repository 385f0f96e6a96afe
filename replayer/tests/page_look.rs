//! How the page of `--report` looks: its colours, its sections, on paper, at the pointer, and its size.

use std::fs;

use serde_json::{Value, json};

use crate::page::{TORUS, open, page};
use crate::support::browser::Browser;
use crate::support::command::{Folder, TITR, here};

/// Linear parts of red, green and blue.
type Light = [f64; 3];

fn light(hex: &str) -> Light {
    [1, 3, 5].map(|at| {
        let part = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: [Light; 3], light: Light) -> Light {
    matrix.map(|row| row.iter().zip(light).map(|(one, other)| one * other).sum())
}

/// CIELAB under D65.
fn lab(light: Light) -> Light {
    let xyz = times(
        [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175],
            [0.019_333_9, 0.119_192, 0.950_304_1],
        ],
        light.map(|part| part.clamp(0.0, 1.0)),
    );
    let white = [0.950_47, 1.0, 1.088_83];
    let [x, y, z] = std::array::from_fn(|at| {
        let part: f64 = xyz[at] / white[at];
        if part > 0.008_856 { part.cbrt() } else { 7.787 * part + 16.0 / 116.0 }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Red-blind, green-blind, and trichromatic eyes (Machado, Oliveira and Fernandes 2009).
const EYES: [[Light; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_82, 0.042_94, 0.968_881]],
    [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
];

fn contrast(one: Light, other: Light) -> f64 {
    let luminance = |light: Light| 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05;
    let (one, other) = (luminance(one), luminance(other));
    one.max(other) / one.min(other)
}

fn scheme(browser: &mut Browser, name: &str, media: &str) {
    let feature = json!({"media": media, "features": [{"name": "prefers-color-scheme", "value": name}]});
    browser.call("Emulation.setEmulatedMedia", feature);
}

/// Activities differ for colour-blind eyes, the main ones in grey, too; no colour stands for two things; text can be read.
#[test]
fn colours_are_far_from_each_other() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    for name in ["light", "dark"] {
        scheme(&mut browser, name, "screen");
        let mut color = |name: &str| {
            let value = format!("getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()");
            light(browser.evaluate(&value).as_str().unwrap())
        };
        let activities = ["compute", "send", "receive", "wait", "collective", "file", "done"].map(&mut color);
        let others = ["overhead", "latency", "bytes", "sharing", "job-0", "job-1", "job-2", "amount"].map(&mut color);
        let far = |one: Light, other: Light, eye: [Light; 3]| {
            let (one, other) = (lab(times(eye, one)), lab(times(eye, other)));
            one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
        };
        for (place, &one) in activities.iter().enumerate() {
            for (after, &other) in activities.iter().enumerate().skip(place + 1) {
                assert!(EYES.iter().all(|&eye| far(one, other, eye) > 14.0), "{name}: {place} and {after}");
                // All but files and the end, which are light.
                let lightness = (lab(one)[0] - lab(other)[0]).abs();
                assert!(after > 4 || lightness > 8.0, "{name}: {place} and {after} in grey: {lightness}");
            }
            for &other in &others {
                assert!(far(one, other, EYES[0]) > 10.0, "{name}: {place}");
            }
        }
        let [paper, ink, faint, accent] = ["paper", "ink", "faint", "accent"].map(&mut color);
        assert!([ink, faint, accent].iter().all(|&text| contrast(text, paper) >= 4.5), "{name}");
    }
}

/// No section is torn into columns, nothing is wider than the window, and what is folded is open on paper.
#[test]
fn sections_stay_whole_at_any_width_and_on_paper() {
    let folder = Folder::new();
    let long =
        folder.path().join("a_file_whose_name_has_no_place_at_which_a_line_of_a_narrow_window_could_be_broken.toml");
    fs::copy(here("../examples/torus.toml"), &long).unwrap();
    let page = page(&folder, TORUS, long.to_str().unwrap(), &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    for width in [320, 420, 1024, 1440] {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", size);
        let torn =
            "[...document.querySelectorAll('section')].filter((part) => part.getClientRects().length !== 1).length";
        assert_eq!(browser.evaluate(torn), 0);
        let over = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(over.as_i64().unwrap() <= 0, "{width}: wider by {over}");
    }
    let open = "[...document.querySelectorAll('#details details')].map((part) => part.open)";
    assert!(browser.evaluate(open).as_array().unwrap().iter().all(|open| open == false));
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert!(browser.evaluate(open).as_array().unwrap().iter().all(|open| open == true));
    // Charts have the width of A4 without its margins before the page is cut.
    let width = browser.evaluate("document.body.offsetWidth").as_f64().unwrap();
    assert!((width - 186.0 / 25.4 * 96.0).abs() < 1.0, "{width}");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#links .table')[0].querySelectorAll('tbody tr').length"),
        20
    );
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    assert!(browser.evaluate(open).as_array().unwrap().iter().all(|open| open == false));
    assert_eq!(browser.complaints, [""; 0]);
}

/// What is under the pointer stands beside it, and the legend says what the ranks do within the window.
#[test]
fn the_pointer_and_the_window_are_followed() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let told = "((x, y) => {
        const canvas = document.getElementById('timeline-chart');
        canvas.scrollIntoView({ block: 'center' });
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
        const tip = canvas.parentNode.querySelector('output');
        const place = tip.getBoundingClientRect();
        return [tip.textContent, Math.abs(place.left - box.left - x) < 40, Math.abs(place.top - box.top - y) < 60, tip.hidden];
    })(300, 100)";
    let told = browser.evaluate(told);
    assert!(told[0].as_str().unwrap().starts_with("rank "), "{told}");
    assert_eq!((&told[1], &told[2], &told[3]), (&json!(true), &json!(true), &json!(false)), "{told}");
    let legend = "document.querySelector('#timeline .legend').textContent";
    let whole = browser.evaluate(legend).as_str().unwrap().to_owned();
    assert!(whole.contains("compute") && whole.contains("ranks 0 to 63"), "{whole}");
    browser.evaluate("document.getElementById('timeline-chart').focus()");
    for key in ["+", "+", "+", "+", "PageDown"] {
        browser.press(key);
    }
    let part = browser.evaluate(legend).as_str().unwrap().to_owned();
    assert!(part != whole && part.contains("ranks 16 to 47"), "{part}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Four ranks have high rows, and all of their messages are drawn.
#[test]
fn few_ranks_fill_the_timeline() {
    let folder = Folder::new();
    let ring = here("../examples/ring.txt");
    let machine = here("../examples/cluster16.toml");
    let replay = ["replay", "--platform", machine.to_str().unwrap(), "--report", "page.html", ring.to_str().unwrap()];
    let said = folder.run(TITR, &replay);
    assert!(said.ends_with("[0]"), "{said}");
    let Some(mut browser) = open(&folder.path().join("page.html")) else { return };
    let chart = browser.evaluate("(({ clientHeight, dataset }) => [clientHeight, Number(dataset.arrows)])(document.getElementById('timeline-chart'))");
    assert!(chart[0].as_u64().unwrap() >= 170, "{chart}");
    assert_eq!(chart[1], 4);
}

/// A large machine is drawn as groups of switches with the numbers of their hosts.
#[test]
fn four_thousand_hosts_are_counted() {
    let folder = Folder::new();
    let line = "dragonfly:g=64,a=8,h=8,p=8 100Gbit/s 500ns";
    let shown = folder.run(TITR, &["platform", "show", line, "--report", "machine.html"]);
    assert!(shown.ends_with("[0]"), "{shown}");
    let Some(mut browser) = open(&folder.path().join("machine.html")) else { return };
    let height = browser.evaluate("document.documentElement.scrollHeight");
    assert!(height.as_u64().unwrap() < 1600, "{height} pixels");
    browser.evaluate("document.getElementById('hosts-chart').focus()");
    browser.press("ArrowRight");
    let told = browser.evaluate("document.querySelector('#hosts output').textContent");
    assert_eq!(told, "router-0.1: 8\u{a0}hosts (8–15)");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Use of links is on a scale of 0 to 100 %, and no load is above it.
#[test]
fn use_of_links_has_a_fixed_scale() {
    let folder = Folder::new();
    let page = page(&folder, TORUS, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let Some(mut browser) = open(&page) else { return };
    let saved = "(async () => {
        const files = [];
        URL.createObjectURL = (blob) => { files.push(blob); return 'data:,'; };
        HTMLAnchorElement.prototype.click = () => {};
        document.querySelectorAll('.menu button').forEach((button) => button.click());
        const texts = await Promise.all(files.map((file) => file.text()));
        return [texts.filter((text) => text.includes('of the bandwidth') && text.includes('>100\\u00a0%<')).length,
            texts.find((text) => text.startsWith('link,from (s),load (%)'))];
    })()";
    let saved = browser.evaluate(saved);
    assert_eq!(saved[0], 2);
    let loads =
        saved[1].as_str().unwrap().lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    assert!(loads.fold(0.0, f64::max) <= 100.0);
}

/// Of 64 ranks with more states and messages than a page has room for.
#[test]
fn sixty_four_ranks_take_less_than_a_megabyte() {
    let folder = Folder::new();
    let program = "stencil --ranks 64 --dimensions 8x8 --torus --bytes 1kB --iterations 800 --compute 1e4";
    let page = page(&folder, program, "../examples/torus.toml", &["--set", "hosts.cores=1"]);
    let size = fs::metadata(&page).unwrap().len();
    assert!(size <= 1_000_000, "{size} bytes");
}

/// Two results on one axis, and curves of latency and of accepted load.
#[test]
fn differences_and_traffic_have_pages() {
    let folder = Folder::new();
    let program = "collective allreduce --ranks 16 --bytes 64KiB --iterations 5";
    page(&folder, program, "../examples/fat-tree.toml", &[]);
    fs::rename(folder.path().join("result.json"), folder.path().join("before.json")).unwrap();
    page(&folder, program, "../examples/fat-tree.toml", &["--set", "network.latency=50 us"]);
    let said = folder.run(TITR, &["diff", "before.json", "result.json", "--report", "diff.html"]);
    assert!(said.ends_with("[0]"), "{said}");
    let packets = here("../examples/packet.toml");
    let traffic = ["traffic", "uniform", "--platform", packets.to_str().unwrap(), "--load", "0.1,0.4,0.9"];
    let said = folder.run(TITR, &[&traffic[..], &["--runs", "1", "--report", "traffic.html"]].concat());
    assert!(said.ends_with("[0]"), "{said}");
    for (file, charts, text) in [
        ("diff.html", "both-chart comparison-chart finishes-chart", "against before.json"),
        ("traffic.html", "accepted-chart latency-chart", "saturates between offered loads of 0.4 and 0.9"),
    ] {
        let Some(mut browser) = open(&folder.path().join(file)) else { return };
        let found = browser.evaluate("[...document.querySelectorAll('canvas')].map(({ id }) => id).join(' ')");
        assert_eq!(found, charts);
        let shown = browser.evaluate("document.body.innerText");
        assert!(shown.as_str().unwrap().contains(text), "{shown}");
        let colours: Value = browser.evaluate(crate::page::COLOURS);
        assert!(colours.as_object().unwrap().values().all(|colours| colours.as_u64().unwrap() >= 3), "{colours}");
        assert_eq!(browser.complaints, [""; 0]);
    }
}
