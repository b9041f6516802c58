//! A durable HTTP service for live decisions.
//!
//! Programs in any language ask which arm to play and tell what came of it. Every experiment is a state machine
//! ([`LaneAdvisor`](calibandit::lanes::LaneAdvisor)) whose commands are the records of a log. One thread applies the
//! commands that wait, writes their records in one transaction, and answers after the commit, so that nothing that was
//! answered can be lost. A restart replays the log to the same bits. docs/service.md has the promises and what happens
//! when something fails.
//!
//! This crate knows HTTP and files. It computes nothing about bandits.

mod config;
mod engine;
mod experiment;
mod http;
mod maintenance;
mod metrics;
mod problem;
mod record;
mod server;
mod spec;
mod store;
mod times;
mod tokens;
mod wire;

pub use config::{Durability, ServeConfig};
pub use engine::LoadError;
pub use maintenance::{DiskProbe, VerifiedExperiment, add_token, backup, list_tokens, probe, revoke_token, verify};
pub use server::{ServeError, ServeStarted, serve};
pub use store::StoreError;
pub use tokens::{Role, TokenView};
