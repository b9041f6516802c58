//! Statistics about lanes and feedback, and the warnings that follow from them, as data.

/// The calibrated losses of the present visit of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct VisitSums {
    pub(super) arm: u32,
    pub(super) plays: u32,
    pub(super) sum: f64,
    pub(super) sum_sq: f64,
}
