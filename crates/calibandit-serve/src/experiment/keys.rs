//! Idempotency keys: a request that is repeated with its key gets the first answer again.

use std::collections::{HashMap, VecDeque};

use super::LiveAnswer;
use crate::record::RequestKey;

/// Keys are remembered for this long, in milliseconds: a day.
const REMEMBERED: u64 = 24 * 3600 * 1000;

/// What is known about the key of a request.
pub(super) enum KeyUse {
    New,
    /// The same request was answered before, with this.
    Repeated(LiveAnswer),
    /// Another request has used it.
    Misused,
}

#[derive(Debug, Default)]
pub(super) struct KeyTable {
    answers: HashMap<String, (String, LiveAnswer)>,
    /// The keys with the times of their first use, in this order.
    order: VecDeque<(u64, String)>,
}

impl KeyTable {
    pub(super) fn find(&mut self, key: &RequestKey, now: u64) -> KeyUse {
        self.forget(now);
        match self.answers.get(&key.key) {
            None => KeyUse::New,
            Some((request, _)) if *request != key.request => KeyUse::Misused,
            Some((_, answer)) => KeyUse::Repeated(match answer.clone() {
                LiveAnswer::Decision { lane, asked_at, given, .. } => {
                    LiveAnswer::Decision { lane, asked_at, given, redelivered: true }
                }
                LiveAnswer::Recorded { decision, counted, because, .. } => {
                    LiveAnswer::Recorded { decision, counted, first: false, because }
                }
                other => other,
            }),
        }
    }

    pub(super) fn remember(&mut self, key: &RequestKey, answer: &LiveAnswer, now: u64) {
        self.answers.insert(key.key.clone(), (key.request.clone(), answer.clone()));
        self.order.push_back((now, key.key.clone()));
    }

    fn forget(&mut self, now: u64) {
        while let Some((at, key)) = self.order.front()
            && at.saturating_add(REMEMBERED) < now
        {
            self.answers.remove(key);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_the_first_answer_for_a_day() {
        let mut keys = KeyTable::default();
        let key = |request: &str| RequestKey { key: "k".into(), request: request.into() };
        assert!(matches!(keys.find(&key("a"), 0), KeyUse::New));
        keys.remember(&key("a"), &LiveAnswer::Noted, 10);
        assert!(matches!(keys.find(&key("a"), 20), KeyUse::Repeated(LiveAnswer::Noted)));
        assert!(matches!(keys.find(&key("b"), 20), KeyUse::Misused));
        assert!(matches!(keys.find(&key("b"), 11 + REMEMBERED), KeyUse::New));
        assert!(keys.answers.is_empty() && keys.order.is_empty());
    }
}
