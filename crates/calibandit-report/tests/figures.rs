//! Static figures: positions follow the data, drawings are deterministic, and labels are only text.
#![allow(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

mod fixture;

use calibandit_experiment::Experiment;
use calibandit_experiment::results::{Curve, Results, Sample};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Palette, Panel, PngError, Series, StyleKey};
use calibandit_report::figures::{plain_section, section};

const MARKUP: &str = "</script><b a=\"1\" c='2'>& ünï ∞ \u{1}";

fn draw(figure: &Figure) -> String {
    figure.to_svg(&Palette::for_figures([figure]))
}

/// The points of a path: the first one, then steps from point to point. A number ends before a space, a letter, a minus
/// sign or a second decimal point.
fn places(path: &str) -> Vec<(f64, f64)> {
    let separated = path.replace(['M', 'l', 'Z'], " ").replace('-', " -");
    let numbers: Vec<f64> = separated.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let mut at = (0.0, 0.0);
    let step = |pair: &[f64]| {
        at = (at.0 + pair[0], at.1 + pair[1]);
        at
    };
    numbers.chunks_exact(2).map(step).collect()
}

/// The unfilled paths of a colour, as lists of points.
fn lines_of(svg: &str, color: &str) -> Vec<Vec<(f64, f64)>> {
    svg.lines()
        .filter(|line| line.starts_with("<path") && line.contains("fill=\"none\"") && line.contains(color))
        .map(|line| places(line.split('"').nth(1).unwrap()))
        .collect()
}

#[test]
#[ignore = "slow: draws every figure twice"]
fn the_same_figure_gives_the_same_bytes() {
    for figure in fixture::all() {
        let palette = Palette::for_figures([&figure]);
        assert_eq!(figure.to_svg(&palette), figure.to_svg(&palette));
        assert_eq!(figure.to_png(&palette, 1.0).unwrap(), figure.to_png(&palette, 1.0).unwrap());
    }
}

#[test]
fn points_are_drawn_at_their_values() {
    let points = vec![CurvePoint::new(0.0, 0.0, 0.0), CurvePoint::new(5.0, 1.0, 0.0), CurvePoint::new(10.0, 4.0, 0.0)];
    let axis = || Axis::new("v", AxisScale::Linear);
    let panel = Panel::new("p", "", axis().limits(0.0, 10.0), axis().limits(0.0, 4.0))
        .series(Series::new("EXP3", points).style(StyleKey::new("exp3")));
    let svg = draw(&Figure::new("f", "f").panel(panel));
    // The first line of the colour is in the legend.
    let lines = lines_of(&svg, "#d55e00");
    assert_eq!(lines.len(), 2);
    let [first, middle, last] = lines[1][..] else { panic!("three points make a line of three places") };
    assert!((middle.0 - (first.0 + last.0) / 2.0).abs() < 0.02, "5 is half way from 0 to 10");
    assert!((middle.1 - (first.1 + (last.1 - first.1) / 4.0)).abs() < 0.02, "1 is a quarter of the way from 0 to 4");
    assert!(last.1 < first.1, "greater values are drawn higher");
}

#[test]
fn missing_values_and_values_without_a_position_interrupt_the_line() {
    let values = [1.0, 10.0, f64::NAN, 100.0, 10.0, 0.0, -3.0, 1.0, f64::INFINITY];
    let points = values.iter().enumerate().map(|(i, v)| CurvePoint::new(i as f64, *v, 0.1)).collect();
    let panel = Panel::new("p", "", Axis::new("x", AxisScale::Linear), Axis::new("y", AxisScale::Log))
        .series(Series::new("EXP3", points).style(StyleKey::new("exp3")));
    let figure = Figure::new("f", "f").panel(panel);
    let lengths: Vec<usize> = lines_of(&draw(&figure), "#d55e00").iter().skip(1).map(Vec::len).collect();
    assert_eq!(lengths, [2, 2], "1-10 and 100-10; a single point is not a line");
    assert!(!draw(&figure).contains("NaN") && !draw(&figure).contains("inf"));
    assert!(figure.to_png(&Palette::default(), 1.0).is_ok());
}

#[test]
fn policies_have_the_same_style_in_every_figure() {
    let figures = fixture::all();
    let palette = Palette::for_figures(&figures);
    for figure in &figures {
        let alone = Palette::for_figures([figure]);
        for label in figure.labels().into_iter().filter(|label| !label.starts_with("driver")) {
            assert_eq!(palette.style(label), alone.style(label), "{label} in {}", figure.id);
        }
    }
}

#[test]
fn labels_with_markup_are_escaped() {
    let axis = || Axis::new(MARKUP, AxisScale::Linear);
    let series = Series::new(MARKUP, vec![CurvePoint::new(1.0, 1.0, 0.5), CurvePoint::new(2.0, 2.0, 0.5)]);
    let figure = Figure::new(MARKUP, MARKUP)
        .caption(MARKUP)
        .panel(Panel::new("p", MARKUP, axis(), axis()).series(series).note(MARKUP));
    let svg = draw(&figure);
    assert!(!svg.contains("<b") && !svg.contains("</script") && !svg.contains('\u{1}'));
    assert!(svg.contains("&lt;/script&gt;") && svg.contains("ünï ∞"));
    assert!(figure.to_png(&Palette::for_figures([&figure]), 1.0).is_ok());
}

#[test]
fn empty_figures_and_extreme_values_are_drawn() {
    let axis = || Axis::new("", AxisScale::Log);
    let empty = Figure::new("f", "");
    let no_series = empty.clone().panel(Panel::new("p", "", axis(), axis()));
    let one_point = empty
        .clone()
        .panel(Panel::new("p", "", axis(), axis()).series(Series::new("x", vec![CurvePoint::new(1.0, 1.0, 0.0)])));
    let huge =
        empty.clone().panel(Panel::new("p", "", axis().limits(1.0, 1.000_000_1), axis().limits(1e-300, 1e300)).series(
            Series::new("x", vec![CurvePoint::new(1e-300, f64::MAX, f64::MAX), CurvePoint::new(1e300, 1.0, 0.0)]),
        ));
    for figure in [empty, no_series.clone(), one_point, huge] {
        let png = figure.to_png(&Palette::default(), 1.0).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        assert!(draw(&figure).ends_with("</svg>\n"));
    }
    assert!(draw(&no_series).contains("no data"));
}

#[test]
fn scales_that_give_no_image_are_errors() {
    let figure = fixture::single();
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        let error = figure.to_png(&Palette::default(), scale).unwrap_err();
        assert!(matches!(error, PngError::Scale { .. }), "{error}");
        assert!(error.to_string().contains("choose a positive scale"));
    }
}

#[test]
fn png_and_svg_have_the_same_proportions() {
    let figure = fixture::sweep();
    let palette = Palette::default();
    let png = figure.to_png(&palette, 2.0).unwrap();
    let side = |at: usize| f64::from(u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]));
    let svg = figure.to_svg(&palette);
    let attribute = |name: &str| -> f64 {
        let rest = &svg[svg.find(name).unwrap() + name.len()..];
        rest[..rest.find('"').unwrap()].parse().unwrap()
    };
    assert_eq!((side(16), side(20)), (2.0 * attribute(" width=\""), 2.0 * attribute(" height=\"")));
}

#[test]
fn a_figure_that_is_too_long_for_an_image_is_drawn_smaller() {
    let mut figure = Figure::new("f", "f");
    for nth in 0..400 {
        let axis = || Axis::new("", AxisScale::Linear);
        figure = figure.panel(Panel::new(format!("p{nth}"), "", axis(), axis()));
    }
    let palette = Palette::default();
    assert!(matches!(figure.to_png(&palette, 2.0), Err(PngError::Scale { .. })));
    let scale = figure.png_scale(&palette, 2.0);
    assert!((0.3..1.0).contains(&scale), "100 rows of 230 pixels have to fit into 16,384: {scale}");
    assert!(figure.to_png(&palette, scale).is_ok());
    assert_eq!(fixture::single().png_scale(&palette, 2.0), 2.0);
}

#[test]
fn a_report_shows_sixty_panels_and_says_how_many_there_are() {
    let games: Vec<String> = (0..150).map(|nth| format!("M = {nth}")).collect();
    let curve =
        |game| Curve { game, policy: 0, instance: 0, samples: vec![Sample { t: 9, loss: 1.0, cpr: 1.0, switches: 0 }] };
    let results = Results::new("sweep".into(), games, vec!["EXP3".into()], (0..150).map(curve).collect());
    let section = plain_section("A sweep", &results, 9, &[None]).unwrap();
    assert_eq!((section.figure.panels.len(), section.summary.len()), (60, 150));
    assert_eq!(section.figure.caption, "The figure shows the first 60 of 150 panels.");
}

/// An experiment with this sweep and this many policies, and results in which the CPR at the horizon of a point is its
/// index.
fn swept(sweep: &str, policies: usize) -> (Experiment, Results) {
    let text = format!(
        "name = \"x\"\nhorizon = 100\ninstances = 2\ncheckpoints = {{ points = 2 }}\n\
         game = {{ kind = \"step\", arms = 3, memory = 2 }}\n{}[sweep]\n{sweep}\n",
        "[[policy]]\nkind = \"epoch-ucb\"\nmemory_bound = 2\n".repeat(policies)
    );
    let experiment = Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let mut curves = Vec::new();
    for (game, policy) in (0..experiment.points().len()).flat_map(|game| (0..policies).map(move |p| (game, p))) {
        let sample = |t: u64| Sample { t, loss: 0.0, cpr: if t == 100 { game as f64 } else { 0.0 }, switches: 0 };
        curves.extend((0..2).map(|instance| Curve { game, policy, instance, samples: vec![sample(50), sample(100)] }));
    }
    let (games, labels) = (experiment.game_labels(), experiment.policy_labels());
    let results = Results::new("x".into(), games, labels, curves).with_swept(experiment.swept());
    (experiment, results)
}

fn list(values: impl Iterator<Item = usize>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_sweep_with_more_than_sixty_points_is_shown_at_the_horizon() {
    // From the largest to the smallest: a curve goes from left to right all the same.
    let (experiment, results) = swept(&format!("\"policy.memory_bound\" = [{}]", list((1..=141).rev())), 2);
    let section = section(&experiment, &results, "").unwrap();
    let figure = &section.figure;
    assert_eq!((figure.panels.len(), section.summary.len()), (1, 282));
    assert_eq!(figure.caption, "The sweep has 141 points, so the figure shows the CPR at the horizon.");
    let panel = &figure.panels[0];
    assert_eq!((panel.x.label.as_str(), panel.x.scale, panel.series.len()), ("M", AxisScale::Linear, 2));
    let points: Vec<(f64, f64)> = panel.series[0].points.iter().map(|point| (point.x, point.mean)).collect();
    assert_eq!(points, (1..=141).map(|bound| (f64::from(bound), f64::from(141 - bound))).collect::<Vec<_>>());
    let (few, over_time) = swept(&format!("\"policy.memory_bound\" = [{}]", list(1..=60)), 1);
    assert_eq!(calibandit_report::figures::figure(&few, &over_time).unwrap().panels.len(), 60);
}

#[test]
fn two_long_axes_give_panels_over_the_longer_one() {
    let (bounds, arms) = (list((1..=80).map(|i| 10 * i)), list(2..=71));
    let (experiment, results) =
        swept(&format!("\"game.arms\" = [{arms}]\n\"policy.exploration\" = [0.01, {bounds}]"), 1);
    let figure = section(&experiment, &results, "").unwrap().figure;
    assert_eq!(figure.panels.len(), 60);
    assert!(figure.caption.ends_with("The figure shows the first 60 of 70 panels."), "{}", figure.caption);
    let panel = &figure.panels[0];
    assert_eq!((panel.x.label.as_str(), panel.series[0].points.len()), ("exploration", 81));
    assert_eq!((panel.title.as_str(), panel.x.scale), ("K = 2", AxisScale::Log), "from 0.01 to 800");
}

#[test]
fn a_sweep_over_texts_shows_the_first_panels_over_time() {
    let points: Vec<String> = (1..=70).map(|at| format!("{{ \"policy.memory_bound\" = {at} }}")).collect();
    let mixed = format!("point = [{}, {{ \"game.arms\" = 4 }}]", points.join(", "));
    let (experiment, results) = swept(&mixed, 1);
    let figure = section(&experiment, &results, "").unwrap().figure;
    assert_eq!((figure.panels.len(), figure.panels[0].x.label.as_str()), (60, "plays t"));
    assert_eq!(figure.caption, "The figure shows the first 60 of 71 panels.");
}

#[test]
fn tables_and_legends_of_many_games_and_policies_are_cut_and_say_so() {
    let (experiment, results) =
        swept(&format!("\"game.usual_loss\" = [0.{}]", list(5000..=9999).replace(", ", ", 0.")), 2);
    let section_of_many = section(&experiment, &results, "").unwrap();
    assert_eq!(section_of_many.summary.len(), 5000);
    assert!(
        section_of_many.summary_caption.contains("first 2,500 of 5,000 games"),
        "{}",
        section_of_many.summary_caption
    );
    let (experiment, results) = swept("\"game.arms\" = [2, 3]", 300);
    let figure = section(&experiment, &results, "").unwrap().figure;
    assert_eq!((figure.panels.len(), figure.labels().len()), (2, 40));
    assert_eq!(figure.caption, "The figure shows the first 40 of 300 policies.");
}
