"""Games as Gymnasium environments: ``calibandit/Step-v0`` and one for every other named game.

An action is an arm, the reward is the negative observed loss, and an episode is one game over its horizon. Every reset
draws a new instance, so the agent has to find the best arm again: the environments are for learning *within* an
episode. Pass ``instance=0`` to :func:`gymnasium.make` to use the same game in every episode.

The observation contains what a player can know of the state: the arms of the last plays, and the fraction of the
horizon that is over. It does not contain the losses; as in any bandit, they are the reward.

>>> import gymnasium
>>> import calibandit.gym
>>> env = gymnasium.make("calibandit/Step-v0", arms=3, memory=2, horizon=100)
>>> observation, info = env.reset(seed=7)
>>> env.action_space, observation.shape
(Discrete(3), (7,))
>>> observation, reward, terminated, truncated, info = env.step(1)
>>> observation
array([0.  , 1.  , 0.  , 0.  , 0.  , 0.  , 0.01], dtype=float32)
>>> info["expected_loss"]
0.5

``gymnasium.make("calibandit.gym:calibandit/Step-v0")`` also imports the module.

To compare policies, use :func:`calibandit.simulate`: it is much faster and computes the exact regret.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import game as _game
from . import games as _games

__all__ = ["GameEnv", "env_ids", "register_envs"]

_NAMESPACE = "calibandit"
#: One more than the largest seed that experiments take.
_SEEDS = 2**63


class GameEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A named game as an environment.

    Args:
        kind: the kind of game, as in files.
        horizon: the number of plays per episode.
        memory_bound: the number of last plays that are observed. Default: the memory of the game. A larger number hides
        the
            memory from the agent.
        instance: the instance to play. Default: a new one at every reset.
        render_mode: ``"ansi"`` for a line of text.
        parameters: the parameters of the game, as in files. Without any, the example of the kind is used.

    The observation has ``memory_bound`` groups of one entry per arm, and one more entry. The first group is the last
    play, the second the play before it, and so on: 1 for the arm that was played, zeros before the first play. The last
    entry is the fraction of the horizon that is over.

    An episode *terminates* at the horizon, because the horizon is part of the game and not a time limit imposed from
    outside.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 10}

    def __init__(
        self,
        kind: str = "step",
        *,
        horizon: int = 1_000,
        memory_bound: int | None = None,
        instance: int | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        if horizon < 1:
            raise ValueError(f"horizon is {horizon}: give 1 or more")
        if memory_bound is not None and memory_bound < 1:
            raise ValueError(f"memory_bound is {memory_bound}: give 1 or more")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}: give None or 'ansi'")
        self.kind = kind
        self.horizon = horizon
        self.render_mode = render_mode
        self._instance = instance
        self._spec = _game(kind, **(parameters or _example(kind)))
        first = self._spec.draw(seed=1, instance=instance or 0)
        self.arms: int = len(first.eventual_losses)
        self.memory_bound: int = memory_bound or first.memory
        self.action_space = spaces.Discrete(self.arms)
        shape = (self.memory_bound * self.arms + 1,)
        self.observation_space = spaces.Box(0.0, 1.0, shape=shape, dtype=np.float32)
        self._game: Any = first
        self._session: Any = None
        self._recent: list[int] = []
        self._expected = 0.0
        self._plays = 0
        self._last: tuple[int, float, float] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode: a new instance, or new noise for the chosen one."""
        super().reset(seed=seed, options=options)
        drawn = int(self.np_random.integers(_SEEDS))
        if self._instance is None:
            self._game = self._spec.draw(seed=drawn)
        else:
            self._game = self._spec.draw(seed=1, instance=self._instance)
        self._session = self._game.session(seed=drawn)
        self._recent, self._expected, self._plays, self._last = [], 0.0, 0, None
        return self._observation(), {"memory": int(self._game.memory)}

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
        self._recent = [arm, *self._recent[: self.memory_bound - 1]]
        self._last = arm, loss, expected
        over = self._plays >= self.horizon
        if over:
            self._session = None
        return self._observation(), -float(loss), over, False, {"expected_loss": float(expected)}

    def regret(self) -> float:
        """The complete policy regret of the episode so far: expected losses minus the optimum."""
        if self._plays == 0:
            return 0.0
        return self._expected - float(self._game.optimum(self._plays).loss)

    def render(self) -> str | None:
        """Describe the last play in one line, with ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        head = f"{self.kind}: {self._plays} of {self.horizon} plays"
        if self._last is None:
            return head
        arm, loss, expected = self._last
        return f"{head}; arm {arm} cost {loss:.3g} (expected {expected:.3g}); last plays {self._recent[::-1]}"

    def _observation(self) -> NDArray[np.float32]:
        observation = np.zeros(self.memory_bound * self.arms + 1, dtype=np.float32)
        for age, arm in enumerate(self._recent):
            observation[age * self.arms + arm] = 1.0
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
            gymnasium.register(name, entry_point="calibandit.gym:GameEnv", kwargs={"kind": kind["name"]})


def _env_id(kind: str) -> str:
    return f"{_NAMESPACE}/{kind.title().replace('-', '')}-v0"


def _example(kind: str) -> dict[str, Any]:
    for known in _games.kinds():
        if known["name"] == kind:
            return {key: value for key, value in known["example"].items() if key != "kind"}
    return {}  # an unknown kind: building the game raises a better error


register_envs()
