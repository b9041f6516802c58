"""Truth values: Python counts them among the integers, but a setting that is one is a mistake."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import calibandit as cb

GAME = cb.games.step()
LOG = {"arm": ["a", "b"] * 40, "ms": [0.1, 0.4] * 40}

# Each function gives a truth value to the argument of that name.
SETTINGS: dict[str, Callable[[Any], object]] = {
    "horizon": lambda value: cb.simulate(GAME, "ucb1", horizon=value),
    "instances": lambda value: cb.simulate(GAME, "ucb1", 10, instances=value),
    "seed": lambda value: cb.simulate(GAME, "ucb1", 10, seed=value),
    "n_jobs": lambda value: cb.simulate(GAME, "ucb1", 10, n_jobs=value),
    "checkpoints": lambda value: cb.simulate(GAME, "ucb1", 10, checkpoints=value),
    "checkpoints[0]": lambda value: cb.simulate(GAME, "ucb1", 10, checkpoints=[value]),
    "memory": lambda value: cb.Arm(memory=value, loss=0.5),
    "weights[0]": lambda value: cb.Arm(weights=[value], loss=0.5),
    "loss": lambda value: cb.Arm(memory=1, loss=value),
    "loss[1]": lambda value: cb.Arm(memory=2, loss=[0.5, value]),
    "loss['constant']": lambda value: cb.Arm(memory=2, loss={"constant": value}),
    "sd": lambda value: cb.Normal(sd=value),
    "concentration": lambda value: cb.Beta(concentration=value),
    "instance": lambda value: GAME.draw(instance=value),
    "sequence[0]": lambda value: GAME.play([value]),
    "arms": lambda value: cb.Advisor("ucb1", value),
    "memory_bound": lambda value: cb.Advisor("calibrated", 2, memory_bound=value),
    "loss_range[0]": lambda value: cb.Advisor("ucb1", 2, loss_range=(value, 2)),
    "decision": lambda value: cb.Advisor("ucb1", 2).tell(value, loss=0.5),
    "delta": lambda value: cb.Advisor("ucb1", 2).confidence(delta=value),
    "overlap": lambda value: cb.LaneAdvisor("ucb1", 2, timeout=None, overlap=value),
    "timeout": lambda value: cb.LaneAdvisor("ucb1", 2, timeout=value, on_timeout="lost"),
    "on_timeout": lambda value: cb.LaneAdvisor("ucb1", 2, timeout=1, on_timeout=value),
    "confidence": lambda value: cb.diagnose(LOG, arm="arm", loss="ms", confidence=value),
    "longest": lambda value: cb.pilot(2, longest=value, sd=0.1, drop=0.2),
    "drop": lambda value: cb.pilot(2, longest=8, sd=0.1, drop=value),
    "arm": lambda value: cb.Run(value),
    "burn_in": lambda value: cb.Run(0, burn_in=value),
    "record": lambda value: cb.Run(0, record=value),
    "plays": lambda value: cb.Feedback(value, 0.0, 0.0),
}


@pytest.mark.parametrize("value", [True, np.True_])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_a_truth_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(cb.ArgumentTypeError) as caught:
        SETTINGS[name](value)
    assert f"`{name}` must be a" in str(caught.value) and repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [True, np.True_])
def test_a_parameter_of_a_policy_or_game_that_is_a_truth_value_is_refused_by_name(value: Any) -> None:
    with pytest.raises(cb.CalibanditError, match="memory_bound"):
        cb.policies.calibrated(memory_bound=value)
    with pytest.raises(cb.CalibanditError, match="memory"):
        cb.games.step(memory=value)


@pytest.mark.parametrize("value", [True, np.True_])
def test_the_arm_of_a_play_is_no_truth_value(value: Any) -> None:
    with pytest.raises(cb.ArgumentTypeError, match="`arm` must be the index or the name of an arm"):
        GAME.session().step(value)


@pytest.mark.parametrize("clicked", [True, np.True_, np.array(True)])
def test_an_outcome_may_be_a_truth_value(clicked: Any) -> None:
    plain, given = (cb.Advisor("ucb1", 2, warm_start={0: [past, 0.5], 1: [0.5]}) for past in (1.0, clicked))
    plain.tell(plain.ask(), reward=1.0)
    given.tell(given.ask(), reward=clicked)
    assert given.to_json() == plain.to_json()
    lanes = cb.LaneAdvisor("ucb1", 2, timeout=None)
    lanes.tell(lanes.ask("ann", now=0), loss=clicked, now=1)
    assert sum(lanes.state()["measured"]) == 1


@pytest.mark.parametrize("horizon", [1e3, np.float32(1e3), np.float64(1e3), np.int16(1000)])
def test_a_whole_number_may_have_any_type_of_number(horizon: Any) -> None:
    assert cb.simulate(GAME, "ucb1", horizon, instances=1)["t"][-1] == 1000
