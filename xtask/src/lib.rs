//! The Rust programs in README.md and in the guide, as doc tests. They are here because a published package must not
//! need files outside it.

#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../README.md")]
    mod readme {}
    #[doc = include_str!("../../docs/how-to/many-users.md")]
    mod many_users {}
    #[doc = include_str!("../../docs/guide/which-memory-bound.md")]
    mod which_memory_bound {}
    #[doc = include_str!("../../docs/guide/which-policy.md")]
    mod which_policy {}
    #[doc = include_str!("../../docs/guide/your-own-game.md")]
    mod your_own_game {}
    #[doc = include_str!("../../docs/guide/your-own-policy.md")]
    mod your_own_policy {}
}
