//! The page as a text: complete, self-contained, and safe whatever the labels are. What it does is tested in a browser.

mod fixture;

use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::{Cell, DataTable, Footer, PolicyRow, Report, ReportSection};

const NASTY: &str = "</script></noscript></style><img src=x onerror=\"alert('1')\">&amp; ünï";

#[test]
fn the_page_has_every_part() {
    let report = fixture::report::report();
    let page = report.to_html();
    for section in &report.sections {
        assert!(page.contains(&format!(">{}</h2>", section.figure.title)));
        assert!(page.contains(&section.command));
    }
    for text in
        ["<b>120,159</b>", "[game]", "xoshiro256++", "calibandit paper --out results", "radius = &quot;paper&quot;"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(
        page.matches("<noscript><svg").count(),
        report.sections.len(),
        "a picture each for readers without scripts"
    );
    assert_eq!(page, report.to_html(), "the same bytes every time");
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let page = fixture::report::report().to_html();
    // Names of XML vocabularies look like addresses but are never fetched.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for bad in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_report_of_the_papers_size_stays_small() {
    let mut report = Report::new("size");
    for _ in 0..3 {
        report.sections.push(ReportSection::new(fixture::grid()));
    }
    let size = report.to_html().len();
    assert!(size < 5_000_000, "30 panels, 6 policies, 100 checkpoints, 20 instances: {size} bytes");
}

#[test]
fn labels_of_any_kind_are_text_and_nothing_else() {
    let axis = || Axis::new(NASTY, AxisScale::Linear);
    let series = Series::new(NASTY, vec![CurvePoint::new(1.0, 1.0, 0.5)]);
    let figure = Figure::new(NASTY, NASTY)
        .caption(NASTY)
        .panel(Panel::new(NASTY, NASTY, axis(), axis()).series(series).note(NASTY));
    let row = PolicyRow {
        panel: NASTY.into(),
        policy: NASTY.into(),
        instances: 1,
        mean: f64::NAN,
        stderr: f64::INFINITY,
        median: 0.0,
        p90: 1.0,
        p99: -1e-9,
        max: 1e300,
        better_than: vec![NASTY.into()],
    };
    let table = DataTable {
        caption: NASTY.into(),
        columns: vec![NASTY.into(); 2],
        rows: vec![vec![Cell { text: NASTY.into(), value: None }, Cell { text: NASTY.into(), value: Some(f64::NAN) }]],
    };
    let section = ReportSection {
        summary: vec![row],
        tables: vec![table],
        summary_caption: NASTY.into(),
        spec: NASTY.into(),
        command: NASTY.into(),
        prose: NASTY.into(),
        figure,
    };
    let report = Report {
        title: NASTY.into(),
        lead: NASTY.into(),
        sections: vec![section],
        footer: Footer {
            versions: vec![(NASTY.into(), NASTY.into())],
            seed: NASTY.into(),
            generator: NASTY.into(),
            command: NASTY.into(),
        },
    };
    let page = report.to_html();
    assert!(!page.contains("<img"));
    for (tag, end) in [("<script", "</script"), ("<noscript>", "</noscript>"), ("<style>", "</style>")] {
        assert_eq!(page.matches(tag).count(), page.matches(end).count(), "{tag}");
    }
    assert!(page.contains("ünï"));
}

#[test]
fn an_empty_report_is_a_page() {
    let page = Report::new("nothing").to_html();
    assert!(page.contains("<h1>nothing</h1>") && page.ends_with("</html>\n"));
}
