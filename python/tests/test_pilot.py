"""Plans of pilots, and the policy that is one."""

from __future__ import annotations

from collections import Counter

import pytest

import calibandit as cb


def test_every_arm_gets_the_same_plays_in_separate_runs() -> None:
    plan = cb.pilot(["a", "b", "c"], longest=12, sd=0.2, drop=0.2)
    plays: Counter[str] = Counter()
    for arm, count in plan.runs:
        plays[arm] += count
    assert dict(plays) == dict.fromkeys("abc", plan.plays_per_arm)
    assert plan.plays == 3 * plan.plays_per_arm
    assert all(one[0] != other[0] for one, other in zip(plan.runs, plan.runs[1:], strict=False))
    assert "no arm remembers more than 12 plays" in plan.answers
    assert cb.pilot(["a", "b", "c"], longest=12, sd=0.2, drop=0.2) == plan
    assert cb.pilot(["a", "b", "c"], longest=12, sd=0.2, drop=0.2, seed=2).runs != plan.runs


def test_arms_can_be_a_number_and_nothing_need_be_believed() -> None:
    plan = cb.pilot(2, 10, believe="nothing", drop=0.5)
    assert {arm for arm, _ in plan.runs} == {0, 1}
    assert {plays for _, plays in plan.runs} == {15}
    assert "Nothing else is assumed" in plan.answers


def test_a_plan_is_shown_as_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    plan = cb.pilot(["a", "<b>"], longest=4, sd=0.1, drop=0.2)
    frame = plan.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["arm", "plays"]
    assert frame["plays"].sum() == plan.plays
    assert "&lt;b&gt;" in plan._repr_html_() and "more runs" in plan._repr_html_()
    assert repr(plan).startswith(f"<PilotPlan of {plan.plays} plays")


@pytest.mark.parametrize(
    ("arguments", "options", "part"),
    [
        ((["a"], 8), {}, "at least two arms"),
        ((["a", "b", "a"], 8), {}, "'a' twice"),
        ((["a", "b"], 0), {}, "`longest` is 0"),
        ((["a", "b"], 8), {"drop": 0.0}, "`drop` of a pilot must be a positive number, but is 0"),
        ((["a", "b"], 8), {"sd": float("nan")}, "`sd` of a pilot must be a positive number, but is NaN"),
        ((["a", "b"], 8), {"believe": "talying"}, "Did you mean 'tallying'?"),
        ((["a", "b"], 8), {"drop": 1e-9}, "a larger difference worth finding"),
    ],
)
def test_impossible_plans_are_refused(arguments: tuple[object, int], options: dict[str, object], part: str) -> None:
    with pytest.raises(cb.SpecError) as refused:
        cb.pilot(*arguments, **options)  # type: ignore[arg-type]
    assert part in str(refused.value)


def test_the_policy_finds_the_memory_and_then_the_best_arm() -> None:
    game = cb.Game(arms=[cb.Arm(memory=6, loss=[0.8] * 5 + [loss]) for loss in (0.4, 0.2, 0.5)])
    result = cb.simulate(game, [cb.policies.pilot(longest=32)], horizon=100_000, instances=5)
    assert result.summary()[0]["mean"] < 3_000
