//! Tokens: 256 random bits, of which the store has a SHA-256 digest. A slow hash is for passwords, which are guessable.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::StoredToken;
use crate::times::timestamp;

/// What a token allows. Each role allows what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// To look.
    Read,
    /// To ask and to tell.
    Play,
    /// To create and delete experiments, and to make tokens.
    Admin,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Play => "play",
            Self::Admin => "admin",
        })
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Read),
            "play" => Ok(Self::Play),
            "admin" => Ok(Self::Admin),
            _ => Err(format!("there is no role `{text}`: the roles are read, play and admin")),
        }
    }
}

/// A token as people see it. Its secret is shown once, when it is made.
#[derive(Clone, Debug, Serialize)]
pub struct TokenView {
    /// Its number.
    pub id: i64,
    /// What it allows.
    pub role: String,
    /// What it is for.
    pub name: String,
    /// When it was made.
    pub created_at: String,
    /// When it was revoked, if it was.
    pub revoked_at: Option<String>,
    /// The token itself, in the answer to its creation only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// What tokens begin with, so that scanners of secrets can find them.
const PREFIX: &str = "cban_";

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A new token and what the store keeps of it.
pub(crate) fn new_token(id: i64, role: Role, name: &str, now: u64) -> Result<(String, StoredToken), getrandom::Error> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits)?;
    let hex: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    let token = format!("{PREFIX}{hex}");
    let stored = StoredToken {
        id,
        sha256: digest(&token),
        role: role.to_string(),
        name: name.to_owned(),
        created_at: now,
        revoked_at: None,
    };
    Ok((token, stored))
}

/// All tokens of the store, shared by the requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenTable {
    tokens: Arc<RwLock<Vec<StoredToken>>>,
}

impl TokenTable {
    pub(crate) fn new(tokens: Vec<StoredToken>) -> Self {
        Self { tokens: Arc::new(RwLock::new(tokens)) }
    }

    /// Whether there is a token that is valid.
    pub(crate) fn has_valid(&self) -> bool {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.iter().any(|token| token.revoked_at.is_none())
    }

    /// The role of a token, if it is valid. The time does not depend on where digests differ.
    pub(crate) fn role(&self, token: &str) -> Option<Role> {
        let given = digest(token);
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let mut role = None;
        for stored in tokens.iter().filter(|stored| stored.revoked_at.is_none()) {
            let difference = stored.sha256.iter().zip(&given).fold(0, |bits, (a, b)| bits | (a ^ b));
            if std::hint::black_box(difference) == 0 {
                role = stored.role.parse().ok();
            }
        }
        role
    }

    pub(crate) fn next_id(&self) -> i64 {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.iter().map(|token| token.id).max().unwrap_or(0) + 1
    }

    pub(crate) fn add(&self, token: StoredToken) {
        self.tokens.write().unwrap_or_else(PoisonError::into_inner).push(token);
    }

    /// Marks a token as revoked; false if it does not exist.
    pub(crate) fn revoke(&self, id: i64, now: u64) -> bool {
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        let token = tokens.iter_mut().find(|token| token.id == id);
        token.map(|token| token.revoked_at.get_or_insert(now)).is_some()
    }

    pub(crate) fn views(&self) -> Vec<TokenView> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.iter().map(|token| view(token, None)).collect()
    }
}

pub(crate) fn view(token: &StoredToken, secret: Option<String>) -> TokenView {
    TokenView {
        id: token.id,
        role: token.role.clone(),
        name: token.name.clone(),
        created_at: timestamp(token.created_at),
        revoked_at: token.revoked_at.map(timestamp),
        token: secret,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_works_until_it_is_revoked_and_is_not_stored() {
        let table = TokenTable::default();
        let (token, stored) = new_token(table.next_id(), Role::Play, "web", 5).unwrap();
        assert_eq!(token.len(), PREFIX.len() + 64);
        assert!(!format!("{stored:?}").contains(&token));
        table.add(stored);
        assert_eq!(table.role(&token), Some(Role::Play));
        assert_eq!(table.role(&format!("{token}0")), None);
        assert_eq!(table.role(""), None);
        assert!(table.revoke(1, 9) && !table.revoke(2, 9));
        assert_eq!(table.role(&token), None);
        assert!(!table.has_valid());
        assert_ne!(new_token(1, Role::Play, "", 0).unwrap().0, token);
    }

    #[test]
    fn roles_include_those_below() {
        assert!(Role::Admin > Role::Play && Role::Play > Role::Read);
        assert_eq!("play".parse(), Ok(Role::Play));
        assert!("root".parse::<Role>().is_err());
    }
}
