//! Planning on graphs: walks of least cost through states whose plays have known costs.
//!
//! A [`Graph`](graph::Graph) has states, the plays that lead from one to the next, and what they cost. Here are the
//! cycle with the least mean cost ([`min_mean_cycle`]), the cheapest walk of a given number of plays by cycles and by
//! dynamic programming ([`graph_planner`]), and the integers in which costs are counted ([`fixed_point`]). Cycles of a
//! simple form need no graph and are found for long memories too ([`block_cycle`]).
//!
//! [`game::optimum`](crate::game) makes a game into such a graph; policies that plan make one of what they know. So
//! this module knows neither of them: no games, no arms beyond their numbers, no noise and no learning.

pub(crate) mod block_cycle;
pub(crate) mod dynamic_program;
pub(crate) mod error;
pub(crate) mod fixed_point;
pub(crate) mod graph;
pub(crate) mod graph_planner;
pub(crate) mod meter;
pub(crate) mod min_mean_cycle;
pub(crate) mod plan;
pub(crate) mod walks;
