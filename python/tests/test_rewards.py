"""Games that are stated in rewards, and results in rewards."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import calibandit as cb


def shops() -> cb.Game:
    arms = [
        cb.Arm(memory="all", reward={"ramp": {"start": 2, "end": 18, "plays": 50}}, feedback=cb.Normal(sd=2)),
        cb.Arm(memory="all", reward=10, feedback=cb.Normal(sd=2)),
    ]
    return cb.Game(arms, rewards=(0, 20))


def test_rewards_are_converted_to_losses() -> None:
    game = shops()
    assert game.play([0] * 60)[[0, 24, 59]].tolist() == pytest.approx([(20 - 2.32) / 20, 0.5, 0.1])
    assert game.play([1]).tolist() == [0.5]
    assert game.spec is not None
    assert game.spec["rewards"] == [0, 20] and game.spec["arm"][1]["reward"] == {"constant": 10.0}
    assert game.draw().arms[0].feedback == cb.Normal(sd=0.1)
    assert cb.Game.from_spec(game.spec) == game == pickle.loads(pickle.dumps(game))
    assert "rewards=(0.0, 20.0)" in repr(game) and "reward=10.0" in repr(game)
    assert "reward 10" in game._repr_html_()


def test_functions_of_rewards() -> None:
    def reward(tally: float) -> float:
        return 4 * tally - 6

    arms = [cb.Arm(memory=3, reward=reward, trend="increasing"), cb.Arm(memory=3, loss=0.5)]
    game = cb.Game(arms, rewards=(-10, 10), title="a function")
    assert game.play([0, 0, 0]).tolist() == pytest.approx([0.6, 0.4, 0.2])
    result = cb.simulate(game, ["ucb1"], horizon=200, instances=2, checkpoints=1)
    assert result.in_rewards()["cpr"].tolist() == pytest.approx((20 * result["cpr"]).tolist())
    with pytest.raises(cb.GameError, match="rewards"):
        cb.Game(arms)


def test_results_in_rewards() -> None:
    result = cb.simulate(shops(), ["heidari", "ucb1"], horizon=1000, instances=3, checkpoints=4)
    rewards = result.in_rewards()
    assert "reward" in rewards.columns and "loss" not in rewards.columns
    assert rewards["reward"].tolist() == pytest.approx((20 * result["t"] - 20 * result["loss"]).tolist())
    assert rewards["cpr"].tolist() == pytest.approx((20 * result["cpr"]).tolist())
    ends = {row["policy"]: row["mean"] for row in result.summary()}
    assert {row["policy"]: row["mean"] / 20 for row in rewards.summary()} == pytest.approx(ends)
    assert pickle.loads(pickle.dumps(rewards)) == rewards != result
    # The best of 1,000 plays is one arm: the ramp, with 2 + 16 n / 50 up to play 50 and 18 from there on.
    best = sum(min(18, 2 + 16 * n / 50) for n in range(1, 1001))
    at_end = rewards["t"] == 1000
    assert np.allclose((rewards["reward"] + rewards["cpr"])[at_end], best)


def test_figures_have_the_unit_of_the_results() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    result = cb.simulate(shops(), ["ucb1"], horizon=100, instances=2, checkpoints=4)
    assert result.plot().get_ylabel() == "CPR"
    assert result.in_rewards().plot().get_ylabel() == "CPR, in rewards"
    assert result.in_rewards().plot(column="reward").get_ylabel() == "expected reward"
    with pytest.raises(cb.UnknownNameError, match="use cpr, reward or switches"):
        result.in_rewards().plot(column="loss")


def test_the_sign_is_never_guessed() -> None:
    with pytest.raises(cb.SpecError, match="not both"):
        cb.Arm(memory=1, loss=0.5, reward=0.5)
    with pytest.raises(cb.SpecError, match="rewards"):
        cb.Game([cb.Arm(memory=1, reward=0.5)])
    with pytest.raises(cb.SpecError, match="rewards"):
        cb.Game([cb.Arm(memory=1, reward=0.5)], rewards=(1, 0))
    with pytest.raises(cb.ArgumentTypeError, match="two numbers"):
        cb.Game([cb.Arm(memory=1, reward=0.5)], rewards=(1, 0, 2))  # type: ignore[arg-type]
    with pytest.raises(cb.SpecError, match=r"\[0, 1\]"):
        cb.Game([cb.Arm(memory=1, reward=3)], rewards=(0, 2))
    with pytest.raises(cb.SpecError, match="stated in losses"):
        cb.simulate(cb.games.step(), ["ucb1"], horizon=10).in_rewards()
    steps = {"steps": [{"from": 1, "loss": 0.2}]}
    with pytest.raises(cb.SpecError, match="`reward`"):
        cb.Game([cb.Arm(memory="all", reward=steps)], rewards=(0, 1))
