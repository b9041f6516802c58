"""Policies written in Python: same bits as equal built-in ones, exceptions, labels, threads."""

from __future__ import annotations

import math
import random
import threading
import traceback

import pytest

import calibandit as cb


class EpochUcb(cb.Policy):
    """The epoch UCB, written again: epochs of M plays, the index mean - sqrt(c ln(epochs) / n)."""

    def __init__(self, memory_bound: int, exploration: float = 2.0) -> None:
        self.memory_bound, self.exploration = memory_bound, exploration

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.sums, self.counts, self.epochs = [0.0] * arms, [0] * arms, 0

    def next_run(self) -> cb.Run:
        return cb.Run(self.choice(), burn_in=self.memory_bound - 1, record=1)

    def choice(self) -> int:
        if 0 in self.counts:
            return self.counts.index(0)
        log = self.exploration * math.log(self.epochs)
        index = [s / n - math.sqrt(log / n) for s, n in zip(self.sums, self.counts)]
        return index.index(min(index))

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        self.sums[run.arm] += feedback.sum
        self.counts[run.arm] += 1
        self.epochs += 1


class ExploreThenCommit(cb.Policy):
    def __init__(self, memory_bound: int, explore: int) -> None:
        self.memory_bound, self.explore = memory_bound, explore

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.arms, self.means = arms, list[float]()

    def next_run(self) -> cb.Run:
        if len(self.means) < self.arms:
            return cb.Run(len(self.means), burn_in=self.memory_bound - 1, record=self.explore)
        return cb.Run.forever(self.recommend())

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        self.means.append(feedback.mean)

    def recommend(self) -> int:
        return self.means.index(min(self.means)) if self.means else 0


class Restless(cb.Policy):
    """Plays at random: only right if every instance has a generator of its own."""

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.arms, self.random = arms, random.Random(seed)

    def next_run(self) -> cb.Run:
        return cb.Run(self.random.randrange(self.arms), record=self.random.randint(1, 20))

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        pass


GAME = cb.games.decay(arms=4, memory=3)


@pytest.mark.parametrize(
    ("own", "built_in"),
    [
        (EpochUcb(3), cb.policies.epoch_ucb(memory_bound=3)),
        (EpochUcb(5, 0.5), cb.policies.epoch_ucb(memory_bound=5, exploration=0.5)),
        (ExploreThenCommit(3, 40), cb.policies.explore_then_commit(memory_bound=3, explore=40)),
    ],
)
def test_a_python_policy_has_the_bits_of_the_built_in_one(own: cb.Policy, built_in: cb.PolicySpec) -> None:
    result = cb.simulate(GAME, [own, built_in], 5000, instances=5)
    for column in ("loss", "cpr", "switches"):
        ours, theirs = result[column].reshape(2, -1)
        assert (ours == theirs).all(), column
    # Beside policies in Python, built-in ones have the numbers that they have alone.
    alone = cb.simulate(GAME, built_in, 5000, instances=5)
    assert (alone["cpr"] == result["cpr"][len(alone) :]).all()


def test_numbers_do_not_depend_on_the_number_of_jobs() -> None:
    def results(jobs: int) -> cb.Result:
        return cb.simulate(GAME, [Restless(), EpochUcb(3), "ucb1"], 2000, instances=9, n_jobs=jobs)

    assert results(1) == results(2) == results(5)
    assert len(set(results(1)["loss"][199:1800:200])) > 1, "instances differ"


def test_the_given_policy_is_not_changed() -> None:
    policy = EpochUcb(3)
    cb.simulate(GAME, policy, 1000, instances=2)
    assert not hasattr(policy, "sums")


def test_policies_are_accepted_in_every_documented_form() -> None:
    def factory(arms: int, horizon: int | None, seed: int) -> cb.Policy:
        made = EpochUcb(3)
        made.reset(arms, horizon, seed)
        return made

    result = cb.simulate(GAME, [EpochUcb(3), factory, Restless], 1000, instances=3)
    assert result.policies == ["EpochUcb", "factory", "Restless"]
    ours, made, _ = result["cpr"].reshape(3, -1)
    assert (ours == made).all()


def test_labels_of_policies() -> None:
    class Named(EpochUcb):
        label = "my own"

    assert cb.simulate(GAME, [Named(3), "ucb1"], 100).policies == ["my own", "UCB1"]
    assert cb.simulate(GAME, [Named(3), "ucb1", "ucb1"], 100).policies == ["my own", "UCB1", "UCB1 #2"]
    with pytest.raises(ValueError, match=r"two policies have the label ['\"]my own"):
        cb.simulate(GAME, [Named(3), Named(3)], 100)


class Bad(Exception):
    pass


class Failing(EpochUcb):
    def __init__(self, where: str) -> None:
        super().__init__(3)
        self.where = where

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        if self.where == "reset":
            raise Bad(self.where)
        super().reset(arms, horizon, seed)

    def next_run(self) -> cb.Run:
        if self.where == "next_run" and self.epochs == 7:
            raise Bad(self.where)
        return super().next_run()

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        super().observe(run, feedback)
        if self.where == "observe" and self.epochs == 10:
            raise Bad(self.where)


@pytest.mark.parametrize("where", ["reset", "next_run", "observe"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_exceptions_of_policies_are_passed_on(where: str, jobs: int) -> None:
    with pytest.raises(Bad) as caught:
        cb.simulate(GAME, [Failing(where), "ucb1"], 1000, n_jobs=jobs)
    assert caught.value.args == (where,)
    assert f"in {where}" in "".join(traceback.format_exception(caught.value)), "with its traceback"


def test_an_exception_in_the_last_call_is_passed_on() -> None:
    # The tenth run ends exactly at the horizon: nothing is asked of the policy after it.
    with pytest.raises(Bad):
        cb.simulate(GAME, Failing("observe"), 30, instances=1)


def test_invalid_runs_are_rejected() -> None:
    class Wrong(EpochUcb):
        def next_run(self) -> cb.Run:
            return (0, 1)  # type: ignore[return-value]

    class Elsewhere(EpochUcb):
        def next_run(self) -> cb.Run:
            return cb.Run(17)

    with pytest.raises(TypeError, match=r"must return a calibandit\.Run, not tuple"):
        cb.simulate(GAME, Wrong(3), 100)
    with pytest.raises(cb.SimulationError, match="the arms are 0 to 3"):
        cb.simulate(GAME, Elsewhere(3), 100)
    with pytest.raises(TypeError, match="not a policy"):
        cb.simulate(GAME, 3, 100)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="abstract"):
        cb.Policy()  # type: ignore[abstract]
    with pytest.raises(ValueError, match="at least one play"):
        cb.Run(0, 0, 0)


def test_a_policy_is_called_from_one_thread_at_a_time() -> None:
    seen: set[int] = set()

    class Watching(EpochUcb):
        def next_run(self) -> cb.Run:
            seen.add(threading.get_ident())
            return super().next_run()

    result = cb.simulate(GAME, Watching(3), 2000, instances=4, n_jobs=2)
    assert result == cb.simulate(GAME, Watching(3), 2000, instances=4, n_jobs=1)
    assert threading.get_ident() not in seen, "the main thread is free for Ctrl-C"
