use super::*;
use crate::chart::{Axis, CurvePoint, Panel, Quantiles, Rule, StyleKey};

fn series(label: &str) -> Series {
    let point = |t: f64, mean: f64, stderr: f64| CurvePoint {
        quantiles: Some(Quantiles {
            min: mean - 9.0,
            p10: mean - 3.0,
            median: mean,
            p90: mean + 4.0,
            max: mean + 20.0,
        }),
        ..CurvePoint::new(t, mean, stderr)
    };
    Series::new(label, vec![point(5000.0, 10.0, 2.0), point(10_000.0, 118_217.4, 7.25)])
        .instances(vec![vec![8.0, 118_000.0], vec![12.0, f64::NAN]])
}

fn figure() -> Figure {
    let axis = |label: &str| Axis::new(label, AxisScale::Linear);
    let panel = |id: &str| {
        Panel::new(id, "m < 3", axis("plays t"), axis("CPR"))
            .series(series("a <b>").style(StyleKey::new("exp3")))
            .series(series("SE").style(StyleKey::new("successive-elimination")))
    };
    Figure::new("f", "f").panel(panel("one")).panel(panel("two"))
}

fn plot(options: &ViewOptions) -> Value {
    let figure = figure();
    description(&figure, &Palette::for_figures([&figure]), options)
}

fn traces<'a>(plot: &'a Value, role: &str) -> Vec<&'a Value> {
    let data = plot["data"].as_array().unwrap();
    data.iter().filter(|trace| trace["meta"]["role"] == role).collect()
}

#[test]
fn a_band_goes_along_the_upper_edge_and_back_along_the_lower_one() {
    let plot = plot(&ViewOptions::default());
    let band = traces(&plot, "band")[0];
    assert_eq!(band["x"], json!([5000.0, 10_000.0, 10_000.0, 5000.0]));
    assert_eq!(band["y"], json!([12.0, 118_224.65, 118_210.15, 8.0]));
    assert_eq!(band["fillcolor"], "rgba(213,94,0,0.18)", "the colour of EXP3, d55e00");
}

#[test]
fn each_spread_mode_has_its_traces() {
    use SpreadMode::{Instances, None, Quantiles, Stderr};
    for (spread, bands, lines) in [(None, 0, 0), (Stderr, 4, 0), (Quantiles, 8, 0), (Instances, 0, 4)] {
        let plot = plot(&ViewOptions { spread: Some(spread), ..ViewOptions::default() });
        assert_eq!((traces(&plot, "band").len(), traces(&plot, "instances").len()), (bands, lines), "{spread:?}");
    }
    let lines = plot(&ViewOptions { spread: Some(Instances), ..ViewOptions::default() });
    assert_eq!(traces(&lines, "instances")[0]["y"], json!([8.0, 118_000.0, null, 12.0, null, null]));
    let all = plot(&ViewOptions { alternatives: true, ..ViewOptions::default() });
    let visible = all["data"].as_array().unwrap().iter().filter(|trace| trace["visible"] != false).count();
    assert_eq!(visible, 8, "four means and their bands of ± 1 standard error");
    assert_eq!(all["layout"]["meta"]["axes"][1]["y"]["log"]["type"], "log");
}

#[test]
fn labels_are_in_the_legend_once_and_escaped() {
    let plot = plot(&ViewOptions::default());
    let named: Vec<_> = traces(&plot, "mean").into_iter().filter(|trace| trace["showlegend"] == true).collect();
    assert_eq!(named.len(), 2);
    assert_eq!((&named[0]["name"], &named[0]["meta"]["label"]), (&json!("a &lt;b&gt;"), &json!("a <b>")));
    assert_eq!(plot["layout"]["annotations"][1]["text"], "<b>m &lt; 3</b>");
    assert_eq!(plot["layout"]["annotations"][1]["xref"], "x2 domain");
}

#[test]
fn values_at_the_pointer_are_those_of_the_tables() {
    let reading = |spread| {
        let plot = plot(&ViewOptions { spread: Some(spread), ..ViewOptions::default() });
        traces(&plot, "mean")[0]["customdata"][1].as_str().unwrap().to_owned()
    };
    assert_eq!(reading(SpreadMode::Stderr), "118,217 ± 7.25");
    assert_eq!(reading(SpreadMode::Quantiles), "118,217 (118,214–118,221)");
    assert_eq!(reading(SpreadMode::Instances), "118,217 (118,208–118,237)");
}

#[test]
fn a_log_time_axis_begins_before_the_first_checkpoint_and_says_so() {
    let plot = plot(&ViewOptions { x: Some(AxisScale::Log), y: Some(AxisScale::Log), ..ViewOptions::default() });
    let range = &plot["layout"]["xaxis"]["range"];
    assert_eq!((range[0].as_f64(), range[1].as_f64()), (Some(2500_f64.log10()), Some(4.0)), "from 2,500 to 10,000");
    let shapes = plot["layout"]["shapes"].as_array().unwrap();
    assert_eq!(plot["layout"]["annotations"][2]["text"], "first checkpoint: 5,000");
    assert_eq!((shapes.len(), &shapes[1]["x1"]), (2, &json!(5000.0)));
    // The lower edge 10 - 9 = 1 is positive; that of a band below zero is raised to the floor.
    let floor = axes::floor(&figure().panels[0], AxisScale::Log).unwrap();
    assert!(floor > 0.0 && floor < 1.0, "{floor}");
    assert!(plot["layout"]["yaxis"]["autorangeoptions"]["clipmin"].as_f64().unwrap() < 10.0);
}

#[test]
fn given_limits_of_the_vertical_axis_are_fixed_and_the_others_follow_the_data() {
    let axis = |min, max, scale| {
        let mut panel = figure().panels.remove(0);
        (panel.y.min, panel.y.max) = (min, max);
        let axis = axes::vertical(&panel, scale);
        let part = |name: &str| axis.get(name).cloned().unwrap_or_default();
        (part("autorangeoptions")["minallowed"].clone(), part("range"))
    };
    let nothing = || (Value::Null, Value::Null);
    assert_eq!(axis(None, None, AxisScale::Log), nothing());
    assert_eq!(axis(Some(100.0), None, AxisScale::Log), (json!(2.0), Value::Null), "an exponent on a log axis");
    assert_eq!(axis(Some(-5.0), None, AxisScale::Log), nothing(), "no place on a log axis");
    assert_eq!(axis(Some(-5.0), Some(1e3), AxisScale::Linear), (Value::Null, json!([-5.0, 1e3])));
}

#[test]
fn styles_are_those_of_the_palette() {
    let figure = figure();
    let palette = Palette::for_figures([&figure]);
    let styles = styles(&figure, &palette);
    assert_eq!(styles[1]["color"], palette.style("SE").color);
    assert_eq!(
        (&styles[0]["plotly_dash"], &styles[0]["plotly_symbol"]),
        (&json!("1.8px,2.6px"), &json!("triangle-up"))
    );
    assert_eq!(styles[1]["dash"], json!([]));
}

#[test]
fn figures_without_panels_or_values_have_a_description() {
    let empty = Figure::new("f", "f");
    assert_eq!(description(&empty, &Palette::default(), &ViewOptions::default())["data"], json!([]));
    let axis = || Axis::new("", AxisScale::Log);
    let nothing = empty.panel(Panel::new("p", "", axis(), axis()).series(Series::new("a", Vec::new())));
    let plot =
        description(&nothing, &Palette::default(), &ViewOptions { alternatives: true, ..ViewOptions::default() });
    assert_eq!(plot["data"][0]["x"], json!([]));
}

#[test]
fn intervals_are_bands_and_marked_values_follow_the_scale() {
    let points =
        vec![CurvePoint::new(1.0, 2.0, 0.0).interval(1.5, 2.75), CurvePoint::new(10.0, 3.0, 0.0).interval(2.0, 5.0)];
    let axis = || Axis::new("k", AxisScale::Log);
    let panel = Panel::new("p", "", axis(), Axis::new("loss", AxisScale::Linear))
        .series(Series::new("arm", points).with_points())
        .rule(Rule::at(8.0, "M < 9"));
    let figure = Figure::new("f", "f").panel(panel);
    let plot = description(&figure, &Palette::default(), &ViewOptions::default());
    let band = &plot["data"][0];
    assert_eq!((&band["meta"]["spread"], &band["y"]), (&json!("interval"), &json!([2.75, 5.0, 2.0, 1.5])));
    assert_eq!(plot["data"][1]["customdata"][0], "2.00 (1.50 to 2.75)");
    let rule = &plot["layout"]["annotations"][0];
    assert_eq!(
        (&rule["text"], &rule["x"], &rule["xanchor"]),
        (&json!("M &lt; 9"), &json!(8.0_f64.log10()), &json!("right"))
    );
    let linear =
        description(&figure, &Palette::default(), &ViewOptions { x: Some(AxisScale::Linear), ..Default::default() });
    assert_eq!(linear["layout"]["annotations"][0]["x"], 8.0);
    let page = description(&figure, &Palette::default(), &ViewOptions { alternatives: true, ..Default::default() });
    assert_eq!(page["layout"]["shapes"], json!([]), "the page draws them itself");
    assert_eq!(page["layout"]["meta"]["axes"][0]["remarks"]["linear"]["annotations"][0]["x"], 8.0);
}
