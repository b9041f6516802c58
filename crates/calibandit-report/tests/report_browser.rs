//! The report in a real browser: curves, controls, reading of values, tables; no errors and no network requests.
//! tests/report_navigation.rs tests links, addresses, downloads and print.
//!
//! Needs Chromium, found by `CALIBANDIT_CHROMIUM` or in the usual places, so `cargo test` ignores these tests and
//! `cargo xtask test` runs them where it is installed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod browser;
mod fixture;

use browser::{Browser, assert_no_errors_and_requests, opened};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::ReportSection;
use serde_json::{Value, json};

/// An expression for the number of visible traces with a role in the first panel of the page.
fn count(role: &str) -> String {
    format!("document.querySelector('.plot').data.filter((t) => t.visible && t.meta.role === '{role}').length")
}

/// The labels of the ticks of an axis of the first panel.
fn ticks(browser: &mut Browser, axis: &str) -> Vec<String> {
    let texts = browser.eval(&format!(
        "[...document.querySelector('.plot').querySelectorAll('.{axis}tick text')].map((t) => t.textContent)"
    ));
    texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn curves_are_drawn_at_their_values() {
    let (mut browser, page) = opened("curves", &fixture::report::report());
    assert_eq!((browser.eval(&count("mean")), browser.eval(&count("band"))), (json!(6), json!(6)));
    // The value of the last point of SE, computed from its place between the grid lines of 20k and 120k.
    let script = "(() => {
        const plot = document.querySelector('.plot');
        const place = (line, at) => line.getPointAtLength(at).matrixTransform(line.getScreenCTM()).y;
        const grid = [...plot.querySelectorAll('.ygrid')].map((line) => place(line, 0));
        const lines = [...plot.querySelectorAll('.js-line')].filter((line) => parseFloat(line.style.strokeWidth) > 0);
        const last = place(lines[0], lines[0].getTotalLength());
        return 2e4 + 1e5 * (last - grid[0]) / (grid.at(-1) - grid[0]);
    })()";
    assert_eq!(ticks(&mut browser, "y"), ["0", "20k", "40k", "60k", "80k", "100k", "120k"]);
    let drawn = browser.eval(script).as_f64().unwrap();
    let given = fixture::single().panels[0].series[0].points.last().unwrap().mean;
    assert!((drawn - given).abs() < 60.0, "a tenth of a pixel is about 30: drawn {drawn}, given {given}");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn policies_can_be_hidden_shown_and_isolated() {
    let (mut browser, page) = opened("policies", &fixture::report::report());
    let button = |policy: usize| format!("figure.chart .legend button[data-policy='{policy}']");
    assert_eq!(ticks(&mut browser, "y").last().unwrap(), "120k");
    browser.click(&button(0));
    browser.wait_for(&format!("{} === 5", count("mean")));
    assert_eq!(browser.eval(&count("band")), json!(5), "the band is hidden with its curve");
    assert_eq!(browser.eval(&format!("document.querySelector(\"{}\").ariaPressed", button(0))), json!("false"));
    browser.wait_for("[...document.querySelectorAll('.plot .ytick text')].every((t) => t.textContent !== '120k')");
    browser.click(&button(0));
    browser.wait_for(&format!("{} === 6", count("mean")));
    let place = browser.place(&button(2));
    browser.double_click(place);
    browser.wait_for(&format!("{} === 1", count("mean")));
    let shown = "document.querySelector('.plot').data.find((t) => t.visible && t.meta.role === 'mean').meta.label";
    assert_eq!(browser.eval(shown), json!(fixture::single().panels[0].series[2].label));
    browser.double_click(place);
    browser.wait_for(&format!("{} === 6", count("mean")));
    // By keyboard, until no policy is visible.
    for policy in 0..6 {
        browser.eval(&format!("document.querySelector(\"{}\").focus()", button(policy)));
        browser.call("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": " ", "code": "Space", "text": " "}));
        browser.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": " ", "code": "Space"}));
    }
    browser.wait_for("document.querySelector('.plot').textContent.includes('All curves are hidden')");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn axes_and_spread_can_be_chosen() {
    let (mut browser, page) = opened("axes", &fixture::report::report());
    let linear = (ticks(&mut browser, "x"), ticks(&mut browser, "y"));
    browser.click("input[name=f1-y][value=log]");
    browser.wait_for("document.querySelector('.plot').layout.yaxis.type === 'log'");
    let labels = ticks(&mut browser, "y");
    assert!(["100", "1000", "10k", "100k"].iter().all(|power| labels.contains(&(*power).to_owned())), "{labels:?}");
    browser.click("input[name=f1-x][value=log]");
    browser.wait_for("document.querySelector('.plot').textContent.includes('first checkpoint: 10,000')");
    let limits = browser.eval("document.querySelector('.plot').layout.xaxis.range.map((limit) => 10 ** limit)");
    assert!((limits[0].as_f64().unwrap() - 5000.0).abs() < 1e-6, "half of the first checkpoint: {limits}");
    browser.click("input[name=f1-x][value=linear]");
    browser.click("input[name=f1-y][value=linear]");
    browser.wait_for("document.querySelector('.plot').layout.yaxis.type === 'linear'");
    assert_eq!((ticks(&mut browser, "x"), ticks(&mut browser, "y")), linear, "the same as before");
    let modes = [
        ("none", 0, 0, "Only means are shown."),
        ("quantiles", 12, 0, "10 % to the 90 % quantile"),
        ("instances", 0, 6, "thin lines are single instances"),
        ("stderr", 6, 0, "± 1 standard error"),
    ];
    for (spread, bands, lines, caption) in modes {
        browser.click(&format!("input[name=f1-spread][value={spread}]"));
        browser.wait_for(&format!("{} === {bands} && {} === {lines}", count("band"), count("instances")));
        let text = browser.eval("document.querySelector('.spread-now').textContent");
        assert!(text.as_str().unwrap().contains(caption), "{spread}: {text}");
        assert_eq!(text.as_str().unwrap().contains("standard error"), spread == "stderr");
    }
    browser.click("input[name=f1-spread][value=instances]");
    let gaps = "document.querySelector('.plot').data.find((t) => t.meta.role === 'instances').y\
                .reduce((n, y) => n + Number.isNaN(y), 0)";
    assert_eq!(browser.eval(gaps), json!(20), "one line per instance, with a gap after each");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn a_given_lower_limit_of_a_log_axis_is_kept() {
    let mut report = fixture::report::report();
    let mut figure = fixture::single_log();
    figure.panels[0].y.min = Some(1000.0);
    report.sections = vec![ReportSection::new(figure)];
    let (mut browser, page) = opened("limit", &report);
    let lowest = "10 ** document.querySelector('.plot').layout.yaxis.range[0]";
    assert!((browser.eval(lowest).as_f64().unwrap() - 1000.0).abs() < 1e-6);
    browser.click(".legend button[data-policy='0']");
    browser.screen(700, 800);
    browser.wait_for("document.querySelector('.plot svg').getBoundingClientRect().right <= 700");
    assert!((browser.eval(lowest).as_f64().unwrap() - 1000.0).abs() < 1e-6, "also after a change");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn values_are_shown_at_the_pointer_and_read_by_keyboard() {
    let (mut browser, page) = opened("values", &fixture::report::report());
    let (x, y) = browser.place("figure.chart .plot");
    browser.point((x - 5.0, y));
    browser.point((x, y));
    browser.wait_for("document.querySelector('.tip')?.hidden === false");
    assert_eq!(browser.eval("document.querySelectorAll('.tip-row').length"), json!(6));
    let head = browser.eval("document.querySelector('.tip-head').textContent");
    assert!(head.as_str().unwrap().starts_with("t = "), "{head}");
    browser.eval("document.querySelector('figure.chart .plot').focus()");
    browser.press("End");
    browser.wait_for("document.querySelector('.tip-head').textContent === 't = 1,000,000'");
    let first = browser.eval("document.querySelector('.tip-row').textContent");
    assert_eq!(first, json!("SE (paper)120,159 ± 394"), "the greatest mean");
    let cell = browser.eval("document.querySelector('table.summary td.number').textContent");
    assert_eq!(cell, json!("120,159 ± 394"), "the same number as in the table");
    let spoken = browser.eval("document.getElementById('live').textContent");
    assert!(spoken.as_str().unwrap().contains("calibrated: 80.2 ± 9.27"), "{spoken}");
    browser.press("Home");
    browser.wait_for("document.querySelector('.tip-head').textContent === 't = 10,000'");
    browser.press("ArrowRight");
    browser.wait_for("document.querySelector('.tip-head').textContent === 't = 50,000'");
    browser.press("Escape");
    assert_eq!(browser.eval("document.querySelector('.tip').hidden"), json!(true));
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn every_figure_fits_wide_and_narrow_screens_in_both_themes() {
    let report = fixture::report::report();
    let (mut browser, page) = opened("screens", &report);
    for (width, scheme) in [(1600, "light"), (400, "dark"), (800, "light")] {
        browser.screen(width, 800);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", features);
        for nth in 0..report.sections.len() {
            let figure = format!("document.querySelectorAll('figure.chart')[{nth}]");
            browser.eval(&format!("{figure}.scrollIntoView({{behavior: 'instant'}})"));
            let panels = report.sections[nth].figure.panels.len();
            browser.wait_for(&format!("{figure}.querySelectorAll('.plot .xaxislayer-above').length === {panels}"));
            let fits = "(s) => s.getBoundingClientRect().right <= innerWidth";
            browser.wait_for(&format!("[...{figure}.querySelectorAll('.plot svg')].every({fits})"));
        }
        let root = "document.documentElement";
        let over = browser.eval(&format!("{root}.scrollWidth - {root}.clientWidth"));
        assert_eq!(over, json!(0), "horizontal scrolling at {width}");
        let color = |browser: &mut Browser, of: &str| browser.eval(&format!("getComputedStyle({of}).backgroundColor"));
        let (white, dark) = (json!("rgb(255, 255, 255)"), json!("rgb(20, 23, 27)"));
        let expected = if scheme == "dark" { &dark } else { &white };
        assert_eq!(color(&mut browser, "document.body"), *expected);
        browser.wait_for(&format!("document.querySelector('.plot').layout.template.layout.paper_bgcolor === '{}'", {
            if scheme == "dark" { "#14171b" } else { "#ffffff" }
        }));
    }
    browser.click("#theme");
    assert_eq!(browser.eval("document.documentElement.dataset.theme"), json!("dark"));
    // The dark colour of SE (paper).
    browser.wait_for("document.querySelector('.plot').data.some((t) => t.line.color === '#4aa8e0')");
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
    assert_eq!(browser.eval("document.querySelector('.plot .xtitle').textContent"), json!(markup));
    assert_eq!(browser.eval("document.querySelector('details.spec code').textContent"), json!(markup));
    browser.click("input[name=f1-y][value=log]");
    browser.wait_for("document.querySelector('.plot').textContent.includes('1 value is not positive')");
    let order = "[...document.querySelector('table.summary').tBodies[0].rows]\
                 .map((r) => Number(r.querySelector('[data-value]').dataset.value))";
    let sorted =
        |values: &Value| -> Vec<f64> { values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect() };
    browser.click("table.summary thead th:nth-child(2) button");
    let up = sorted(&browser.eval(order));
    assert!(up.is_sorted() && up.len() == 6, "{up:?}");
    browser.click("table.summary thead th:nth-child(2) button");
    assert!(sorted(&browser.eval(order)).is_sorted_by(|a, b| a >= b));
    let cut = "[...document.querySelectorAll('.table-box')].filter((b) => b.scrollWidth > b.clientWidth).length";
    assert_eq!(browser.eval(cut), json!(0), "no table is cut at 1280 pixels");
    assert_no_errors_and_requests(&browser, &page);
}
