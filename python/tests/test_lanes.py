"""Lane advisors: names, outcomes, time, exceptions, threads, and live simulation."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

import calibandit as cb


def advisor(**arguments: Any) -> cb.LaneAdvisor:
    chosen: dict[str, Any] = {"memory_bound": 3, "timeout": None, "seed": 5, **arguments}
    return cb.LaneAdvisor("calibrated", ["ada", "bo", "cy"], **chosen)


def play(lanes: cb.LaneAdvisor, names: list[Any], rounds: int, losses: dict[str, float], seed: int = 1) -> None:
    draw = random.Random(seed)
    for now in range(rounds):
        for name in names:
            decision = lanes.ask(name, now=now)
            mean = losses[str(decision.arm)] if decision.position >= 3 else 0.9
            lanes.tell(decision, loss=float(draw.random() < mean), now=now)


def test_the_best_arm_is_found_on_many_lanes_named_by_anything() -> None:
    lanes = advisor()
    names: list[Any] = ["user-1", 7, ("pool", 2), 3.5]
    play(lanes, names, 1500, {"ada": 0.6, "bo": 0.2, "cy": 0.7})
    assert lanes.recommend() == "bo"
    assert lanes.lanes == names
    assert lanes.decisions == 6000 == sum(lanes.plays.values())
    state = lanes.state()
    assert (state.lanes, state.decisions, state.recommended) == (4, 6000, "bo")
    assert state.counts.told == 6000 == state.counts.warm_up + state.counts.measured + state.counts.filler
    assert state["measured"].sum() + state["banked"].sum() <= 6000
    table = dict(zip(state["arm"], state["mean"]))
    assert abs(table["bo"] - 0.2) < 0.05
    assert "recommended: bo" in repr(state) and "bo" in state._repr_html_()
    assert "4 lanes" in repr(lanes) and "LaneAdvisor" in lanes._repr_html_()
    with pytest.raises(TypeError):
        lanes.ask([1])  # type: ignore[arg-type]


def test_positions_count_the_plays_of_a_lane_in_a_row() -> None:
    lanes = advisor(many=False)
    found = [lanes.ask(now=second) for second in range(4)]
    assert [one.position for one in found] == [1, 2, 3, 4]
    assert [one.phase for one in found[:3]] == ["warm-up", "warm-up", "measured"]
    assert found[0].asked_at == 0.0 and found[0].expires_at is None
    with pytest.raises(cb.SpecError, match="one lane"):
        lanes.ask("another", now=5)
    assert lanes.lanes == [0]


def test_rewards_are_converted_and_checked() -> None:
    lanes = advisor(many=False, loss_range=(0, 10))
    for second in range(3):
        last = lanes.ask(now=second)
    recorded = lanes.tell(last, reward=7, now=3)
    assert recorded and recorded.counted == "run" and recorded.first
    state = lanes.state()
    assert lanes.current_run is not None and state.counts.told == 1
    with pytest.raises(cb.TellError, match="the reward 11"):
        lanes.tell(lanes.ask(now=4), reward=11)
    with pytest.raises(cb.ArgumentTypeError, match="one of"):
        lanes.tell(last)
    with pytest.raises(cb.ArgumentTypeError, match="not both"):
        lanes.tell(last, loss=1, reward=1)


def test_a_loss_is_told_once() -> None:
    lanes = advisor()
    decision = lanes.ask("a", now=0)
    assert lanes.tell(decision, loss=0.5, now=1).first
    again = lanes.tell(decision, loss=0.5, now=2)
    assert not again.first and not again
    with pytest.raises(cb.AlreadySettledError, match=r"the loss 0\.5"):
        lanes.tell(decision, loss=0.25, now=3)
    with pytest.raises(cb.UnknownDecisionError, match="never made"):
        lanes.tell(99, loss=0.5, now=3)
    with pytest.raises(cb.UnknownNameError):
        lanes.tell(-1, loss=0.5, now=3)
    with pytest.raises(cb.TellError, match="does not lie in"):
        lanes.tell(lanes.ask("a", now=4), loss=2.0, now=4)


def test_every_outcome_is_counted() -> None:
    lanes = advisor()
    ids = [lanes.ask(name, now=0) for name in "abcdef"]
    assert lanes.done(ids[0], now=1).counted == "warm-up"
    assert lanes.forget(ids[1], now=1).counted == "warm-up"
    assert lanes.not_played(ids[2], now=1).counted == "not"
    other = next(arm for arm in lanes.arms if arm != ids[3].arm)
    lanes.overridden(ids[3], other, loss=0.5, now=1)
    assert lanes.lane("d").arm == other and lanes.lane("d").streak == 1
    assert lanes.lane("c").streak == 0
    lanes.play("g", "cy", loss=0.5, now=1)
    lanes.reset("a", now=2)
    lanes.reset("never asked", now=2)
    lanes.reset(now=2)
    counts = lanes.state().counts
    assert (counts.done, counts.lost, counts.not_played, counts.overridden) == (1, 1, 1, 1)
    assert (counts.unadvised, counts.resets, counts.told) == (1, 2, 0)
    assert lanes.lane("g").streak == 0
    with pytest.raises(cb.UnknownNameError, match="'dee'"):
        lanes.overridden(ids[4], "dee")


def test_decisions_expire_by_the_rule_that_was_chosen() -> None:
    for on_timeout, told in [("lost", False), (1.0, True)]:
        lanes = advisor(many=False, timeout=10, on_timeout=on_timeout)
        for second in range(3):
            last = lanes.ask(now=second)
        assert last.expires_at == 12.0 and last.measured
        lanes.tick(now=13)
        assert lanes.state().counts.expired == 3 and lanes.outstanding == []
        assert lanes.tell(last, loss=0.0, now=14).counted == "late"
        run = lanes.current_run
        assert run is not None
        assert lanes.lane(0).streak == (3 if told else 2)


def test_a_lane_is_cold_after_an_idle_time() -> None:
    lanes = advisor(reset_after=60)
    assert [lanes.ask("a", now=now).position for now in (0, 30, 90, 151)] == [1, 2, 3, 1]
    assert lanes.state().counts.idle_resets == 1


def test_time_is_that_of_the_clock_by_default() -> None:
    import time

    lanes = advisor()
    before = time.time()
    asked = lanes.ask("a").asked_at
    assert before - 0.01 <= asked <= time.time() + 0.01
    assert lanes.ask("b", now=5).asked_at >= asked  # time never goes back
    with pytest.raises(cb.SpecError, match="not negative"):
        lanes.ask("a", now=-1)


def test_overlap_needs_reports_and_a_longer_burn_in() -> None:
    lanes = advisor(overlap=2)
    assert lanes.burn_in == 2 + 2
    lane = lanes.lane("a")
    first, second = lane.ask(now=0), lane.ask(now=0)
    with pytest.raises(cb.LaneBusyError, match="2 plays under way") as raised:
        lane.ask(now=1)
    assert raised.value.outstanding == [first.id, second.id]
    assert isinstance(raised.value, cb.WaitingError)
    lane.done(first, now=1)
    assert lane.ask(now=2).position == 3


def test_a_repeated_request_gets_the_same_decision() -> None:
    lanes = advisor()
    first = lanes.ask("a", now=0, after=None)
    again = lanes.ask("a", now=1, after=None)
    assert again.id == first.id and again.redelivered and not first.redelivered
    second = lanes.ask("a", now=2, after=first)
    assert second.id == first.id + 1
    with pytest.raises(cb.UnknownDecisionError):
        lanes.ask("a", now=3, after=99)


def test_arms_that_are_not_available_are_not_advised() -> None:
    lanes = advisor()
    assert {lanes.ask("a", now=now, available=["cy"]).arm for now in range(5)} == {"cy"}
    with pytest.raises(cb.UnknownNameError, match="'dee'"):
        lanes.ask("a", available=["dee"])
    with pytest.raises(cb.SpecError, match="available"):
        lanes.ask("a", available=[])


def test_waiting_is_an_exception_only_if_it_was_asked_for() -> None:
    lanes = advisor(many=False, filler="wait")
    with pytest.raises(cb.WaitingError) as raised:
        for _ in range(1000):
            lanes.ask(now=0)
    assert raised.value.outstanding
    stays = advisor(many=False)
    arms = {stays.ask(now=0).arm for _ in range(1000)}
    assert len(arms) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"timeout": 5}, cb.SpecError, "needs `on_timeout`"),
        ({"on_timeout": 1.0}, cb.SpecError, "without `timeout`"),
        ({"timeout": 0, "on_timeout": "lost"}, cb.SpecError, "at least 0.001"),
        ({"timeout": 5, "on_timeout": "drop"}, cb.SpecError, "lost"),
        ({"timeout": 5, "on_timeout": 2.0}, cb.CalibanditError, "does not lie in"),
        ({"overlap": 0}, cb.SpecError, "`overlap` is 0"),
        ({"filler": "sleep"}, cb.SpecError, "stay"),
        ({"explorers": 0}, cb.SpecError, "`explorers` is 0"),
        ({"reset_after": float("nan")}, cb.SpecError, "seconds"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        advisor(**arguments)


def test_policies_that_need_their_own_draws_are_refused_with_the_reason() -> None:
    with pytest.raises(cb.PolicyError, match="probability of its own draw"):
        cb.LaneAdvisor("exp3", 3, timeout=None, horizon=100)
    cb.LaneAdvisor("exp3", 3, timeout=None, horizon=100, many=False, filler="wait")


class Fixed(cb.Policy):
    """Measures the arms in turn, eight losses each."""

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.arms, self.turn = arms, 0

    def next_run(self) -> cb.Run:
        return cb.Run(arm=self.turn % self.arms, burn_in=0, record=8)

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        self.turn += 1

    def recommend(self) -> int:
        return 0


def test_policies_written_in_python_get_calibrated_losses_only() -> None:
    lanes = cb.LaneAdvisor(Fixed(), 3, timeout=None, memory_bound=4)
    for now in range(200):
        for name in "abc":
            decision = lanes.ask(name, now=now)
            lanes.tell(decision, loss=1.0 if decision.position < 4 else 0.25, now=now)
    means = lanes.state()["mean"]
    assert set(means[means == means]) == {0.25}


def test_an_exception_of_a_policy_is_passed_on() -> None:
    class Broken(Fixed):
        def next_run(self) -> cb.Run:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cb.LaneAdvisor(Broken(), 3, timeout=None).ask("a")


def test_threads_may_share_an_advisor() -> None:
    lanes = advisor()
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            lane = lanes.lane(name)
            for second in range(300):
                lane.ask(now=second)
                lane.tell(loss=0.5, now=second)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert lanes.decisions == 1800 and lanes.outstanding == [] and len(lanes.lanes) == 6


def test_the_horizon_warns_once() -> None:
    lanes = advisor(many=False, horizon=40)
    for _ in range(40):
        lanes.tell(lanes.ask(now=0), loss=0.5, now=0)
    with pytest.warns(cb.HorizonWarning, match="beyond the horizon of 40"):
        assert lanes.ask(now=0).beyond_horizon
    assert lanes.ask(now=0).beyond_horizon


def test_a_lane_tells_its_newest_decision() -> None:
    lane = advisor().lane("a")
    with pytest.raises(cb.UnknownDecisionError, match="ask first"):
        lane.tell(loss=0.5)
    lane.ask(now=0)
    assert lane.tell(reward=0.5, now=0).first
    lane.ask(now=1)
    lane.forget(now=1)
    lane.ask(now=2)
    lane.not_played(now=2)
    assert lane.streak == 2 and lane.arm is not None and "2 plays" in repr(lane)
    lane.reset(now=3)
    assert lane.streak == 0 and lane.arm is None


def test_a_live_simulation_is_that_of_an_experiment() -> None:
    live = {"lanes": 5, "delay": 3, "delay_law": "geometric", "lost": 0.1}
    game, policy = cb.games.step(arms=3, memory=3), cb.policies.calibrated(memory_bound=3)
    result = cb.simulate(game, policy, 2000, instances=4, live=live, checkpoints=3, name="x")
    assert result.spec["live"]["lanes"] == 5 and result.spec["live"]["filler"] == "stay"
    spec = {
        "name": "x",
        "horizon": 2000,
        "instances": 4,
        "checkpoints": {"points": 3},
        "game": {"kind": "step", "arms": 3, "memory": 3},
        "policy": [{"kind": "calibrated", "memory_bound": 3}],
        "live": live,
    }
    same = cb.run(spec)
    assert result["cpr"].tolist() == same["cpr"].tolist()
    plain = cb.simulate(game, policy, 2000, instances=4, checkpoints=3, name="x")
    assert plain["cpr"].tolist() != result["cpr"].tolist() and "live" not in plain.spec
    swept = cb.run({**spec, "sweep": {"live.lanes": [1, 4]}})
    assert set(swept["live.lanes"]) == {1, 4}


def test_live_simulations_refuse_what_cannot_be_simulated() -> None:
    with pytest.raises(cb.SpecError, match="lanes"):
        cb.simulate("step", "ucb1", 100, live={"lanse": 3})
    with pytest.raises(cb.SpecError, match="probability of its own draw"):
        cb.simulate("step", "exp3", 100, live={"lanes": 3})
    with pytest.raises(cb.ArgumentTypeError, match="table"):
        cb.simulate("step", "ucb1", 100, live=3)  # type: ignore[arg-type]


def test_policies_written_in_python_are_simulated_on_lanes() -> None:
    result = cb.simulate("step", Fixed(), 900, instances=2, live={"lanes": 3, "memory_bound": 3}, checkpoints=1)
    assert (result["cpr"] > 0).all() and result.spec["live"]["lanes"] == 3
