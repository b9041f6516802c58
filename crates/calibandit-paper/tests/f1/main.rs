//! The Formula One study, from raw lap times to pairs of drivers: on generated tables, and on the public tables if they
//! are available.

#![allow(clippy::unwrap_used)] // a test may panic

mod data;
mod made_up;
mod malformed;
mod pairs;
mod real;
mod stint_effects;
mod stints;
