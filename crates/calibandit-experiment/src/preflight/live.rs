//! What is known in advance about live use: the length of its sessions, and what its regret is measured against.

use calibandit::lanes::overlap_burn_in;
use calibandit::simulate::LiveSpec;
use serde::Serialize;

use super::Preflight;
use crate::experiment::LabelledPolicy;
use crate::format::thousands;
use crate::run::usual_session;
use crate::spec::Point;

/// The analysis of live use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LivePreflight {
    /// The number of lanes.
    pub lanes: u64,
    /// The number of plays of a usual session, which is what [`Preflight::optimum`] is about: the plays of a lane, or
    /// the mean length of its sessions if that is less.
    pub session: u64,
    /// Whether the regret is measured against the optimum of a player who has the same information. If not, the optimum
    /// is a bound, and so is the regret.
    pub exact: bool,
}

impl LivePreflight {
    pub(super) fn new(point: &Point, horizon: u64) -> Option<Self> {
        let live = point.live.as_ref()?;
        let (session, exact) = (usual_session(live, horizon), live.has_exact_optimum());
        Some(Self { lanes: live.lanes, session, exact })
    }
}

/// What the user should know before simulating live use.
pub(super) fn warnings(analysis: &Preflight, live: &LiveSpec, policies: &[LabelledPolicy]) -> Vec<String> {
    let mut warnings = Vec::new();
    let Some(LivePreflight { session, exact, .. }) = analysis.live else { return warnings };
    if !exact {
        warnings.push(
            "the regret is an upper bound: the optimum knows in advance when each session ends, and in which order \
             plays that overlap take effect"
                .to_owned(),
        );
    }
    let told = if live.ignore_overlap { 1 } else { live.overlap };
    for entry in policies {
        let burn_in = overlap_burn_in(entry.policy.memory_bound().unwrap_or(live.memory_bound), told);
        if session <= burn_in {
            warnings.push(format!(
                "sessions of about {} plays are not longer than the burn-in of {}, {} plays: hardly any of their \
                 losses can be used",
                thousands(session),
                entry.label,
                thousands(burn_in),
            ));
        }
    }
    if live.ignore_overlap && live.overlap > 1 {
        warnings.push("overlap is ignored, so that the policies use losses of arms that are not calibrated".to_owned());
    }
    warnings
}
