//! The HTML of the page: complete, self-contained, with escaped labels. tests/report_browser.rs tests its behaviour.
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod fixture;

use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::{Cell, DataTable, Footer, PolicyRow, Report, ReportSection};

const MARKUP: &str = "</script></noscript></style><img src=x onerror=\"alert('1')\">&amp; ünï";

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
        "one static image per section for readers without JavaScript"
    );
    assert_eq!(page, report.to_html(), "the same report gives the same bytes");
}

#[test]
fn the_page_does_not_refer_to_other_resources() {
    let page = fixture::report::report().to_html();
    // XML namespaces look like addresses but are never requested.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    // The text of plotly.js names addresses that only parts of it use that the page does not call. That nothing is
    // requested is the concern of the content security policy, and tests/report_browser.rs checks it.
    let plotly = page.find("id=\"plotly\"").expect("the page holds plotly.js");
    let page = format!("{}{}", &page[..plotly], &page[plotly + page[plotly..].find("</script>").unwrap()..]);
    for bad in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_report_with_thirty_panels_is_below_five_megabytes() {
    let mut report = Report::new("size");
    for _ in 0..3 {
        report.sections.push(ReportSection::new(fixture::grid()));
    }
    let size = report.to_html().len();
    assert!(size < 5_000_000, "30 panels, 6 policies, 100 checkpoints, 20 instances: {size} bytes");
}

#[test]
fn the_title_of_a_report_is_not_shown_again_above_its_only_figure() {
    let with_title = |title: &str| {
        let mut report = Report::new("workers");
        report.sections.push(ReportSection::new(Figure::new("id", title)));
        report.to_html()
    };
    let hidden = "class=\"visually-hidden\">workers</h2>";
    assert!(with_title("workers").contains(hidden), "it names the section for screen readers");
    assert!(with_title("other").contains(">other</h2>") && !with_title("other").contains("hidden\">other</h2>"));
}

#[test]
fn labels_with_markup_are_escaped() {
    let axis = || Axis::new(MARKUP, AxisScale::Linear);
    let series = Series::new(MARKUP, vec![CurvePoint::new(1.0, 1.0, 0.5)]);
    let figure = Figure::new(MARKUP, MARKUP)
        .caption(MARKUP)
        .panel(Panel::new(MARKUP, MARKUP, axis(), axis()).series(series).note(MARKUP));
    let row = PolicyRow {
        panel: MARKUP.into(),
        policy: MARKUP.into(),
        instances: 1,
        mean: f64::NAN,
        stderr: f64::INFINITY,
        median: 0.0,
        p90: 1.0,
        p99: -1e-9,
        max: 1e300,
        better_than: vec![MARKUP.into()],
    };
    let table = DataTable {
        caption: MARKUP.into(),
        columns: vec![MARKUP.into(); 2],
        rows: vec![vec![
            Cell { text: MARKUP.into(), value: None },
            Cell { text: MARKUP.into(), value: Some(f64::NAN) },
        ]],
    };
    let section = ReportSection {
        summary: vec![row],
        tables: vec![table],
        summary_caption: MARKUP.into(),
        spec: MARKUP.into(),
        command: MARKUP.into(),
        prose: MARKUP.into(),
        figure,
    };
    let report = Report {
        title: MARKUP.into(),
        lead: MARKUP.into(),
        sections: vec![section],
        footer: Footer {
            versions: vec![(MARKUP.into(), MARKUP.into())],
            seed: MARKUP.into(),
            generator: MARKUP.into(),
            command: MARKUP.into(),
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
fn only_a_page_beside_the_results_mentions_their_files() {
    let report = fixture::report::report();
    let sentence = "The files next to this page have all results";
    assert!(report.to_html_beside_results().contains(sentence) && !report.to_html().contains(sentence));
}

#[test]
fn reports_with_cpr_explain_it_once() {
    let mut report = fixture::report::report();
    assert_eq!(report.to_html().matches("complete policy regret").count(), 1);
    report.lead = "The complete policy regret is defined here.".into();
    assert_eq!(report.to_html().matches("complete policy regret").count(), 1);
    report.sections.clear();
    report.lead.clear();
    assert_eq!(report.to_html().matches("complete policy regret").count(), 0, "no figure shows CPR");
}

#[test]
fn a_report_without_sections_is_a_page() {
    let page = Report::new("nothing").to_html();
    assert!(page.contains("<h1>nothing</h1>") && page.ends_with("</html>\n"));
}
