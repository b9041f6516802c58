"""The games as Gymnasium environments."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import calibandit as cb

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import calibandit.gym as cbgym  # noqa: E402


def make(name: str = "calibandit/Step-v0", **parameters: Any) -> Any:
    return gymnasium.make(name, **parameters)


def test_every_kind_of_game_is_registered() -> None:
    assert "calibandit/Step-v0" in cbgym.env_ids()
    assert len(cbgym.env_ids()) == len(cb.games.kinds())
    assert set(cbgym.env_ids()) <= set(gymnasium.registry)


@pytest.mark.parametrize("name", cbgym.env_ids())
def test_gymnasium_env_checker_passes(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, horizon=50).unwrapped)


def test_the_observation_contains_the_window_and_the_time() -> None:
    env = make(arms=3, memory=2, horizon=4)
    observation, info = env.reset(seed=1)
    assert observation.tolist() == [0.0] * 7
    assert info == {"memory": 2}
    assert env.step(2)[0].tolist() == [0, 0, 1, 0, 0, 0, 0.25]
    assert env.step(0)[0].tolist() == [1, 0, 0, 0, 0, 1, 0.5]
    assert env.step(0)[0].tolist() == [1, 0, 0, 1, 0, 0, 0.75]
    _, _, terminated, truncated, _ = env.step(1)
    assert (terminated, truncated) == (True, False)
    assert make(arms=3, memory=2, memory_bound=5).observation_space.shape == (16,)


def test_expected_losses_equal_those_of_the_game() -> None:
    """Played by hand: the step game costs 0.5, and 0.35 once its best arm was played `memory` times in a row."""
    env = make(arms=3, memory=3, best_arm=1, usual_loss=0.5, best_loss=0.35, horizon=10)
    env.reset(seed=1)
    sequence = [1, 1, 1, 1, 0, 1, 1, 1]
    seen = [env.step(arm)[4]["expected_loss"] for arm in sequence]
    assert seen == [0.5, 0.5, 0.35, 0.35, 0.5, 0.5, 0.5, 0.35]
    game = cb.games.step(arms=3, memory=3, best_arm=1, usual_loss=0.5, best_loss=0.35).draw(seed=5)
    assert seen == game.play(sequence).tolist()
    # Best from the first play on: 0.5 twice, then 0.35.
    assert env.unwrapped.regret() == pytest.approx(sum(seen) - (0.5 + 0.5 + 6 * 0.35))


def test_rewards_are_negative_losses_with_the_right_mean() -> None:
    env = make(arms=2, memory=1, best_arm=0, usual_loss=0.5, best_loss=0.35, horizon=20_000)
    env.reset(seed=3)
    rewards = np.array([env.step(0)[1] for _ in range(20_000)])
    assert set(rewards.tolist()) <= {0.0, -1.0}
    # Bernoulli of 0.35: five standard errors.
    assert abs(rewards.mean() + 0.35) < 5 * np.sqrt(0.35 * 0.65 / 20_000)


def course(env: Any, seed: int | None) -> list[tuple[float, float]]:
    env.reset(seed=seed)
    plays = [env.step(arm % env.action_space.n) for arm in range(40) for _ in range(3)]
    return [(play[1], play[4]["expected_loss"]) for play in plays]


def test_seeds_reproduce_and_resets_differ() -> None:
    env, other = make(horizon=120), make(horizon=120)
    first = course(env, 11)
    assert first == course(other, 11)
    assert first != course(other, 12)
    second = course(env, None)
    assert second != first, "a new episode is a new game"
    course(other, 11)
    assert second == course(other, None), "and yet the seed fixes it"


def test_a_given_instance_is_used_in_every_episode() -> None:
    env = make(instance=0, horizon=120)
    one, two = course(env, 1), course(env, 2)
    assert [expected for _, expected in one] == [expected for _, expected in two]
    assert one != two, "the noise is new"


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(ValueError, match="`horizon` is 0"):
        cbgym.GameEnv(horizon=0)
    with pytest.raises(ValueError, match="`memory_bound` is 0"):
        cbgym.GameEnv(memory_bound=0)
    with pytest.raises(ValueError, match="memroy"):
        cbgym.GameEnv("step", memroy=3)
    with pytest.raises((KeyError, ValueError), match="stpe"):
        cbgym.GameEnv("stpe")
    env = cbgym.GameEnv(horizon=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(gymnasium.error.InvalidAction, match="99 is not an arm"):
        env.step(99)
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_rendering_as_text() -> None:
    env = make(render_mode="ansi", horizon=5)
    env.reset(seed=1)
    env.step(1)
    assert "1 of 5 plays; arm 1 cost" in env.render()


def falling(tally: float) -> float:
    return 0.9 - 0.25 * tally


ARMS = [cb.Arm(memory=3, loss=0.5, name="ann"), cb.Arm(memory=3, loss=falling, name="bob")]


@pytest.mark.parametrize("observe_losses", [False, True])
@pytest.mark.parametrize("feedback", [cb.Bernoulli(), cb.Normal(sd=0.1), cb.Beta(concentration=8), cb.NoNoise()])
def test_the_env_checker_passes_on_games_of_users(feedback: cb.Noise, observe_losses: bool) -> None:
    game = cb.Game([*ARMS, cb.Arm(memory=2, loss=[0.8, 0.3], feedback=feedback)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without a specification of Gymnasium, the checker cannot make the environment again for other render modes.
        check_env(cbgym.GameEnv(game, horizon=50, observe_losses=observe_losses), skip_render_check=True)
        check_env(make("calibandit/Custom-v0", arms=game.arms, horizon=50, observe_losses=observe_losses).unwrapped)


def test_a_game_of_a_user_is_played_with_its_names_and_its_regret() -> None:
    """By hand: 0.5, 0.65, 0.4, 0.15 against four plays of bob, which are 0.65, 0.4, 0.15, 0.15."""
    for env in (cbgym.GameEnv(cb.Game(ARMS), horizon=4), make("calibandit/Custom-v0", arms=ARMS, horizon=4)):
        _, info = env.reset(seed=1)
        assert info == {"memory": 3, "arm_names": ("ann", "bob")}
        infos = [env.step(arm)[4] for arm in (0, 1, 1, 1)]
        assert [info["arm"] for info in infos] == ["ann", "bob", "bob", "bob"]
        assert [info["expected_loss"] for info in infos] == pytest.approx([0.5, 0.65, 0.4, 0.15])
        assert ["regret" in info for info in infos] == [False, False, False, True]
        assert infos[-1]["regret"] == pytest.approx(1.7 - 1.35)
        assert env.get_wrapper_attr("regret")() == infos[-1]["regret"]


def test_losses_are_observed_on_request() -> None:
    game = cb.Game(
        [cb.Arm(memory=2, loss=[0.75, 0.25], feedback=cb.NoNoise()), cb.Arm(memory=1, loss=0.5, feedback="none")]
    )
    env = cbgym.GameEnv(game, horizon=4, observe_losses=True)
    assert env.reset(seed=1)[0].tolist() == [0.0] * 7
    assert env.step(0)[0].tolist() == [1, 0, 0, 0, 0.75, 0, 0.25]
    assert env.step(0)[0].tolist() == [1, 0, 1, 0, 0.25, 0.75, 0.5]
    assert env.step(1)[0].tolist() == [0, 1, 1, 0, 0.5, 0.25, 0.75]


def test_the_module_is_an_attribute_of_the_package() -> None:
    import subprocess
    import sys

    code = "import calibandit as cb; print(cb.gym.GameEnv.__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "GameEnv\n"
    hidden = f"import sys; sys.modules['gymnasium'] = None; {code}"
    missing = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True).stderr
    assert "ImportError: calibandit.gym needs Gymnasium: pip install 'gymnasium>=1.0'" in missing


def test_wrong_games_are_rejected() -> None:
    with pytest.raises(TypeError, match="`game`") as caught:
        cbgym.GameEnv(3)  # type: ignore[arg-type]
    assert isinstance(caught.value, cb.CalibanditError)
    with pytest.raises(cb.SpecError, match="leave out memory"):
        cbgym.GameEnv(cb.Game(ARMS), memory=3)


def test_the_former_name_of_the_first_argument_warns() -> None:
    with pytest.warns(DeprecationWarning, match="`kind` is now called `game`"):
        assert cbgym.GameEnv(kind="step", arms=3).arms == 3
