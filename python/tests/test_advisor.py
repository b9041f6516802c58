"""Advisors: ask and tell, late and out-of-order losses, snapshots."""

from __future__ import annotations

import json
import math
import pickle
import random
import threading
from pathlib import Path

import numpy as np
import pytest

import calibandit as cb

WORKERS = ["worker-1", "worker-2", "worker-3"]


def advisor(**more: object) -> cb.Advisor:
    return cb.Advisor("calibrated", WORKERS, memory_bound=4, **more)  # type: ignore[arg-type]


def loss(arm: int | str, number: int) -> float:
    return ((number * 7919) % 100) / 100 * (0.2 if arm == "worker-2" else 1.0)


def play(adviser: cb.Advisor, plays: int) -> list[int | str]:
    played = []
    for _ in range(plays):
        decision = adviser.ask()
        played.append(decision.arm)
        if decision.measured:
            adviser.tell(decision, loss=loss(decision.arm, decision.id))
    return played


def test_the_recommendation_is_the_best_arm() -> None:
    adviser = advisor()
    play(adviser, 2000)
    assert adviser.recommend() == "worker-2"
    assert sum(adviser.plays.values()) == adviser.decisions == 2000
    assert adviser.plays["worker-2"] > 1500 and adviser.switches > 0
    assert "3 arms, 2000 decisions" in repr(adviser)


@pytest.mark.parametrize("kind", ["calibrated", "exp3", "thompson", "anytime-elimination"])
def test_saving_and_loading_half_way_changes_nothing(kind: str, tmp_path: Path) -> None:
    def fresh() -> cb.Advisor:
        gamma = {"kind": kind, "gamma": 0.1} if kind == "exp3" else kind
        return cb.Advisor(gamma, WORKERS, memory_bound=3, seed=9)

    whole = fresh()
    expected = play(whole, 300)
    for keep in ("file", "pickle", "json"):
        half = fresh()
        first = play(half, 137)
        if keep == "file":
            half.save(tmp_path / "a.json")
            half = cb.Advisor.load(tmp_path / "a.json")
        elif keep == "pickle":
            half = pickle.loads(pickle.dumps(half))
        else:
            half = cb.Advisor.from_json(half.to_json())
        assert first + play(half, 163) == expected
        assert half.arms == WORKERS and half.to_json() == whole.to_json()


def test_losses_may_arrive_late_and_in_any_order() -> None:
    prompt, late = advisor(), advisor()
    shuffled = random.Random(1)
    waiting: list[cb.Decision] = []
    played: list[int | str] = []
    while len(played) < 500:
        try:
            decision = late.ask()
        except cb.WaitingError as error:
            assert set(error.outstanding) <= {other.id for other in waiting}
            shuffled.shuffle(waiting)
            for other in waiting:
                late.tell(other, loss=loss(other.arm, other.id))
            waiting = []
            continue
        played.append(decision.arm)
        if decision.measured:
            waiting.append(decision)
    assert played == play(prompt, 500)


def test_a_forgotten_loss_is_replaced_by_one_more_play() -> None:
    adviser = advisor()
    lost = next(decision for decision in iter(adviser.ask, None) if decision.measured)
    adviser.forget(lost)
    with pytest.raises(cb.AlreadySettledError):
        adviser.tell(lost, loss=0.5)


def test_a_reward_is_converted_to_a_loss() -> None:
    for range_, reward, same in [((0, 1), 0.25, 0.75), ((60, 120), 70, 110), ((-math.inf, math.inf), 3, -3)]:
        told, rewarded = advisor(loss_range=range_), advisor(loss_range=range_)
        for _ in range(30):
            one, other = told.ask(), rewarded.ask()
            if one.measured:
                told.tell(one, loss=same)
                rewarded.tell(other, reward=reward)
        assert told.to_json() == rewarded.to_json()
    with pytest.raises(TypeError, match="by name"):
        advisor().tell(0)
    with pytest.raises(TypeError):
        advisor().tell(0, loss=0.5, reward=0.5)
    with pytest.raises(TypeError):
        advisor().tell(0, 0.5)  # type: ignore[call-arg]


def test_invalid_losses_are_rejected() -> None:
    adviser = advisor()
    decision = adviser.ask()
    for bad in (1.5, -0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="does not lie in"):
            adviser.tell(decision, loss=bad)
    adviser.tell(decision, loss=1)
    with pytest.raises(cb.AlreadySettledError, match="at most once"):
        adviser.tell(decision, loss=1)
    with pytest.raises(KeyError, match="never made"):
        adviser.tell(99, loss=0.5)
    with pytest.raises(KeyError):
        adviser.tell(-1, loss=0.5)
    for arms in (0, [], ["a", "a"]):
        with pytest.raises(ValueError):
            cb.Advisor("thompson", arms)
    with pytest.raises(ValueError, match="memory_bound"):
        cb.Advisor("calibrated", 3)
    with pytest.raises(ValueError, match="horizon"):
        cb.Advisor("successive-elimination", 3, memory_bound=2)
    with pytest.raises(ValueError, match="invalid loss range"):
        cb.Advisor("thompson", 3, loss_range=(1, 0))


def test_invalid_snapshots_are_rejected(tmp_path: Path) -> None:
    good = json.loads(advisor().to_json())
    bad = [
        "",
        "{}",
        "[1]",
        json.dumps({**good, "calibandit_python": 3}),
        json.dumps({**good, "arms": ["a"]}),
        json.dumps({**good, "advisor": {}}),
        json.dumps({**good, "advisor": {**good["advisor"], "calibandit_advisor": 99}}),
    ]
    for text in bad:
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(cb.SnapshotError):
            cb.Advisor.load(tmp_path / "bad.json")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json") as caught:
        cb.Advisor.load(tmp_path / "nowhere.json")
    assert isinstance(caught.value, cb.CalibanditError)
    with pytest.raises(OSError, match=str(tmp_path)) as unreadable:
        cb.Advisor.load(tmp_path)
    assert isinstance(unreadable.value, cb.CalibanditError)


class TryEach(cb.Policy):
    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.arms, self.means, self.broken = arms, list[float](), False

    def next_run(self) -> cb.Run:
        if self.broken:
            raise ConnectionError("try again")
        if len(self.means) < self.arms:
            return cb.Run(len(self.means), burn_in=1, record=3)
        return cb.Run.forever(self.recommend())

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        self.means.append(feedback.mean)

    def recommend(self) -> int:
        return self.means.index(min(self.means))


def test_an_advisor_can_use_a_python_policy() -> None:
    adviser = cb.Advisor(TryEach(), WORKERS)
    first = play(adviser, 6)
    again = pickle.loads(pickle.dumps(adviser))
    assert play(again, 20) == play(adviser, 20)
    assert first[:5] == ["worker-1"] * 4 + ["worker-2"]
    assert adviser.recommend() == again.recommend() == "worker-2"
    with pytest.raises(cb.SnapshotError, match="pickle"):
        adviser.to_json()


def test_an_exception_of_the_policy_is_passed_on_and_asking_continues() -> None:
    adviser = cb.Advisor(TryEach(), WORKERS)
    policy = adviser._core.own_policy
    play(adviser, 4)
    policy.broken = True
    for _ in range(2):
        with pytest.raises(ConnectionError, match="try again"):
            adviser.ask()
    policy.broken = False
    assert adviser.ask().arm == "worker-2" and adviser.decisions == 5
    with pytest.raises(ValueError):
        cb.Advisor(TryEach(), 2).recommend()


def test_several_threads_can_ask_and_tell() -> None:
    adviser = cb.Advisor("thompson", 5)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(300):
                try:
                    decision = adviser.ask()
                except cb.WaitingError:
                    continue
                adviser.tell(decision, loss=0.2 * decision.index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and sum(adviser.plays.values()) == adviser.decisions > 0


def test_telling_returns_whether_the_loss_counts() -> None:
    adviser = advisor()
    for _ in range(40):
        decision = adviser.ask()
        assert adviser.tell(decision, loss=0.5) == (decision.phase == "measured")
    forever = cb.Advisor(TryEach(), ["a"])
    play(forever, 4)
    assert forever.tell(forever.ask(), loss=0.5) is False, "the policy has decided for good"


def test_a_reward_out_of_range_is_reported_as_a_reward() -> None:
    adviser = advisor(loss_range=(0, 100))
    decision = adviser.ask()
    with pytest.raises(cb.TellError, match=r"the reward 120 of decision 0 does not lie in \[0, 100\]"):
        adviser.tell(decision, reward=120)
    with pytest.raises(TypeError, match="`reward` must be a number") as caught:
        adviser.tell(decision, reward="much")  # type: ignore[arg-type]
    assert isinstance(caught.value, cb.CalibanditError)


def test_asking_beyond_the_horizon_warns_once(tmp_path: Path) -> None:
    adviser = cb.Advisor("thompson", 2, horizon=10)
    play(adviser, 9)
    adviser.save(tmp_path / "a.json")
    play(adviser, 1)
    for one in (adviser, cb.Advisor.load(tmp_path / "a.json"), pickle.loads(pickle.dumps(adviser))):
        with pytest.warns(cb.HorizonWarning, match="decision 10 is beyond the horizon of 10 plays") as caught:
            play(one, 12 - one.decisions)
        assert len(caught) == 1


def test_arms_come_from_arrays_and_games() -> None:
    pandas = pytest.importorskip("pandas")
    for names in (np.array(["a", "b"]), pandas.Series(["a", "b"]), pandas.Index(["a", "b"]), ("a", "b")):
        assert cb.Advisor("thompson", names).arms == ["a", "b"]
    assert cb.Advisor("thompson", np.int64(3)).arms == [0, 1, 2]  # type: ignore[arg-type]
    assert cb.Advisor("thompson", np.arange(5, 8)).ask().arm in (5, 6, 7)
    game = cb.Game([cb.Arm(memory=3, loss=0.5, name="ann"), cb.Arm(memory=5, loss=0.4)])
    assert cb.Advisor("calibrated", game, memory_bound=5).arms == ["ann", "1"]
    assert cb.Advisor("thompson", cb.games.step()).arms == [0, 1, 2, 3, 4]
    with pytest.warns(cb.MemoryBoundWarning, match="memory_bound=2, but the memory of the game is 5"):
        cb.Advisor("calibrated", game, memory_bound=2)
    for bad in ("ab", {"a": 1}, None, 2.5, [["a"]]):
        with pytest.raises(TypeError, match="`arms`") as caught:
            cb.Advisor("thompson", bad)  # type: ignore[arg-type]
        assert isinstance(caught.value, cb.CalibanditError)


def test_the_table_of_a_notebook_has_the_arms() -> None:
    adviser = advisor()
    play(adviser, 50)
    page = adviser._repr_html_()
    assert all(name in page for name in WORKERS) and "50 decisions" in page and "playing" in page
    assert "\n" not in repr(adviser)
