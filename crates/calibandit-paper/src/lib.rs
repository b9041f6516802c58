//! What belongs to the paper "Weighted Tallying Bandits": its experiments, its Formula One study, and the tournament.
//!
//! [`paper`] has the experiment of each figure and its captions; [`f1`] goes from lap times to the games of the paper's
//! racing study; [`tournament`] runs every policy on every game.

pub mod f1;
pub mod paper;
pub mod tournament;
