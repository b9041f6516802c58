"""What an advisor says about itself: state, confidence, explanations, warm start, monitor, horizon."""

from __future__ import annotations

import math
import pickle
import random
from pathlib import Path

import pytest

import calibandit as cb

ARMS = ["ada", "bo", "cleo"]
MEANS = {"ada": 0.6, "bo": 0.2, "cleo": 0.5}


def advisor(**more: object) -> cb.Advisor:
    return cb.Advisor("calibrated", ARMS, memory_bound=4, **more)  # type: ignore[arg-type]


def play(adviser: cb.Advisor, plays: int) -> dict[cb.Decision, float]:
    """Play with losses of 0 and 1, all told; return those that counted."""
    draws = random.Random(3)
    counted = {}
    for _ in range(plays):
        decision = adviser.ask()
        loss = float(draws.random() < MEANS[str(decision.arm)])
        if adviser.tell(decision, loss=loss):
            counted[decision] = loss
    return counted


def test_the_state_is_a_table_of_the_losses_that_count() -> None:
    adviser = advisor(horizon=5000)
    counted = play(adviser, 1000)
    state = adviser.state()
    assert state.columns == (
        *("arm", "plays", "measured", "mean", "low", "high"),
        *("evidence", "threshold", "status"),
    )
    for row in state.to_pandas().to_dict("records"):
        losses = [loss for decision, loss in counted.items() if decision.arm == row["arm"]]
        assert row["plays"] == adviser.plays[row["arm"]]
        assert row["measured"] == len(losses)
        assert row["mean"] == pytest.approx(sum(losses) / len(losses))
        assert row["low"] < MEANS[row["arm"]] < row["high"]
    assert state.recommended == "bo" == adviser.recommend()
    assert 0 <= state.gap < 0.3 and state.delta == 0.05 and state.assumption == "bounded"
    assert (state.decisions, state.horizon, state.beyond_horizon) == (1000, 5000, False)
    assert not state.monitor.alarm and state.monitor.memory_bound == 4


def test_the_state_is_read_by_other_tools() -> None:
    adviser = advisor()
    play(adviser, 300)
    state = adviser.state()
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(state).num_rows == 3
    assert state.to_polars()["plays"].sum() == 300
    assert state["measured"].dtype.kind == "i"
    assert state.to_pandas()["arm"].tolist() == ARMS


def test_the_state_is_shown_as_text_and_in_notebooks() -> None:
    adviser = cb.Advisor("calibrated", ["<b>", "bo"], memory_bound=4)
    text = repr(adviser.state())
    assert text.splitlines()[0].split() == list(adviser.state().columns)
    assert "unopened" in text and "of the best arm" in text and "monitor:" in text
    for shown in (adviser.state()._repr_html_(), adviser._repr_html_(), adviser.confidence()._repr_html_()):
        assert "<table" in shown and "&lt;b&gt;" in shown and "<b>" not in shown and "nan" not in shown


def test_confidence_and_certificate() -> None:
    adviser = advisor(horizon=20_000)
    assert adviser.certificate() is None
    play(adviser, 5000)
    sure = adviser.confidence()
    assert list(sure.intervals) == ARMS
    assert all(low < MEANS[arm] < high for arm, (low, high) in sure.intervals.items() if isinstance(arm, str))
    assert sure.recommended == "bo" and 0 <= sure.gap < 0.1 and "bo" in sure.possible
    others = min(low for arm, (low, _) in sure.intervals.items() if arm != "bo")
    assert sure.gap == pytest.approx(max(0.0, sure.intervals["bo"][1] - others))
    assert str(sure) == f"with 95 %, bo is within {sure.gap:.3f} of the best arm"
    certificate = adviser.certificate()
    assert certificate is not None and certificate.arms == sure.possible and certificate.gap >= sure.gap
    assert adviser.confidence(0.001).intervals["bo"][1] > sure.intervals["bo"][1]
    for delta in (0, 1, -1, math.nan):
        with pytest.raises(cb.CalibanditError, match="delta"):
            adviser.confidence(delta)
    nothing = cb.Advisor("ucb1", 2, loss_range=(-math.inf, math.inf)).confidence()
    assert nothing.intervals[0] == (-math.inf, math.inf) and nothing.gap == math.inf
    assert nothing.assumption == "normal" and "nothing is certain" in str(nothing)


def test_decisions_are_explained() -> None:
    adviser = cb.Advisor("calibrated", ["A", "B"], memory_bound=10, horizon=100_000)
    first = adviser.ask()
    why = adviser.explain(first)
    assert (why.play, why.of, why.reason, why.phase) == (1, 9, "opening", "burn-in")
    while adviser.ask().arm == "A":
        for id in adviser.outstanding:
            adviser.tell(id, loss=0.9)
    why = adviser.explain(adviser.decisions - 1)
    assert why.switched_from == "A" and why.arm == "B"
    assert str(why).startswith("burn-in play 1 of 9 after a switch from A to B: its loss does not count")
    with pytest.raises(cb.UnknownNameError, match="was never made"):
        adviser.explain(10_000)
    reasons = set()
    adviser = advisor(horizon=100_000)
    draws = random.Random(1)
    for _ in range(3000):
        task = adviser.ask()
        found = adviser.explain(task)
        reasons.add(found.reason)
        if found.reason == "challenge":
            assert found.evidence is not None and found.threshold is not None and found.leader != task.arm
            assert f"evidence {found.evidence:.1f} of {found.threshold:.1f}" in found.text
        adviser.tell(task, loss=float(draws.random() < 0.5))
    assert {"opening", "leading", "challenge"} <= reasons
    restored = pickle.loads(pickle.dumps(adviser))
    with pytest.raises(cb.UnknownNameError, match="no longer be explained"):
        restored.explain(0)


def test_tell_says_whether_the_loss_counted_and_the_horizon_is_announced() -> None:
    adviser = advisor(horizon=200)
    decisions = []
    for _ in range(200):
        decision = adviser.ask()
        decisions.append(decision)
        assert adviser.tell(decision, loss=0.5) is decision.measured
    assert not any(decision.beyond_horizon for decision in decisions)
    with pytest.warns(cb.HorizonWarning):
        assert adviser.ask().beyond_horizon
    assert adviser.state().beyond_horizon and "horizon" in repr(adviser.state())
    assert "beyond" not in repr(decisions[0])


def test_a_reward_out_of_range_is_reported_as_a_reward() -> None:
    adviser = cb.Advisor("ucb1", 2, loss_range=(0, 100))
    with pytest.raises(cb.TellError, match="the reward 120 of decision 0"):
        adviser.tell(adviser.ask(), reward=120)


def test_a_warm_start_from_past_losses() -> None:
    past = {"ada": [0.6] * 50, "bo": cb.Feedback(50, 10.0, 4.0)}
    adviser = advisor(warm_start=past)
    state = adviser.state()
    assert state["measured"].tolist() == [50, 50, 0]
    assert state["mean"].tolist()[:2] == pytest.approx([0.6, 0.2])
    assert adviser.ask().arm == "cleo"
    play(adviser, 400)
    restored = pickle.loads(pickle.dumps(adviser))
    assert restored.to_json() == adviser.to_json()
    assert repr(restored.state()) == repr(adviser.state())
    for wrong, error in (
        ({"zoe": [0.5]}, cb.UnknownNameError),
        ({"ada": [1.5]}, cb.SpecError),
        ({"ada": ["x"]}, cb.ArgumentTypeError),
        ([0.5], cb.ArgumentTypeError),
        ({"ada": cb.Feedback(2, 5.0, 5.0)}, cb.SpecError),
    ):
        with pytest.raises(error):
            advisor(warm_start=wrong)
    with pytest.raises(cb.SpecError, match="keeps no means"):
        cb.Advisor("exp3", 2, horizon=100, warm_start={0: [0.5]})


def test_the_monitor_finds_a_bound_that_is_too_small(tmp_path: Path) -> None:
    """The memory is 8. With the probe, M = 8 gives no alarm and M = 4 does."""
    for bound, alarm in ((8, False), (4, True)):
        adviser = cb.Advisor("calibrated", ARMS, memory_bound=bound, probe=True, horizon=5000)
        draws = random.Random(5)
        row, last = 0, None
        for _ in range(1500):
            task = adviser.ask()
            row, last = (row + 1 if task.arm == last else 1), task.arm
            mean = MEANS[str(task.arm)] + (0.35 if row < 8 else 0.0)
            adviser.tell(task, loss=mean + 0.05 * draws.random())
        verdict = adviser.monitor
        assert verdict.alarm is alarm and verdict.probe and verdict.runs >= 3
        assert verdict.false_alarms == 0.05
        assert ("looks too small" in repr(adviser.state())) is alarm
        adviser.save(tmp_path / "a.json")
        assert cb.Advisor.load(tmp_path / "a.json").monitor == verdict
    with pytest.raises(cb.SpecError, match="probe"):
        cb.Advisor("ucb1", 2, probe=True)


class Alternating(cb.Policy):
    """A policy of a user."""

    def __init__(self) -> None:
        self.turn = 0

    def next_run(self) -> cb.Run:
        self.turn += 1
        return cb.Run(self.turn % 2, burn_in=1, record=4)

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        pass

    def recommend(self) -> int:
        return 1


def test_policies_of_users_have_a_state_too() -> None:
    adviser = cb.Advisor(lambda arms, horizon, seed: Alternating(), ["x", "y"])
    for _ in range(100):
        task = adviser.ask()
        adviser.tell(task, loss=0.1 if task.arm == "y" else 0.4)
    state = adviser.state()
    assert state["measured"].tolist() == [40, 40] and state.recommended == "y"
    assert state.to_pandas()["status"].tolist()[1] in ("leading", "warming")
    assert adviser.explain(99).reason == "unstated"
    with pytest.raises(cb.SpecError, match="keeps no means"):
        cb.Advisor(lambda arms, horizon, seed: Alternating(), 2, warm_start={0: [0.5], 1: [0.5]})
