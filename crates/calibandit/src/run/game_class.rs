//! Classes of games: what a policy assumes about a game, and what a game is.
//!
//! A class says nothing about how well a policy performs. Whoever combines a policy with a game, such as
//! `calibandit check`, compares the two.

/// A class of games, by how the loss of an arm depends on the plays of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum GameClass {
    /// Losses do not depend on earlier plays.
    Plain,
    /// Losses depend on the last plays, and to repeat one arm for ever is optimal.
    RepeatedExposure,
    /// Losses depend on the last plays, in any way.
    Windowed,
    /// Losses depend on all plays of the arm and never fall.
    Rotting,
    /// Losses depend on all plays of the arm and never rise.
    Improving,
    /// As improving, and each play changes less than the one before.
    Rising,
    /// Losses depend on all plays of the arm: they fall up to some play and rise after it.
    SinglePeaked,
    /// Any game.
    Any,
}

impl GameClass {
    /// Its name, as in lists.
    pub fn name(self) -> &'static str {
        match self {
            GameClass::Plain => "plain",
            GameClass::RepeatedExposure => "windowed with repeated exposure",
            GameClass::Windowed => "windowed",
            GameClass::Rotting => "rotting",
            GameClass::Improving => "improving",
            GameClass::Rising => "rising",
            GameClass::SinglePeaked => "single-peaked",
            GameClass::Any => "any",
        }
    }

    /// Whether every game of the other class is one of this class.
    pub fn includes(self, other: Self) -> bool {
        use GameClass::{Any, Improving, Plain, RepeatedExposure, Rising, Rotting, SinglePeaked, Windowed};
        match self {
            Any => true,
            _ if self == other => true,
            Plain => false,
            RepeatedExposure | Rotting | Rising => other == Plain,
            Windowed => matches!(other, Plain | RepeatedExposure),
            Improving => matches!(other, Plain | Rising),
            SinglePeaked => matches!(other, Plain | Rotting | Improving | Rising),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_include_smaller_ones() {
        assert!(GameClass::SinglePeaked.includes(GameClass::Rising) && GameClass::Rotting.includes(GameClass::Plain));
        assert!(
            !GameClass::Rising.includes(GameClass::Improving) && !GameClass::Rotting.includes(GameClass::Improving)
        );
        assert!(!GameClass::Plain.includes(GameClass::Any) && GameClass::Any.includes(GameClass::Windowed));
    }
}
