//! The way from raw laps to pairs of drivers, on tables that the tests make themselves, and on the real ones where they are at
//! hand.

#![allow(clippy::unwrap_used)] // a test may panic

#[path = "../common/f1_data.rs"]
mod f1_data;
mod made_up;
mod malformed;
mod pairs;
mod real;
mod stints;
