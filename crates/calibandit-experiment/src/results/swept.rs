//! The columns of swept keys: one per key that the sweep of an experiment sets, besides the label of the game.
//!
//! A table of several experiments has the columns of all of them, in the order of their first appearance. A cell is
//! empty where the experiment or the point does not set the key.

use serde_json::{Number, Value};

use super::Results;
use super::cell::{cell_text, text_cell};
use crate::spec::Point;

/// The names of the other columns of all tables. A swept key with one of these names has a column with a prefix.
const RESERVED: [&str; 18] = [
    "experiment",
    "game",
    "policy",
    "instance",
    "t",
    "loss",
    "cpr",
    "switches",
    "instances",
    "mean",
    "stderr",
    "min",
    "p10",
    "median",
    "p90",
    "p99",
    "max",
    "groups",
];

/// The values of one swept key, game by game.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptColumn {
    /// The name: the key, such as `policy.memory_bound`, or the name that the file gives to the axis.
    pub name: String,
    /// One value per game of [`Results::games`]; null where a point does not set the key.
    pub values: Vec<Value>,
}

/// What the values of a swept column have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweptKind {
    /// All are whole numbers of at most 64 bits.
    Integer,
    /// All are numbers.
    Number,
    /// Texts; values of other types are written as JSON.
    Text,
}

/// A column of swept values in a table of several experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptField {
    /// The name.
    pub name: String,
    /// What the values of all experiments have in common.
    pub kind: SweptKind,
}

impl SweptColumn {
    /// What the values have in common. Null fits every kind.
    pub fn kind(&self) -> SweptKind {
        let mut kind = SweptKind::Integer;
        for value in self.values.iter().filter(|value| !value.is_null()) {
            if !value.is_number() {
                return SweptKind::Text;
            }
            if value.as_i64().is_none() {
                kind = SweptKind::Number;
            }
        }
        kind
    }

    /// The columns of the keys that these points set, in the order of their first appearance.
    pub(crate) fn of_points(points: &[Point]) -> Vec<SweptColumn> {
        let mut columns: Vec<SweptColumn> = Vec::new();
        for (game, point) in points.iter().enumerate() {
            for setting in &point.settings {
                let name = column_name(&setting.name);
                let column = match columns.iter().position(|column| column.name == name) {
                    Some(found) => &mut columns[found],
                    None => {
                        columns.push(SweptColumn { name, values: vec![Value::Null; points.len()] });
                        columns.last_mut().expect("it was just added")
                    }
                };
                // If a point sets a key twice, the last value is the one that the point has.
                column.values[game] = setting.value.clone();
            }
        }
        columns
    }
}

/// The columns of swept keys that a table of these results has.
pub fn swept_fields(all: &[Results]) -> Vec<SweptField> {
    let mut fields: Vec<SweptField> = Vec::new();
    for column in all.iter().flat_map(Results::swept) {
        let kind = column.kind();
        match fields.iter_mut().find(|field| field.name == column.name) {
            Some(field) => field.kind = common(field.kind, kind),
            None => fields.push(SweptField { name: column.name.clone(), kind }),
        }
    }
    fields
}

/// A value as a cell of a text table: empty for null, and numbers in the shortest form that is read back exactly, with
/// a point or an exponent if they are not whole numbers by type.
pub fn swept_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// A value as a cell of a CSV table.
pub(crate) fn swept_cell(value: &Value) -> String {
    if value.is_string() { text_cell(&swept_text(value)).into_owned() } else { swept_text(value) }
}

/// The column of cells that were written by [`swept_cell`]: of numbers if all cells are numbers, of texts otherwise. A
/// text that looks like a number cannot be told from one.
pub(super) fn parse_column(name: String, cells: Vec<String>) -> SweptColumn {
    let number = |cell: &String| {
        let number = Value::Number(serde_json::from_str::<Number>(cell).ok()?);
        (swept_text(&number) == *cell).then_some(number)
    };
    let filled = || cells.iter().filter(|cell| !cell.is_empty());
    let is_numeric = filled().all(|cell| number(cell).is_some());
    let value = |cell: String| match number(&cell) {
        _ if cell.is_empty() => Value::Null,
        Some(number) if is_numeric => number,
        _ => Value::String(cell_text(&cell).to_owned()),
    };
    SweptColumn { name, values: cells.into_iter().map(value).collect() }
}

fn common(one: SweptKind, other: SweptKind) -> SweptKind {
    match (one, other) {
        (SweptKind::Text, _) | (_, SweptKind::Text) => SweptKind::Text,
        (SweptKind::Integer, SweptKind::Integer) => SweptKind::Integer,
        _ => SweptKind::Number,
    }
}

fn column_name(axis: &str) -> String {
    if RESERVED.contains(&axis) { format!("sweep.{axis}") } else { axis.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;
    use serde_json::json;

    fn experiment(sweep: &str) -> Experiment {
        let text = format!(
            "name = \"x\"\nhorizon = 100\ngame = {{ kind = \"step\", arms = 3, memory = 2 }}\n\
             policy = [{{ kind = \"epoch-ucb\", memory_bound = 2 }}]\n[sweep]\n{sweep}"
        );
        Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn every_swept_key_has_a_column_with_one_value_per_game() {
        let columns = experiment(
            "\"policy.memory_bound\" = [2, 4]\n\
             point = [{ \"game.arms\" = 3 }, { \"game.arms\" = 5, \"policy.exploration\" = 0.5 }]",
        )
        .swept();
        let expected = [
            ("game.arms", json!([3, 3, 5, 5]), SweptKind::Integer),
            ("policy.memory_bound", json!([2, 4, 2, 4]), SweptKind::Integer),
            ("policy.exploration", json!([null, null, 0.5, 0.5]), SweptKind::Number),
        ];
        assert_eq!(columns.len(), expected.len());
        for (column, (name, values, kind)) in columns.iter().zip(expected) {
            assert_eq!((column.name.as_str(), &json!(column.values), column.kind()), (name, &values, kind));
        }
        assert_eq!(Experiment::swept(&experiment("")), []);
    }

    #[test]
    fn a_named_axis_has_one_column_which_does_not_hide_another() {
        let columns = experiment("t = { keys = [\"policy.memory_bound\", \"game.memory\"], values = [2, 3] }").swept();
        assert_eq!(columns, [SweptColumn { name: "sweep.t".into(), values: vec![2.into(), 3.into()] }]);
    }

    #[test]
    fn fields_of_several_experiments_are_the_union() {
        let with = |columns: &[(&str, Value)]| {
            let column =
                |(name, value): &(&str, Value)| SweptColumn { name: (*name).into(), values: vec![value.clone()] };
            Results::new("x".into(), vec!["g".into()], vec![], vec![]).with_swept(columns.iter().map(column).collect())
        };
        let all = [with(&[("a", json!(1)), ("b", json!(2))]), with(&[("c", json!("x")), ("a", json!(0.5))]), with(&[])];
        let fields: Vec<_> = swept_fields(&all).into_iter().map(|field| (field.name, field.kind)).collect();
        let expected = [("a", SweptKind::Number), ("b", SweptKind::Integer), ("c", SweptKind::Text)];
        assert_eq!(fields, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn cells_are_read_back_with_their_types() {
        for values in [
            json!([1, null, -3]),
            json!([1.0, 0.1, 1e-7, 1e300]),
            json!([2, 2.5]),
            json!(["hoeffding", null, "a, b"]),
            json!(["1", "x"]),
            json!(["=1+1", "-x", "'@"]),
        ] {
            let Value::Array(values) = values else { unreachable!("it is a list") };
            let cells = values.iter().map(swept_cell).collect();
            assert_eq!(parse_column("k".into(), cells).values, values);
        }
        // Not the spelling of a number that this program writes.
        assert_eq!(parse_column("k".into(), vec!["01".into(), " 2".into()]).kind(), SweptKind::Text);
    }
}
