//! The bodies of requests and answers, and how requests become valid values.

use calibandit::lanes::AskAfter;
use serde::{Deserialize, Deserializer, Serialize};

use crate::experiment::{DecisionView, LiveRequest, ReportedLoss, ReportedOutcome};
use crate::record::CountedName;
use crate::spec::{InvalidField, check_name};
use crate::times::parse_timestamp;

/// The lane of requests that name none.
const MAIN_LANE: &str = "main";

/// The most outcomes of one step.
const MOST_OUTCOMES: usize = 1000;

/// Asks for the next play of a lane.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskBody {
    /// The lane, "main" if it is left out.
    #[serde(default)]
    pub lane: Option<String>,
    /// The newest decision of the lane that the caller has, or null if it has none. A repeated request then gets the
    /// same decision again. If it is left out, every request is a new play.
    #[serde(default, deserialize_with = "present")]
    pub after: Option<Option<u64>>,
    /// The arms that can be played now; all if it is left out.
    #[serde(default)]
    pub available: Option<Vec<String>>,
}

/// A field that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(Some)
}

/// What became of a decision: exactly one of `loss`, `reward`, `done`, `lost`, `not_played`, or `played` with or
/// without a loss or reward.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    /// The play was made, with this loss.
    #[serde(default)]
    pub loss: Option<f64>,
    /// The play was made, with this reward; the loss is low + high - reward.
    #[serde(default)]
    pub reward: Option<f64>,
    /// True: the play was made, and there is no loss to tell.
    #[serde(default)]
    pub done: bool,
    /// True: the play was made, and its loss is lost.
    #[serde(default)]
    pub lost: bool,
    /// True: the play was not made and will not be.
    #[serde(default)]
    pub not_played: bool,
    /// This arm was played instead.
    #[serde(default)]
    pub played: Option<String>,
    /// When the play was made, in UTC.
    #[serde(default)]
    pub played_at: Option<String>,
}

/// An outcome with its decision.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepOutcomeBody {
    /// The decision.
    pub id: u64,
    /// As for a single outcome.
    #[serde(default)]
    pub loss: Option<f64>,
    /// As for a single outcome.
    #[serde(default)]
    pub reward: Option<f64>,
    /// As for a single outcome.
    #[serde(default)]
    pub done: bool,
    /// As for a single outcome.
    #[serde(default)]
    pub lost: bool,
    /// As for a single outcome.
    #[serde(default)]
    pub not_played: bool,
    /// As for a single outcome.
    #[serde(default)]
    pub played: Option<String>,
    /// As for a single outcome.
    #[serde(default)]
    pub played_at: Option<String>,
}

/// Outcomes and an ask in one request. Outcomes come first, in their order, up to the first that is refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepBody {
    /// What became of earlier decisions.
    #[serde(default)]
    pub outcomes: Vec<StepOutcomeBody>,
    /// The ask.
    pub ask: AskBody,
}

/// A play that was made without advice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayBody {
    /// The lane, "main" if it is left out.
    #[serde(default)]
    pub lane: Option<String>,
    /// The arm.
    pub arm: String,
    /// Its loss, if it is known.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Its reward, instead of the loss.
    #[serde(default)]
    pub reward: Option<f64>,
}

/// A new token.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenBody {
    /// What it allows.
    pub role: crate::tokens::Role,
    /// What it is for, so that people recognise it.
    #[serde(default)]
    pub name: String,
}

/// How an outcome counts.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OutcomeView {
    /// The decision.
    pub id: u64,
    /// How it counts.
    pub counted: CountedName,
    /// Why it does not count, if there is something to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whether the outcome was new.
    pub first: bool,
}

/// The answer to a step.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepView {
    /// How the outcomes count.
    pub outcomes: Vec<OutcomeView>,
    /// The next play.
    pub decision: DecisionView,
}

fn lane(name: Option<String>, pointer: &str) -> Result<String, InvalidField> {
    let name = name.unwrap_or_else(|| MAIN_LANE.to_owned());
    check_name("lane", &name).map_err(|message| InvalidField::new(pointer, message))?;
    Ok(name)
}

fn reported_loss(loss: Option<f64>, reward: Option<f64>, pointer: &str) -> Result<Option<ReportedLoss>, InvalidField> {
    match (loss, reward) {
        (None, None) => Ok(None),
        (Some(loss), None) => Ok(Some(ReportedLoss::Loss(loss))),
        (None, Some(reward)) => Ok(Some(ReportedLoss::Reward(reward))),
        (Some(_), Some(_)) => {
            Err(InvalidField::new(format!("{pointer}/reward"), "give the loss or the reward, not both"))
        }
    }
}

impl AskBody {
    /// `at` is the place of this body in the request.
    pub(crate) fn request(self, at: &str) -> Result<LiveRequest, InvalidField> {
        let after = match self.after {
            None => AskAfter::Unstated,
            Some(None) => AskAfter::Start,
            Some(Some(id)) => AskAfter::Decision(id),
        };
        Ok(LiveRequest::Ask { lane: lane(self.lane, &format!("{at}/lane"))?, after, available: self.available })
    }
}

impl OutcomeBody {
    /// The outcome of this decision. `at` is the place of this body in the request.
    pub(crate) fn request(self, decision: u64, at: &str) -> Result<LiveRequest, InvalidField> {
        let loss = reported_loss(self.loss, self.reward, at)?;
        let flags = [self.done, self.lost, self.not_played].iter().filter(|flag| **flag).count();
        let outcome = match (self.played, loss) {
            (Some(arm), loss) if flags == 0 => ReportedOutcome::Played { arm, loss },
            (None, Some(loss)) if flags == 0 => ReportedOutcome::Loss(loss),
            (None, None) if flags == 1 && self.done => ReportedOutcome::Done,
            (None, None) if flags == 1 && self.lost => ReportedOutcome::Lost,
            (None, None) if flags == 1 => ReportedOutcome::NotPlayed,
            _ => {
                let message = "say what became of the decision by exactly one of `loss`, `reward`, `done`, `lost`, \
                               `not_played`, and `played` (which may have a loss or reward)";
                return Err(InvalidField::new(at, message));
            }
        };
        let played_at = match self.played_at {
            Some(text) => Some(parse_timestamp(&text).ok_or_else(|| {
                let message = format!("`{text}` is not a time in UTC such as 2026-09-20T08:00:41Z");
                InvalidField::new(format!("{at}/played_at"), message)
            })?),
            None => None,
        };
        Ok(LiveRequest::Settle { decision, outcome, played_at })
    }
}

impl StepBody {
    pub(crate) fn requests(self) -> Result<Vec<LiveRequest>, InvalidField> {
        if self.outcomes.len() > MOST_OUTCOMES {
            let message = format!("{} outcomes: at most {MOST_OUTCOMES} fit into one step", self.outcomes.len());
            return Err(InvalidField::new("/outcomes", message));
        }
        let mut requests = Vec::with_capacity(self.outcomes.len() + 1);
        for (index, outcome) in self.outcomes.into_iter().enumerate() {
            let StepOutcomeBody { id, loss, reward, done, lost, not_played, played, played_at } = outcome;
            let body = OutcomeBody { loss, reward, done, lost, not_played, played, played_at };
            requests.push(body.request(id, &format!("/outcomes/{index}"))?);
        }
        requests.push(self.ask.request("/ask")?);
        Ok(requests)
    }
}

impl PlayBody {
    pub(crate) fn request(self) -> Result<LiveRequest, InvalidField> {
        let loss = reported_loss(self.loss, self.reward, "")?;
        Ok(LiveRequest::Play { lane: lane(self.lane, "/lane")?, arm: self.arm, loss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(json: &str) -> Result<LiveRequest, InvalidField> {
        serde_json::from_str::<OutcomeBody>(json).unwrap().request(7, "")
    }

    #[test]
    fn an_outcome_says_exactly_one_thing() {
        for valid in [
            r#"{"loss": 0.5}"#,
            r#"{"reward": 0.5}"#,
            r#"{"done": true}"#,
            r#"{"lost": true}"#,
            r#"{"not_played": true}"#,
            r#"{"played": "bob"}"#,
            r#"{"played": "bob", "loss": 0.5, "played_at": "2026-09-20T08:00:41Z"}"#,
        ] {
            assert!(outcome(valid).is_ok(), "{valid}");
        }
        for wrong in [
            "{}",
            r#"{"loss": 0.5, "reward": 0.5}"#,
            r#"{"loss": 0.5, "done": true}"#,
            r#"{"done": true, "lost": true}"#,
            r#"{"done": false}"#,
            r#"{"played": "bob", "not_played": true}"#,
            r#"{"loss": 0, "played_at": "yesterday"}"#,
        ] {
            assert!(outcome(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn null_is_another_after_than_none() {
        let after = |json: &str| match serde_json::from_str::<AskBody>(json).unwrap().request("") {
            Ok(LiveRequest::Ask { after, lane, .. }) => (after, lane),
            other => panic!("{other:?}"),
        };
        assert_eq!(after("{}"), (AskAfter::Unstated, "main".to_owned()));
        assert_eq!(after(r#"{"after": null, "lane": "u"}"#), (AskAfter::Start, "u".to_owned()));
        assert_eq!(after(r#"{"after": 3}"#).0, AskAfter::Decision(3));
    }
}
