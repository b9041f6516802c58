//! The report in a real browser: curves, controls, tables; no errors and no network requests.
//!
//! Needs Chromium, found by `CALIBANDIT_CHROMIUM` or in the usual places, so `cargo test` ignores these tests and
//! `cargo xtask test` runs them where it is installed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod browser;
mod fixture;

use browser::{Browser, PageFile};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::{Report, ReportSection};
use serde_json::json;

/// A browser that shows the report.
fn opened(name: &str, report: &Report) -> (Browser, PageFile) {
    let mut browser = Browser::start();
    let page = PageFile::new(name, &report.to_html());
    browser.screen(1280, 900);
    browser.open(&page.url);
    browser.wait_for("document.querySelector('figure.chart .curve') !== null");
    (browser, page)
}

/// Fails if the page logged an error or requested anything but itself.
fn assert_no_errors_and_requests(browser: &Browser, page: &PageFile) {
    let thrown = browser.events_of("Runtime.exceptionThrown");
    assert!(thrown.is_empty(), "{thrown:?}");
    let logged = browser.events_of("Log.entryAdded");
    assert!(logged.is_empty(), "{logged:?}");
    let console = browser.events_of("Runtime.consoleAPICalled");
    assert!(console.is_empty(), "{console:?}");
    let requests = browser.events_of("Network.requestWillBeSent");
    let asked: Vec<&str> = requests.iter().map(|event| event["request"]["url"].as_str().unwrap()).collect();
    let outside = asked.iter().filter(|url| **url != page.url && !url.starts_with("data:")).collect::<Vec<_>>();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(
        asked.contains(&page.url.as_str()),
        "the request of the page itself was recorded, so others would have been, too"
    );
}

/// An expression for the number of elements in the first figure.
fn count(selector: &str) -> String {
    format!("document.querySelector('figure.chart').querySelectorAll('{selector}').length")
}

#[test]
#[ignore = "needs Chromium"]
fn curves_are_drawn_at_their_values() {
    let (mut browser, page) = opened("curves", &fixture::report::report());
    assert_eq!(browser.eval(&count(".curve")), json!(6));
    assert_eq!(browser.eval(&count(".band")), json!(6));
    // The value of the last point of SE, computed from its position between the ticks 100k and 120k.
    let script = "(() => {
        const figure = document.querySelector('figure.chart');
        const ticks = [...figure.querySelectorAll('.y-tick')];
        const tick = (label) => Number(ticks.find((t) => t.textContent === label).getAttribute('y')) - 4;
        const d = figure.querySelector('.curve[data-policy=\"0\"]').getAttribute('d');
        const last = Number(d.split('L').at(-1).split(' ')[1]);
        return 1e5 + 2e4 * (last - tick('100k')) / (tick('120k') - tick('100k'));
    })()";
    let drawn = browser.eval(script).as_f64().unwrap();
    let given = fixture::single().panels[0].series[0].points.last().unwrap().mean;
    assert!((drawn - given).abs() < 60.0, "a tenth of a pixel is about 40: drawn {drawn}, given {given}");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn policies_can_be_hidden_and_shown() {
    let (mut browser, page) = opened("policies", &fixture::report::report());
    let button = "figure.chart .legend button[data-policy='0']";
    let top = |browser: &mut Browser| {
        browser.eval("[...document.querySelector('figure.chart').querySelectorAll('.y-tick')].at(-1).textContent")
    };
    assert_eq!(top(&mut browser), json!("120k"));
    browser.click(button);
    assert_eq!(browser.eval(&count(".curve")), json!(5));
    for kind in ["curve", "marker"] {
        assert_eq!(browser.eval(&count(&format!(".plot .{kind}[data-policy=\"0\"]"))), json!(0), "{kind}");
    }
    assert_eq!(browser.eval(&format!("document.querySelector(\"{button}\").ariaPressed")), json!("false"));
    assert_ne!(top(&mut browser), json!("120k"), "the axis follows the visible curves");
    browser.click(button);
    assert_eq!(browser.eval(&count(".curve")), json!(6));
    // By keyboard, until no policy is visible.
    for policy in 0..6 {
        browser
            .eval(&format!("document.querySelector('figure.chart .legend button[data-policy=\"{policy}\"]').focus()"));
        browser.call("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": " ", "code": "Space", "text": " "}));
        browser.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": " ", "code": "Space"}));
    }
    assert_eq!(browser.eval(&count(".curve")), json!(0));
    assert_eq!(
        browser.eval("document.querySelector('.plot').textContent.includes('All policies are hidden')"),
        json!(true)
    );
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn axes_and_spread_can_be_chosen() {
    let (mut browser, page) = opened("axes", &fixture::report::report());
    let labels =
        "[...document.querySelector('figure.chart').querySelectorAll('.y-tick')].map((t) => t.textContent).join(' ')";
    let path = "document.querySelector('figure.chart .curve').getAttribute('d')";
    let linear = (browser.eval(labels), browser.eval(path));
    browser.click("figure.chart input[name$=y][value=log]");
    assert_eq!(browser.eval(labels), json!("100 1k 10k 100k"), "the least mean is about 50");
    assert_ne!(browser.eval(path), linear.1);
    browser.click("figure.chart input[name$=x][value=log]");
    let x_labels = labels.replace("y-tick", "x-tick");
    assert_eq!(browser.eval(&x_labels), json!("10k 100k 1M"));
    browser.click("figure.chart input[name$=x][value=linear]");
    browser.click("figure.chart input[name$=y][value=linear]");
    assert_eq!((browser.eval(labels), browser.eval(path)), linear, "the same as before");
    for (spread, bands, instances) in [("none", 0, 0), ("quantiles", 12, 0), ("instances", 0, 6), ("stderr", 6, 0)] {
        browser.click(&format!("figure.chart input[name$=spread][value={spread}]"));
        assert_eq!(browser.eval(&count(".band")), json!(bands), "{spread}");
        assert_eq!(browser.eval(&count(".instances")), json!(instances), "{spread}");
    }
    browser.click("figure.chart input[name$=spread][value=instances]");
    let lines = "document.querySelector('figure.chart .instances').getAttribute('d').split('M').length - 1";
    assert_eq!(browser.eval(lines), json!(20), "one line per instance");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn values_are_shown_at_the_pointer_and_read_by_keyboard() {
    let (mut browser, page) = opened("values", &fixture::report::report());
    let (x, y) = browser.place("figure.chart .plot");
    browser.point((x, y));
    assert_eq!(browser.eval("document.querySelector('.tip').hidden"), json!(false));
    assert_eq!(browser.eval("document.querySelectorAll('.tip-row').length"), json!(6));
    let head = browser.eval("document.querySelector('.tip-head').textContent");
    assert!(head.as_str().unwrap().starts_with("t = "), "{head}");
    browser.eval("document.querySelector('figure.chart .plot').focus()");
    browser.press("End");
    assert_eq!(browser.eval("document.querySelector('.tip-head').textContent"), json!("t = 1,000,000"));
    let first = browser.eval("document.querySelector('.tip-row').textContent");
    assert_eq!(first, json!("SE (paper)120,160 ± 394"), "rounded to five digits");
    let spoken = browser.eval("document.getElementById('live').textContent");
    assert!(spoken.as_str().unwrap().contains("calibrated: 80.2 ± 9.27"), "{spoken}");
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelector('.tip').hidden"), json!(true));
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn every_figure_fits_wide_and_narrow_screens_in_both_themes() {
    let report = fixture::report::report();
    let (mut browser, page) = opened("screens", &report);
    for (width, scheme) in [(1600, "light"), (360, "dark"), (800, "light")] {
        browser.screen(width, 800);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", features);
        for nth in 0..report.sections.len() {
            let figure = format!("document.querySelectorAll('figure.chart')[{nth}]");
            browser.eval(&format!("{figure}.scrollIntoView({{behavior: 'instant'}})"));
            let panels = report.sections[nth].figure.panels.len();
            browser.wait_for(&format!("{figure}.querySelectorAll('.plot > svg').length === {panels}"));
            let fits = format!(
                "[...{figure}.querySelectorAll('.plot > svg')].every((s) => s.getBoundingClientRect().right <= {width})"
            );
            browser.wait_for(&fits);
        }
        let root = "document.documentElement";
        assert_eq!(
            browser.eval(&format!("{root}.scrollWidth - {root}.clientWidth")),
            json!(0),
            "horizontal scrolling at {width}"
        );
        let dark = browser.eval("getComputedStyle(document.body).backgroundColor") != json!("rgb(255, 255, 255)");
        assert_eq!(dark, scheme == "dark");
    }
    browser.click("#theme");
    assert_eq!(browser.eval("document.documentElement.dataset.theme"), json!("dark"));
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn tables_can_be_sorted_and_labels_with_markup_are_escaped() {
    let markup = "</script><img src=x onerror=alert(1)>\"'&";
    let axis = || Axis::new(markup, AxisScale::Linear);
    let series = Series::new(
        markup,
        vec![CurvePoint::new(1.0, -1.0, 0.5), CurvePoint::new(2.0, f64::NAN, 0.5), CurvePoint::new(3.0, 4.0, 0.5)],
    );
    let figure = Figure::new(markup, markup).panel(Panel::new("p", markup, axis(), axis()).series(series));
    let mut report = fixture::report::report();
    report.sections.insert(0, ReportSection { spec: markup.into(), ..ReportSection::new(figure) });
    let (mut browser, page) = opened("tables", &report);
    assert_eq!(browser.eval("document.images.length"), json!(0));
    assert_eq!(browser.eval("document.querySelector('.legend button').textContent"), json!(markup));
    assert_eq!(browser.eval("document.querySelector('details.spec code').textContent"), json!(markup));
    browser.click("figure.chart input[name$=y][value=log]");
    assert_eq!(
        browser.eval("document.querySelector('.warning').textContent.startsWith('1 value is not positive')"),
        json!(true)
    );
    let order = "[...document.querySelector('table.summary').tBodies[0].rows]\
                 .map((r) => Number(r.querySelector('[data-value]').dataset.value))";
    let sorted = |values: &serde_json::Value| -> Vec<f64> {
        values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    browser.click("table.summary thead th:nth-child(2) button");
    let up = sorted(&browser.eval(order));
    assert!(up.is_sorted() && up.len() == 6, "{up:?}");
    browser.click("table.summary thead th:nth-child(2) button");
    assert!(sorted(&browser.eval(order)).is_sorted_by(|a, b| a >= b));
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn scale_js_gives_the_results_that_the_rust_code_gives() {
    let mut browser = Browser::start();
    let script = format!(
        "(() => {{ {} {} return differences({}); }})()",
        include_str!("../assets/report/scale.js"),
        include_str!("scale_check.js"),
        include_str!("../src/chart/scale_cases.json"),
    );
    assert_eq!(browser.eval(&script), json!([]));
}
