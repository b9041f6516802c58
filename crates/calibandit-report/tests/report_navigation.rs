//! The report in a real browser: deep links, views in the address, zoom, downloads, print, and the page without
//! scripts.
//!
//! Needs Chromium; see tests/report_browser.rs.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod browser;
mod fixture;

use browser::{Browser, PageFile, assert_no_errors_and_requests, opened};
use serde_json::json;

/// The anchors of all sections.
fn anchors(browser: &mut Browser) -> Vec<String> {
    let found = browser.eval("[...document.querySelectorAll('main section')].map((section) => section.id)");
    found.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Fails if a section is not at the top of the window, or as near to it as the end of the page allows.
fn assert_at_top(browser: &mut Browser, anchor: &str, how: &str) {
    browser.eval("new Promise((rest) => requestAnimationFrame(() => requestAnimationFrame(rest)))");
    // Everything near the window is drawn, so nothing moves any more.
    browser.wait_for(
        "[...document.querySelectorAll('.plot')].filter((plot) => {
            const box = plot.getBoundingClientRect();
            return box.bottom > 0 && box.top < innerHeight;
        }).every((plot) => plot.querySelector('.xaxislayer-above'))",
    );
    let missed = browser.eval(&format!(
        "(() => {{
            const root = document.documentElement;
            const top = document.getElementById('{anchor}').getBoundingClientRect().top;
            return scrollY + top > root.scrollHeight - innerHeight ? root.scrollHeight - innerHeight - scrollY : top;
        }})()"
    ));
    assert!(missed.as_f64().unwrap().abs() <= 2.0, "{how} of {anchor} misses by {missed} pixels");
}

#[test]
#[ignore = "needs Chromium"]
fn deep_links_and_contents_lead_to_their_section() {
    let (mut browser, page) = opened("links", &fixture::report::report());
    let anchors = anchors(&mut browser);
    assert_eq!(anchors.len(), 6);
    for (width, height) in [(1280, 900), (400, 800)] {
        browser.screen(width, height);
        for anchor in &anchors {
            browser.open("about:blank");
            browser.open(&format!("{}#{anchor}", page.url));
            assert_at_top(&mut browser, anchor, &format!("the deep link at {width}"));
        }
        browser.open("about:blank");
        browser.open(&page.url);
        for anchor in anchors.iter().rev() {
            browser.click(&format!(".contents a[href='#{anchor}']"));
            browser.wait_for(&format!("location.hash === '#{anchor}'"));
            assert_at_top(&mut browser, anchor, &format!("the contents at {width}"));
        }
        browser.open("about:blank");
        browser.open(&format!("{}#{}?f1.y=log", page.url, anchors[3]));
        assert_at_top(&mut browser, &anchors[3], "the deep link with a view");
    }
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn dragging_zooms_and_a_double_click_resets() {
    let (mut browser, page) = opened("zoom", &fixture::report::report());
    let limits = |browser: &mut Browser| {
        let range = browser.eval("document.querySelector('.plot').layout.xaxis.range");
        (range[0].as_f64().unwrap(), range[1].as_f64().unwrap())
    };
    let before = limits(&mut browser);
    let (x, y) = browser.place("figure.chart .plot");
    browser.drag((x - 100.0, y - 80.0), (x + 100.0, y + 80.0));
    browser.wait_for("location.hash.includes('f1.zoom=')");
    let zoomed = limits(&mut browser);
    assert!(zoomed.0 > before.0 && zoomed.1 < before.1, "{zoomed:?} is within {before:?}");
    let pixels =
        browser.eval("document.querySelector('.plot .xy .plot, .plot .nsewdrag').getBoundingClientRect().width");
    let expected = 200.0 / pixels.as_f64().unwrap() * (before.1 - before.0);
    assert!(((zoomed.1 - zoomed.0) / expected - 1.0).abs() < 0.02, "200 pixels of {pixels}: {zoomed:?}");
    browser.double_click((x, y));
    browser.wait_for("!location.hash.includes('zoom')");
    assert_eq!(limits(&mut browser), before);
    // The wheel scrolls the page and does not zoom.
    let top = browser.eval("scrollY").as_f64().unwrap();
    let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 200});
    browser.call("Input.dispatchMouseEvent", wheel);
    browser.wait_for(&format!("scrollY > {top}"));
    assert_eq!(limits(&mut browser), before);
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn the_view_is_in_the_address_and_restored() {
    let (mut browser, page) = opened("address", &fixture::report::report());
    browser.click("input[name=f1-y][value=log]");
    browser.click("input[name=f1-spread][value=quantiles]");
    browser.click(".legend button[data-policy='2']");
    let (x, y) = browser.place("figure.chart .plot");
    browser.drag((x - 150.0, y - 60.0), (x + 50.0, y + 60.0));
    browser.wait_for("location.hash.includes('f1.zoom=')");
    let address = browser.eval("location.href").as_str().unwrap().to_owned();
    let state = "JSON.stringify([document.querySelector('.plot').data.map((t) => t.visible),\
                 document.querySelector('.plot').layout.yaxis.type,\
                 document.querySelector('.spread-now').textContent,\
                 [...document.querySelectorAll('.legend button')].map((b) => b.ariaPressed)])";
    let limits = |browser: &mut Browser| -> Vec<f64> {
        let both = "[...document.querySelector('.plot').layout.xaxis.range, ...document.querySelector('.plot')\
                    .layout.yaxis.range]";
        browser.eval(both).as_array().unwrap().iter().map(|limit| limit.as_f64().unwrap()).collect()
    };
    let (shown, zoomed) = (browser.eval(state), limits(&mut browser));
    assert!(address.contains("#f1-fig1a?") && address.contains("f1.off=EXP3"), "{address}");
    browser.open("about:blank");
    browser.open(&address);
    browser.wait_for("document.querySelector('.plot .js-line') !== null");
    assert_eq!(browser.eval(state), shown);
    let restored = limits(&mut browser);
    let near = zoomed.iter().zip(&restored).all(|(one, other)| (one - other).abs() <= 1e-5 * one.abs());
    assert!(near, "six digits of {zoomed:?}: {restored:?}");
    assert_eq!(browser.eval("document.querySelector('input[name=f1-y]:checked').value"), json!("log"));
    // A link of the contents keeps the view; resetting everything leaves a plain deep link.
    browser.click(".contents li:nth-child(2) a");
    browser.wait_for("location.hash.startsWith('#f2-') && location.hash.includes('f1.y=log')");
    browser.click("input[name=f1-y][value=linear]");
    browser.click("input[name=f1-spread][value=stderr]");
    browser.click(".legend button[data-policy='2']");
    assert_eq!(browser.eval("location.hash"), json!("#f1-fig1a"));
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn figures_and_tables_can_be_downloaded() {
    let (mut browser, page) = opened("downloads", &fixture::report::report());
    browser.save_downloads(&page.folder);
    browser.click("[data-download=svg]");
    let svg = String::from_utf8(browser.downloaded(&page.folder.join("fig1a.svg"))).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["CPR over time, unweighted", "SE (paper)", "calibrated", "120k"] {
        assert!(svg.contains(text), "{text}");
    }
    browser.click("[data-download=png]");
    let png = browser.downloaded(&page.folder.join("fig1a.png"));
    assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{} bytes", png.len());
    browser.click("[data-download=csv]");
    let csv = String::from_utf8(browser.downloaded(&page.folder.join("fig1a.csv"))).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "policy,mean,stderr,median,p90,p99,max,instances,better_than");
    assert_eq!(lines.len(), 7);
    let point = fixture::single().panels[0].series[0].points.last().unwrap().clone();
    assert!(lines[1].starts_with(&format!("SE (paper),{},{},", point.mean, point.stderr)), "{}", lines[1]);
    assert!(lines[2].starts_with("\"SE, sharp\","), "a comma is quoted: {}", lines[2]);
    // A figure of ten panels is one file.
    browser.click("figure[data-key=f3] [data-download=svg]");
    let svg = String::from_utf8(browser.downloaded(&page.folder.join("appendix.svg"))).unwrap();
    for panel in fixture::grid().panels {
        assert!(svg.contains(&panel.title), "{}", panel.title);
    }
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn print_shows_the_static_drawings() {
    let report = fixture::report::report();
    let (mut browser, page) = opened("print", &report);
    browser.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let sections = report.sections.len();
    browser.wait_for(&format!("document.querySelectorAll('.drawn > svg').length === {sections}"));
    let visible = |selector: &str| {
        format!("[...document.querySelectorAll('{selector}')].filter((e) => e.getClientRects().length > 0).length")
    };
    assert_eq!(browser.eval(&visible(".drawn > svg")), json!(sections));
    for hidden in [".plot", ".controls", ".legend", ".contents", ".spread-now"] {
        assert_eq!(browser.eval(&visible(hidden)), json!(0), "{hidden}");
    }
    browser.call("Emulation.setEmulatedMedia", json!({"media": ""}));
    let pdf = browser.call("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().unwrap().starts_with("JVBERi0"), "%PDF- in base64");
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn without_scripts_the_page_shows_the_static_drawings() {
    let report = fixture::report::report();
    let mut browser = Browser::start();
    let page = PageFile::new("noscript", &report.to_html());
    browser.screen(1280, 900);
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page.url);
    let visible = |selector: &str| {
        format!("[...document.querySelectorAll('{selector}')].filter((e) => e.getClientRects().length > 0).length")
    };
    assert_eq!(browser.eval(&visible("noscript > svg")), json!(report.sections.len()));
    for hidden in [".plot", ".controls", ".legend", "button.copy", "#theme"] {
        assert_eq!(browser.eval(&visible(hidden)), json!(0), "{hidden}");
    }
    assert_no_errors_and_requests(&browser, &page);
}
