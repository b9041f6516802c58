//! The page of a diagnosis in a real browser: its four figures are drawn, also where no frames are painted.
//!
//! Needs Chromium, as tests/report_browser.rs does.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod browser;

use browser::{Browser, PageFile, assert_no_errors_and_requests, opened};
use calibandit_fit::diagnose::{DiagnoseOptions, LogBuilder, PriceOptions, diagnose};
use calibandit_report::diagnosis::{DiagnosisSource, diagnosis_report};
use calibandit_report::report::Report;
use serde_json::json;

/// The diagnosis of three arms that remember six plays, switched at random.
fn report() -> Report {
    let names = ["a", "b", "c"];
    let mut log = LogBuilder::new();
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let (mut arm, mut past) = (0, Vec::new());
    for _ in 0..20_000 {
        if uniform() > 0.93 {
            arm = (3.0 * uniform()) as usize;
        }
        let tally = past.iter().rev().take(6).filter(|played| **played == arm).count() as f64;
        let loss = 0.6 - [0.3, 0.2, 0.1][arm] * tally / 6.0 + 0.2 * (uniform() - 0.5);
        log.push(names[arm], Some(loss), None, None).unwrap();
        past.push(arm);
    }
    let options = DiagnoseOptions { longest: Some(12), tolerance: Some(0.05), ..DiagnoseOptions::default() };
    let found = diagnose(&log.build().unwrap(), &options).unwrap();
    let price = found.price(&PriceOptions { horizon: 5_000, games: 4, ..PriceOptions::default() }).unwrap();
    let source = DiagnosisSource { log: "log.csv", tolerance_given: true };
    diagnosis_report(&found, source, Ok(&price), "calibandit diagnose log.csv")
}

#[test]
#[ignore = "needs Chromium"]
fn the_four_figures_of_a_diagnosis_are_drawn_on_wide_and_narrow_screens() {
    let (mut browser, page) = opened("diagnosis", &report());
    assert_eq!(browser.eval("document.querySelectorAll('figure.chart').length"), json!(4));
    for width in [1280, 400] {
        browser.screen(width, 900);
        for (nth, series) in [3, 3, 4, 3].into_iter().enumerate() {
            let figure = format!("document.querySelectorAll('figure.chart')[{nth}]");
            browser.eval(&format!("{figure}.scrollIntoView({{behavior: 'instant'}})"));
            let long = "(line) => line.getTotalLength() > 20";
            let lines = format!("[...{figure}.querySelectorAll('.plot .js-line')].filter({long}).length");
            browser.wait_for(&format!("{lines} >= {series}"));
        }
        // Plotly fits its drawings shortly after a change of the screen. Until then a narrow browser zooms out and
        // `innerWidth` grows with the page, so the width of the layout is compared.
        let root = "document.documentElement";
        browser.wait_for(&format!("{root}.clientWidth <= {width} && {root}.scrollWidth <= {root}.clientWidth"));
    }
    assert_no_errors_and_requests(&browser, &page);
}

#[test]
#[ignore = "needs Chromium"]
fn figures_are_drawn_without_animation_frames() {
    // Screenshots in virtual time stayed empty: no frame was painted after the one that found the figures.
    let mut browser = Browser::start();
    let page = PageFile::new("no-frames", &report().to_html());
    browser.screen(1280, 900);
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": "requestAnimationFrame = () => 0"}));
    browser.open(&page.url);
    browser.wait_for("document.querySelector('.plot .js-line') !== null");
    assert_no_errors_and_requests(&browser, &page);
}
