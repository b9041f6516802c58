"""The zoo: every game of the paper by name, and generators of more.

Each function gives a :class:`~calibandit.Game` from which instances are drawn, with the parameters and the defaults of experiment files.
``feedback`` is the noise of the observed losses: ``"bernoulli"``, ``"none"``, ``{"normal": {"sd": 0.1}}`` or ``{"beta": {"concentration": 20}}``.
Where two numbers are a range, values are drawn uniformly from it; a single number is always taken.

>>> import calibandit as cb
>>> cb.games.step(arms=5, memory=3).arms
5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import _core
from ._game import Arm, Game, Noise, game
from ._json import loads

__all__ = [
    "adaptivity_a",
    "adaptivity_b",
    "alpha_reo",
    "basketball",
    "custom",
    "darts",
    "decay",
    "kinds",
    "needle",
    "fitted",
    "random_reo",
    "step",
    "stochastic",
]

Span = Union[float, tuple[float, float]]
"""A number, or a range to draw it from."""


def basketball(
    *,
    weights: Sequence[float] = (1.0, 0.5, 0.25),
    first: Mapping[str, float] | None = None,
    second: Mapping[str, float] | None = None,
    best_arm: int | None = None,
    feedback: Noise = "bernoulli",
) -> Game:
    """Two players shoot free throws; a shot helps the next ones, the less the longer ago it was.

    In the paper: Section 2, Weighted Tallying Bandit.

    * ``weights``: How much a shot counts, newest first; their number is the memory.
    * ``first``: The loss of the paper's player as a function of the tally. ``{"intercept": 1.0, "slope":
      -0.3333333333333333}`` if None.
    * ``second``: The loss of the other player as a function of the tally. ``{"intercept": 0.65, "slope": -0.1}`` if
      None.
    * ``best_arm``: The index, 0 or 1, of the player with the smaller eventual loss (the first if they are equal).
      Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback: a hit or a miss.
    """
    return game("basketball", weights=weights, first=first, second=second, best_arm=best_arm, feedback=feedback)


def needle(
    *,
    memory: int = 8,
    best_arm: int | None = None,
    feedback: Noise = "none",
) -> Game:
    """Two arms; one pattern of plays, drawn among 2^(m-1), makes a play of one of them free, and all else costs 1.

    In the paper: Proposition 1 and its proof.

    * ``memory``: How far back plays matter, m; from 1 to 50. The paper leaves it open.
    * ``best_arm``: The index, 0 or 1, of the arm x_2 that can be free. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback; the paper's has none.
    """
    return game("needle", memory=memory, best_arm=best_arm, feedback=feedback)


def adaptivity_a(
    *,
    arms: int = 2,
    best_arm: int | None = None,
    feedback: Noise = "none",
) -> Game:
    """Memory 1: one arm always costs 1/2 and all others 1.

    In the paper: Proof of Theorem 2, the game tb_A.

    * ``arms``: The number of arms, K; at least 2.
    * ``best_arm``: The index of x_1, the arm that costs 1/2, from 0. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback; the paper's has none.
    """
    return game("adaptivity-a", arms=arms, best_arm=best_arm, feedback=feedback)


def adaptivity_b(
    *,
    arms: int = 2,
    memory_bound: int = 100,
    best_arm: int | None = None,
    safe_arm: int | None = None,
    feedback: Noise = "none",
) -> Game:
    """One arm always costs 1/2 and all others 1, but one of these is free once it is calibrated, which takes as
    many plays as the memory bound.

    In the paper: Proof of Theorem 2, the game tb_B.

    * ``arms``: The number of arms, K; at least 2.
    * ``memory_bound``: The memory of this game and what policies are told about the memory, M. The paper leaves it
      open.
    * ``best_arm``: The index of x_2, the arm that is free once calibrated, from 0. Drawn uniformly among the other
      arms if not given.
    * ``safe_arm``: The index of x_1, the arm that costs 1/2, from 0. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback; the paper's has none.
    """
    return game(
        "adaptivity-b",
        arms=arms,
        memory_bound=memory_bound,
        best_arm=best_arm,
        safe_arm=safe_arm,
        feedback=feedback,
    )


def step(
    *,
    arms: int = 5,
    memory: int = 3,
    usual_loss: float = 0.5,
    best_loss: float = 0.35,
    best_arm: int | None = None,
    feedback: Noise = "bernoulli",
) -> Game:
    """Every play costs the same, except that the best arm is better once it is calibrated. Unit weights.

    In the paper: Numerical Results, Synthetic Loss Functions on Unweighted Tallying Bandit; Figure 1.

    * ``arms``: The number of arms, K.
    * ``memory``: How many plays in a row calibrate an arm, m.
    * ``usual_loss``: The loss of every play but those of the calibrated best arm.
    * ``best_loss``: The loss of the calibrated best arm; not above `usual_loss`.
    * ``best_arm``: The index of the best arm, from 0. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback.
    """
    return game(
        "step",
        arms=arms,
        memory=memory,
        usual_loss=usual_loss,
        best_loss=best_loss,
        best_arm=best_arm,
        feedback=feedback,
    )


def alpha_reo(
    *,
    arms: int = 5,
    memory: int = 4,
    best_arm: int | None = None,
    decoy_arm: int | None = None,
    feedback: Noise = "bernoulli",
) -> Game:
    """Losses fall with the number of plays; the best arm drops by 0.15 more when calibrated, and one play of a
    decoy after a rest is better than all else. Weights 1/(4m).

    In the paper: Appendix, Unweighted Tallying Bandit.

    * ``arms``: The number of arms, K; at least 2.
    * ``memory``: How many plays in a row calibrate an arm, m; at least 2.
    * ``best_arm``: The index of the best arm x*, from 0. Drawn uniformly if not given.
    * ``decoy_arm``: The index of the decoy x**, from 0. Drawn uniformly among the other arms if not given.
    * ``feedback``: The noise of the feedback.
    """
    return game("alpha-reo", arms=arms, memory=memory, best_arm=best_arm, decoy_arm=decoy_arm, feedback=feedback)


def decay(
    *,
    arms: int = 5,
    memory: int = 4,
    best_arm: int | None = None,
    feedback: Noise = "bernoulli",
) -> Game:
    """Losses fall with a tally in which a play counts for half of the one after it; the best arm drops by 0.15 more
    when calibrated.

    In the paper: Figure 2a; Appendix, Weighted Tallying Bandit.

    * ``arms``: The number of arms, K.
    * ``memory``: How many plays in a row calibrate an arm, m; at most 1000.
    * ``best_arm``: The index of the best arm, from 0. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback.
    """
    return game("decay", arms=arms, memory=memory, best_arm=best_arm, feedback=feedback)


def darts(
    *,
    arms: int = 20,
    first_toss: Span = (0.68, 0.72),
    calibrated: Span = (0.58, 0.62),
    feedback: Noise = "bernoulli",
) -> Game:
    """A first toss misses more often than the tosses right after it; every player's two losses are drawn at random.

    In the paper: Numerical Results, Simulated Dart Throwing Tournament; Figure 2b.

    * ``arms``: The number of players, K.
    * ``first_toss``: Where each player's loss on a first toss is drawn from, uniformly: a pair [low, high], or one
      number.
    * ``calibrated``: Where each player's loss on the tosses right after it is drawn from, uniformly: a pair [low,
      high], or one number.
    * ``feedback``: The noise of the feedback.
    """
    return game("darts", arms=arms, first_toss=first_toss, calibrated=calibrated, feedback=feedback)


def fitted(
    *,
    pair: str | None = None,
    model: Mapping[str, Any] | None = None,
    memory: int | None = None,
) -> Game:
    """Drivers get faster lap by lap and start anew after a break; each has a lap-time model with normal noise.

    In the paper: Numerical Results and Appendix, Simulated F1 Tournament.

    * ``pair``: A pair of drivers that comes with the library, by its race.
    * ``model``: The drivers, one arm each; the paper races pairs. In TOML one `[[game.model]]` table each.
    * ``memory``: The number of laps after which a driver's lap times are calibrated, m. A `pair` has its own.
    """
    return game("fitted", pair=pair, model=model, memory=memory)


def stochastic(
    *,
    losses: Sequence[float] | None = None,
    arms: int | None = None,
    usual_loss: float | None = None,
    best_loss: float | None = None,
    best_arm: int | None = None,
    feedback: Noise = "bernoulli",
) -> Game:
    """The plain stochastic bandit, in which nothing needs to warm up: memory 1.

    In the paper: Section 2: the special case of memory 1.

    * ``losses``: The expected loss of each arm.
    * ``arms``: The number of arms, K; instead of `losses`.
    * ``usual_loss``: The loss of every arm but the best; 0.5 if not given.
    * ``best_loss``: The loss of the best arm, not above `usual_loss`; 0.35 if not given.
    * ``best_arm``: The index of the best arm, from 0. Drawn uniformly if not given.
    * ``feedback``: The noise of the feedback.
    """
    return game(
        "stochastic",
        losses=losses,
        arms=arms,
        usual_loss=usual_loss,
        best_loss=best_loss,
        best_arm=best_arm,
        feedback=feedback,
    )


def random_reo(
    *,
    arms: int = 5,
    memory: int | tuple[int, int] = (2, 6),
    own_memory: bool = False,
    alpha: float = 0.0,
    gap: Span = (0.05, 0.3),
    best_loss: Span | None = None,
    best_arm: int | None = None,
    weights: str = "random",
    curve: str = "mixed",
    feedback: Noise = "bernoulli",
) -> Game:
    """Random games whose smallest alpha, by the definition of REO, is the chosen one: for tests and for studies.

    In the paper: Section 2, the definition of alpha-REO.

    * ``arms``: The number of arms, K.
    * ``memory``: How many plays in a row calibrate an arm: a number, or a pair [low, high] to draw from. At least 2
      if alpha is positive.
    * ``own_memory``: Whether each arm draws a memory of its own; otherwise one is drawn for all.
    * ``alpha``: The smallest alpha for which the game satisfies alpha-REO.
    * ``gap``: By how much the eventual losses of the other arms lie above the best one's: a number, or a pair [low,
      high] from which each arm draws.
    * ``best_loss``: The best arm's eventual loss: a number, or a pair [low, high] to draw from. If not given, drawn
      from all that alpha and the gap leave, from `alpha` to 1 - `gap`.
    * ``best_arm``: The index of the best arm, from 0. Drawn uniformly if not given.
    * ``weights``: How plays count by their age.
    * ``curve``: How losses depend on the plays in the window.
    * ``feedback``: The noise of the feedback.
    """
    return game(
        "random-reo",
        arms=arms,
        memory=memory,
        own_memory=own_memory,
        alpha=alpha,
        gap=gap,
        best_loss=best_loss,
        best_arm=best_arm,
        weights=weights,
        curve=curve,
        feedback=feedback,
    )


def custom(arm: Sequence[Arm | Mapping[str, Any]]) -> Game:
    """Any game, written out arm by arm.

    In the paper: Section 2, the definition of the weighted tallying bandit.

    * ``arm``: The arms, in order: in TOML one `[[game.arm]]` table each.
    """
    return game("custom", arm=[dict(one.spec) if isinstance(one, Arm) else dict(one) for one in arm])


def kinds() -> list[dict[str, Any]]:
    """Every kind, described: the same as ``calibandit games --json``.

    >>> 'step' in [kind["name"] for kind in kinds()]
    True
    """
    described: list[dict[str, Any]] = loads(_core.game_kinds())
    return described
