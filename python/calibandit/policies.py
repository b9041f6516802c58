"""Policies of the library by name, with the parameters and the defaults of experiment files.

>>> import calibandit as cb
>>> cb.policies.successive_elimination(memory_bound=3, radius="hoeffding").label
'SE (hoeffding)'
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._json import loads
from ._policy import PolicySpec, policy

__all__ = [
    "anytime_elimination",
    "batched_exp3",
    "calibrated",
    "epoch_ucb",
    "exp3",
    "explore_then_commit",
    "kinds",
    "successive_elimination",
    "thompson",
    "ucb1",
]


def calibrated(
    *,
    memory_bound: int,
    index: str = "race",
    first: int = 32,
    growth: float | None = None,
    label: str | None = None,
) -> PolicySpec:
    """Keep every calibrated loss, burn in only on a switch, switch rarely: far less regret, same guarantee.

    Source: This project (docs/calibrated.md), after Lai (1987), Annals of Statistics 15(3), and Waudby-Smith and
    Ramdas (2024), JRSS B 86(1).

    * ``memory_bound`` (an integer, at least 1): What the policy is told about the memory: at least the game's true
      memory, the paper's M.
    * ``index`` (race, cautious, kl-ucb, moss, bernstein, imed, thompson or elimination): How the next arm is
      chosen.
    * ``first`` (an integer, at least 1): How many plays of each arm to record at the start; fewer if the horizon is
      short, more if the burn-in is long.
    * ``growth`` (a positive number; if None: 0.15; 1 for elimination): A visit records at least this part of what
      the arm had before.
    """
    return policy("calibrated", memory_bound=memory_bound, index=index, first=first, growth=growth, label=label)


def successive_elimination(
    *,
    memory_bound: int,
    radius: str | float = "paper",
    delta: float = 0.05,
    label: str | None = None,
) -> PolicySpec:
    """The paper's Algorithm 1: measure all arms in doubling epochs, drop those that are clearly worse.

    Source: Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated
    Exposure Optimality. Algorithm 1.

    * ``memory_bound`` (an integer, at least 1): What the policy is told about the memory: at least the game's true
      memory, the paper's M.
    * ``radius`` ("paper" (32), "hoeffding" (1/2), "difference" (1/4) or a positive number): The constant in the
      confidence radius: the larger, the later arms are dropped.
    * ``delta`` (a number in (0, 1)): The probability with which the guarantee may fail.
    """
    return policy("successive-elimination", memory_bound=memory_bound, radius=radius, delta=delta, label=label)


def anytime_elimination(*, memory_bound: int, delta: float = 0.005, label: str | None = None) -> PolicySpec:
    """The paper's Algorithm 1 with a wider radius, for when the horizon is not known.

    Source: Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated
    Exposure Optimality. Section 3.1, Efficiency & Practicality.

    * ``memory_bound`` (an integer, at least 1): What the policy is told about the memory: at least the game's true
      memory, the paper's M.
    * ``delta`` (a number in (0, 0.009)): The probability with which the guarantee may fail; the paper asks for less
      than 0.009.
    """
    return policy("anytime-elimination", memory_bound=memory_bound, delta=delta, label=label)


def exp3(*, gamma: float | None = None, label: str | None = None) -> PolicySpec:
    """Exponential weights over single plays: no assumption on the losses, no care of warm-up.

    Source: Auer, Cesa-Bianchi, Freund, Schapire (2002). The nonstochastic multiarmed bandit problem. SIAM J.
    Comput. 32(1), 48-77. doi:10.1137/S0097539701398375.

    * ``gamma`` (a number in (0, 1]; if None: min(1, sqrt(K ln K / ((e - 1) T))), for T updates): The rate of
      exploration and of learning.
    """
    return policy("exp3", gamma=gamma, label=label)


def batched_exp3(*, batch: int | None = None, gamma: float | None = None, label: str | None = None) -> PolicySpec:
    """EXP3 over batches of plays: sublinear policy regret against any bounded memory.

    Source: Arora, Dekel, Tewari (2012). Online bandit learning against an adaptive adversary: from regret to policy
    regret. ICML 2012. arXiv:1206.6400.

    * ``batch`` (an integer, at least 1; if None: floor((T / (7 K ln K))^(1/3)), at least 1): The number of plays of
      a batch.
    * ``gamma`` (a number in (0, 1]; if None: min(1, sqrt(K ln K / ((e - 1) T))), for T updates): The rate of
      exploration and of learning.
    """
    return policy("batched-exp3", batch=batch, gamma=gamma, label=label)


def epoch_ucb(*, memory_bound: int, exploration: float = 2.0, label: str | None = None) -> PolicySpec:
    """UCB over epochs of M plays of one arm, of which the last one counts.

    Source: Malik, Igoe, Li, Singh (2023). Weighted Tallying Bandits: Overcoming Intractability via Repeated
    Exposure Optimality. Section 3.1.

    * ``memory_bound`` (an integer, at least 1): What the policy is told about the memory: at least the game's true
      memory, the paper's M.
    * ``exploration`` (a positive number): The constant c in the index mean - sqrt(c ln(epochs) / n): the larger,
      the more it explores.
    """
    return policy("epoch-ucb", memory_bound=memory_bound, exploration=exploration, label=label)


def ucb1(*, label: str | None = None) -> PolicySpec:
    """UCB over single plays, without any care of warm-up: a reference.

    Source: Auer, Cesa-Bianchi, Fischer (2002). Finite-time analysis of the multiarmed bandit problem. Machine
    Learning 47, 235-256. doi:10.1023/A:1013689704352.
    """
    return policy("ucb1", label=label)


def thompson(*, label: str | None = None) -> PolicySpec:
    """Thompson sampling over single plays, without any care of warm-up: a reference.

    Source: Thompson (1933). Biometrika 25, 285-294. doi:10.1093/biomet/25.3-4.285; Agrawal, Goyal (2012). Analysis
    of Thompson sampling for the multi-armed bandit problem. COLT 2012. arXiv:1111.1797.
    """
    return policy("thompson", label=label)


def explore_then_commit(*, memory_bound: int, explore: int | None = None, label: str | None = None) -> PolicySpec:
    """Warm up and measure every arm once, then play the best to the end: a reference.

    Source: Slivkins (2019). Introduction to Multi-Armed Bandits. Foundations and Trends in Machine Learning
    12(1-2), Theorem 1.5. arXiv:1904.07272.

    * ``memory_bound`` (an integer, at least 1): What the policy is told about the memory: at least the game's true
      memory, the paper's M.
    * ``explore`` (an integer, at least 1; if None: ceil((T / K)^(2/3) (ln T)^(1/3)), or what fits the horizon): How
      many plays of each arm to record before deciding.
    """
    return policy("explore-then-commit", memory_bound=memory_bound, explore=explore, label=label)


def kinds() -> list[dict[str, Any]]:
    """Every kind, described: the same as ``calibandit policies --json``.

    >>> 'calibrated' in [kind["name"] for kind in kinds()]
    True
    """
    described: list[dict[str, Any]] = loads(_core.policy_kinds())
    return described
