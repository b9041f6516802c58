"""Games as Gymnasium environments: any :class:`~calibandit.Game`, and ``calibandit/Step-v0`` for every named one.

An action is an arm, the reward is the negative observed loss, and an episode is one game over its horizon. Every reset
draws a new instance, so the agent has to find the best arm again: the environments are for learning *within* an
episode. Pass ``instance=0`` to :func:`gymnasium.make` to use the same game in every episode.

The observation contains what a player can know of the state: the arms of the last plays, and the fraction of the
horizon that is over. As in any bandit, the losses are the reward; for an agent without a memory of its own,
``observe_losses=True`` adds the losses of these plays to the observation.

>>> import gymnasium
>>> import calibandit as cb
>>> env = gymnasium.make("calibandit.gym:calibandit/Step-v0", arms=3, memory=2, horizon=100)
>>> observation, info = env.reset(seed=7)
>>> env.action_space, observation.shape
(Discrete(3), (7,))
>>> observation, reward, terminated, truncated, info = env.step(1)
>>> observation
array([0.  , 1.  , 0.  , 0.  , 0.  , 0.  , 0.01], dtype=float32)
>>> info["expected_loss"]
0.5

A game of your own is an environment too, also with loss curves that are functions:

>>> game = cb.Game(arms=[cb.Arm(memory=3, loss=0.5), cb.Arm(memory=3, loss=lambda tally: 0.9 - 0.25 * tally)])
>>> env = cb.gym.GameEnv(game, horizon=4)
>>> observation, info = env.reset(seed=1)
>>> round([env.step(arm) for arm in (0, 1, 1, 1)][-1][4]["regret"], 3)
0.35

The last ``info`` of an episode has the exact regret. To compare policies, use :func:`calibandit.simulate`: it is much
faster.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import games as _games
from ._arguments import whole as _whole
from ._game import Game as _Game
from ._game import game as _named
from ._noise import Normal as _Normal
from ._signature import make_readable as _make_readable
from .errors import ArgumentTypeError, SpecError

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise ImportError("calibandit.gym needs Gymnasium: pip install 'gymnasium>=1.0'") from error

__all__ = ["GameEnv", "env_ids", "register_envs"]

_NAMESPACE = "calibandit"
#: One more than the largest seed that experiments take.
_SEEDS = 2**63
#: Bounds of observed losses with normal noise, in standard deviations. No draw leaves them.
_DEVIATIONS = 40


class GameEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game as an environment.

    Args:
        game: A :class:`~calibandit.Game`, or the kind of a named game.
        horizon: The number of plays per episode.
        memory_bound: The number of last plays that are observed. Default: the memory of the game, or 1 if the game is
            rested. A larger number hides the memory from the agent.
        observe_losses: Whether the losses of these plays are observed too.
        instance: The instance to play. Default: a new one at every reset.
        render_mode: ``"ansi"`` for a line of text.
        parameters: The parameters of a named game, as of its function in :mod:`calibandit.games`. For ``"custom"``,
            ``arms`` is a list of :class:`~calibandit.Arm` objects. Without any, the example of the kind is used.

    The observation has ``memory_bound`` groups of one entry per arm. The first group is the last play, the second the
    play before it, and so on: 1 for the arm that was played, zeros before the first play. With ``observe_losses``, the
    losses of these plays follow in the same order, 0 before the first play. The last entry is the fraction of the
    horizon that is over.

    An episode *terminates* at the horizon, because the horizon is part of the game and not a time limit imposed from
    outside.

    ``info`` has ``"expected_loss"`` after each play, ``"arm"`` with the name of the arm if the arms have names, and
    ``"regret"`` at the end of the episode. At any other time, ``env.get_wrapper_attr("regret")()`` calls :meth:`regret`
    through wrappers.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 10}

    def __init__(
        self,
        game: _Game | str = "step",
        *,
        horizon: int = 1_000,
        memory_bound: int | None = None,
        observe_losses: bool = False,
        instance: int | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        if "kind" in parameters:
            warnings.warn("`kind` is now called `game`", DeprecationWarning, stacklevel=2)
            game = parameters.pop("kind")
        if render_mode not in (None, "ansi"):
            raise SpecError(f"`render_mode` is {render_mode!r}: give None or 'ansi'")
        self.horizon: int = _whole("horizon", horizon, low=1)
        self.observe_losses = bool(observe_losses)
        self.render_mode = render_mode
        self._instance = None if instance is None else _whole("instance", instance)
        self._source = _source(game, parameters)
        first = self._source.draw(seed=1, instance=self._instance or 0)
        self.title: str = self._source.title
        self.arms: int = first.n_arms
        own = 1 if first.memory == "all" else first.memory
        self.memory_bound: int = own if memory_bound is None else _whole("memory_bound", memory_bound, low=1)
        self.action_space = spaces.Discrete(self.arms)
        self.observation_space = self._space(first)
        # The optimum of a game that is the same in every episode is computed once.
        spec = self._source.spec
        self._is_fixed = self._instance is not None or spec is None or spec["kind"] == "custom"
        self._optima: dict[int, float] = {}
        self._names: list[str] | None = None
        self._game = first
        self._session: Any = None
        self._recent: list[tuple[int, float]] = []
        self._expected = 0.0
        self._plays = 0
        self._last: tuple[int, float, float] | None = None

    def _space(self, first: _Game) -> Any:
        plays, losses = self.memory_bound * self.arms, self.memory_bound if self.observe_losses else 0
        low, high = np.zeros(plays + losses + 1, np.float32), np.ones(plays + losses + 1, np.float32)
        if losses:
            widest = max((arm.feedback.sd for arm in first.arms if isinstance(arm.feedback, _Normal)), default=0.0)
            low[plays : plays + losses] = -_DEVIATIONS * widest
            high[plays : plays + losses] = 1 + _DEVIATIONS * widest
        return spaces.Box(low, high, dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode: a new instance, or new noise for the chosen one."""
        super().reset(seed=seed, options=options)
        drawn = int(self.np_random.integers(_SEEDS))
        if self._instance is None:
            self._game = self._source.draw(seed=drawn)
        else:
            self._game = self._source.draw(seed=1, instance=self._instance)
        self._session = self._game.session(seed=drawn)
        self._recent, self._expected, self._plays, self._last = [], 0.0, 0, None
        self._names = self._game.arm_names if self._game._has_names else None
        info: dict[str, Any] = {"memory": self._game.memory}
        if self._names is not None:
            info["arm_names"] = tuple(self._names)
        return self._observation(), info

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play an arm. ``info`` has its expected loss, which is not observed but defines the regret."""
        if self._session is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(f"{action!r} is not an arm: give an integer from 0 to {self.arms - 1}")
        arm = int(action)
        loss, expected = self._session.step(arm)
        self._plays += 1
        self._expected += expected
        self._recent = [(arm, loss), *self._recent[: self.memory_bound - 1]]
        self._last = arm, loss, expected
        info: dict[str, Any] = {"expected_loss": float(expected)}
        if self._names is not None:
            info["arm"] = self._names[arm]
        over = self._plays >= self.horizon
        if over:
            self._session = None
            info["regret"] = self.regret()
        return self._observation(), -float(loss), over, False, info

    def regret(self) -> float:
        """The complete policy regret of the episode so far: expected losses minus the optimum."""
        if self._plays == 0:
            return 0.0
        if not self._is_fixed:
            return self._expected - self._game.optimum(self._plays).loss
        if self._plays not in self._optima:
            self._optima[self._plays] = self._game.optimum(self._plays).loss
        return self._expected - self._optima[self._plays]

    def render(self) -> str | None:
        """Describe the last play in one line, with ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        head = f"{self.title}: {self._plays} of {self.horizon} plays"
        if self._last is None:
            return head
        arm, loss, expected = self._last
        names = self._names or [str(arm) for arm in range(self.arms)]
        last = ", ".join(names[arm] for arm, _ in reversed(self._recent))
        return f"{head}; arm {names[arm]} cost {loss:.3g} (expected {expected:.3g}); last plays {last}"

    def _observation(self) -> NDArray[np.float32]:
        observation = np.zeros(self.observation_space.shape or (), dtype=np.float32)
        losses = self.memory_bound * self.arms
        for age, (arm, loss) in enumerate(self._recent):
            observation[age * self.arms + arm] = 1.0
            if self.observe_losses:
                observation[losses + age] = loss
        observation[-1] = self._plays / self.horizon
        return observation


def env_ids() -> list[str]:
    """The names of the environments, one per kind of game.

    >>> env_ids()[4:6]
    ['calibandit/Step-v0', 'calibandit/AlphaReo-v0']
    """
    return [_env_id(kind["name"]) for kind in _games.kinds()]


def register_envs() -> None:
    """Register the environments with Gymnasium. Importing this module calls it."""
    for kind in _games.kinds():
        name = _env_id(kind["name"])
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point="calibandit.gym:GameEnv", kwargs={"game": kind["name"]})


def _env_id(kind: str) -> str:
    return f"{_NAMESPACE}/{kind.title().replace('-', '')}-v0"


def _source(game: Any, parameters: dict[str, Any]) -> _Game:
    """The game of an environment, or the specification from which one is drawn at every reset."""
    if isinstance(game, _Game):
        if parameters:
            raise SpecError(f"a game has no more parameters: leave out {', '.join(parameters)}")
        return game
    if not isinstance(game, str):
        raise ArgumentTypeError(f"`game` must be a calibandit.Game or the name of a kind, not {game!r}")
    if game == "custom" and "arms" in parameters:
        return _Game(**parameters)
    return _named(game, **(parameters or _example(game)))


def _example(kind: str) -> dict[str, Any]:
    for known in _games.kinds():
        if known["name"] == kind:
            return {key: value for key, value in known["example"].items() if key != "kind"}
    return {}  # an unknown kind: building the game raises a better error


_make_readable([GameEnv, register_envs])
register_envs()
