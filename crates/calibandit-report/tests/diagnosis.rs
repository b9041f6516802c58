//! Sentences, figures and page of a diagnosis, for logs whose truth is known.
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use calibandit_fit::diagnose::{DiagnoseOptions, Diagnosis, LogBuilder, PriceOptions, diagnose};
use calibandit_report::chart::Palette;
use calibandit_report::chart::plotly::{ViewOptions, description};
use calibandit_report::diagnosis::{
    DiagnosisSource, DiagnosisTexts, diagnosis_report, difference_figure, forgetting_figure, price_figure, price_text,
    warm_up_figure,
};

const SOURCE: DiagnosisSource<'_> = DiagnosisSource { log: "log.csv", tolerance_given: true };

/// Arms in blocks, in turn. `loss` gives the expected loss by arm and position; the noise is uniform on [-0.1, 0.1].
fn diagnosed(names: &[&str], block: usize, longest: Option<u32>, loss: impl Fn(usize, usize) -> f64) -> Diagnosis {
    let mut log = LogBuilder::new();
    let mut state = 1_u64;
    for play in 0..12_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5;
        let arm = play / block % names.len();
        log.push(names[arm], Some(loss(arm, play % block + 1) + 0.2 * noise), None, None).unwrap();
    }
    let options = DiagnoseOptions { longest, tolerance: Some(0.05), ..DiagnoseOptions::default() };
    diagnose(&log.build().unwrap(), &options).unwrap()
}

/// The second arm is slow for five plays.
fn warming(arm: usize, position: usize) -> f64 {
    if arm == 1 { if position <= 5 { 1.2 } else { 0.7 } } else { 1.0 }
}

#[test]
fn figures_have_the_numbers_of_the_diagnosis_and_mark_the_memory_bound() {
    let found = diagnosed(&["plain", "slim"], 40, Some(20), warming);
    assert_eq!(found.memory_bound, Some(6));
    let figure = warm_up_figure(&found);
    let panel = &figure.panels[0];
    assert_eq!((panel.rules[0].at, panel.rules[0].label.as_str()), (6.0, "M = 6"));
    let slim = panel.series.iter().find(|series| series.label == "slim").unwrap();
    let arm = found.arm("slim").unwrap();
    assert_eq!(slim.points.len(), arm.curve.len());
    for (point, cell) in slim.points.iter().zip(&arm.curve) {
        assert_eq!((point.mean, point.interval), (cell.loss.mean, Some((cell.loss.low, cell.loss.high))));
        assert!(f64::from(cell.first) <= point.x && point.x <= f64::from(cell.last));
    }
    let difference = difference_figure(&found);
    let band = &difference.panels[0].series[0];
    assert!(band.points.iter().all(|point| point.interval == Some((-0.05, 0.05))), "the tolerance");
    let svg = figure.to_svg(&Palette::for_figures([&figure]));
    assert!(svg.contains("M = 6") && svg.contains("slim"));
    let plot = description(&figure, &Palette::for_figures([&figure]), &ViewOptions::default());
    // The axis is logarithmic: a text is at the logarithm, a line at the value.
    assert_eq!(plot["layout"]["shapes"][0]["x0"], 6.0);
    assert_eq!(plot["layout"]["annotations"].as_array().unwrap().last().unwrap()["x"], 6.0_f64.log10());
}

#[test]
fn the_price_is_drawn_on_both_sides_of_the_bound_with_plain_bandits_as_lines() {
    let found = diagnosed(&["plain", "slim"], 40, Some(20), warming);
    let price = found.price(&PriceOptions { horizon: 5_000, games: 4, ..PriceOptions::default() }).unwrap();
    let figure = price_figure(&price);
    let series = &figure.panels[0].series;
    let calibrated = series.iter().find(|series| series.label == "calibrated").unwrap();
    let bounds: Vec<f64> = calibrated.points.iter().map(|point| point.x).collect();
    assert!(bounds.first().unwrap() < &6.0 && bounds.contains(&6.0) && bounds.last().unwrap() > &6.0, "{bounds:?}");
    for plain in series.iter().filter(|series| series.label != "calibrated") {
        assert!(plain.points.len() == 2 && plain.points[0].mean == plain.points[1].mean, "{}", plain.label);
    }
    let text = price_text(&found, &price);
    assert!(text.contains("Over 5,000 plays, `calibrated` with M = 6") && text.contains("plain bandit"), "{text}");
}

#[test]
fn a_page_without_data_says_why() {
    // Every play switches the arm, so nothing was played in a row.
    let found = diagnosed(&["a", "b"], 1, Some(64), |arm, _| arm as f64);
    let page = diagnosis_report(&found, SOURCE, Err("no arm has a curve"), "calibandit diagnose log.csv").to_html();
    assert!(page.contains("M cannot be said from this log"));
    assert!(page.contains("all pauses of an arm are about equally long (in plays: 1)"));
    assert!(page.contains("No price can be predicted: no arm has a curve."));
    assert!(page.contains("calibandit pilot --arms a,b --longest 64 --believe tallying"));
    assert!(forgetting_figure(&found).panels.is_empty());
    let figures = page.matches("<figure class=\"chart\"").count();
    let drawn = [warm_up_figure(&found), difference_figure(&found)].iter().filter(|f| !f.panels.is_empty()).count();
    assert_eq!(figures, drawn);
}

#[test]
fn names_of_arms_are_text_and_never_markup() {
    let name = "<img src=x onerror=alert(1)>";
    let found = diagnosed(&["plain", name], 40, Some(20), warming);
    let page = diagnosis_report(&found, SOURCE, Err("none"), "").to_html();
    let scripts = page.find("id=\"report-data\"").unwrap();
    assert!(!page[..scripts].contains(name) && page.contains("&lt;img src=x"));
}

#[test]
fn many_arms_are_cut_to_those_that_settle_last() {
    let names: Vec<String> = (0..12).map(|arm| format!("arm {arm}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = diagnosed(&names, 40, Some(20), warming);
    let panel = &warm_up_figure(&found).panels[0];
    assert_eq!(panel.series.len(), 8);
    assert!(panel.series.iter().any(|series| series.label == "arm 1"), "the only arm that warms up");
    assert!(panel.notes[0].contains("8 of 12 arms"), "{:?}", panel.notes);
}

#[test]
fn sentences_say_what_is_assumed() {
    let settled = DiagnosisTexts::new(&diagnosed(&["plain", "slim"], 40, Some(20), warming), SOURCE);
    assert!(
        settled.answer.ends_with("if no arm remembers more than 20 plays (95 % confidence)."),
        "{}",
        settled.answer
    );
    assert!(settled.pilot.is_none() && settled.reo.contains("REO holds"));
    let open = DiagnosisTexts::new(&diagnosed(&["plain", "slim"], 40, None, warming), SOURCE);
    assert!(open.answer.contains("`--longest`") && open.answer.contains("M = 6 is enough"), "{}", open.answer);
    assert!(open.reo.starts_with("If no arm remembers more than"), "{}", open.reo);
    let fatigue = |arm: usize, position: usize| [0.6, if position <= 10 { 0.3 } else { 0.9 }][arm];
    let tiring = DiagnosisTexts::new(&diagnosed(&["a", "it's b"], 40, Some(20), fatigue), SOURCE);
    assert!(tiring.reo.contains("REO is violated") && tiring.reo.contains("Alternating"), "{}", tiring.reo);
    assert!(tiring.tallying.is_none(), "tallying needs a monotone curve");
    let short = DiagnosisTexts::new(&diagnosed(&["a", "it's b"], 1, Some(64), |arm, _| arm as f64), SOURCE);
    let command = &short.pilot.unwrap().commands[0];
    assert!(command.contains("--arms 'a,it'\\''s b'"), "{command}");
}
