"""Games by name, games defined arm by arm, and their computed properties."""

from __future__ import annotations

import inspect
import json
import pickle

import numpy as np
import pytest

import calibandit as cb
from calibandit import _core

GAMES = json.loads(_core.game_kinds())
POLICIES = json.loads(_core.policy_kinds())


def in_python(default: object) -> object:
    """A default of a file as the functions have it: lists are tuples, and tables are left to the library."""
    if isinstance(default, dict):
        return None
    return tuple(default) if isinstance(default, list) else default


@pytest.mark.parametrize("kind", GAMES, ids=lambda kind: kind["name"])
def test_every_game_has_its_function_with_the_defaults_of_files(kind: dict) -> None:  # type: ignore[type-arg]
    function = getattr(cb.games, kind["name"].replace("-", "_"))
    assert function.__name__ in cb.games.__all__
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [parameter["name"] for parameter in kind["parameters"]]
    for parameter in kind["parameters"]:
        default = parameters[parameter["name"]].default
        expected = inspect.Parameter.empty if parameter["required"] else in_python(parameter["default"])
        assert default == expected, parameter["name"]
        assert f"``{parameter['name']}``" in function.__doc__
    given = {key: value for key, value in kind["example"].items() if key != "kind"}
    assert function(**given).spec == kind["example"]


@pytest.mark.parametrize("kind", POLICIES, ids=lambda kind: kind["name"])
def test_every_policy_has_its_function(kind: dict) -> None:  # type: ignore[type-arg]
    function = getattr(cb.policies, kind["name"].replace("-", "_"))
    assert function.__name__ in cb.policies.__all__
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [*(parameter["name"] for parameter in kind["parameters"]), "label"]
    needed = {p["name"]: 2 for p in kind["parameters"] if p["required"]}
    made = function(**needed)
    # What a function has for a default is what a file without it means.
    assert made == cb.PolicySpec({"kind": kind["name"], **needed})
    for parameter in kind["parameters"]:
        assert (parameters[parameter["name"]].default is inspect.Parameter.empty) == parameter["required"]


def test_losses_equal_values_computed_by_hand() -> None:
    game = cb.Game([cb.Arm(memory=3, loss=0.5), cb.Arm(weights=[1.0, 0.5, 0.25], loss=lambda tally: 1 - tally / 2)])
    assert game.play([1, 1, 1, 0, 1]).tolist() == [0.5, 0.25, 0.125, 0.5, 0.375]
    assert (game.n_arms, game.memory, game.best_arm) == (2, 3, 1)
    assert game.eventual_losses.tolist() == [0.5, 0.125]
    assert game.reo().alpha == 0.0
    optimum = game.optimum(10)
    assert optimum.exact and optimum.loss == pytest.approx(0.5 + 0.25 + 8 * 0.125)
    assert list(optimum.sequence) == [1] * 10 and len(optimum.sequence) == 10


def test_optimum_is_the_best_of_all_sequences() -> None:
    import itertools

    game = cb.Game(
        [cb.Arm(memory=3, loss=[0.3, 0.1, 0.4]), cb.Arm(memory=2, loss=[0.25, 0.2]), cb.Arm(memory=1, loss=0.22)]
    )
    best = min(game.play(sequence).sum() for sequence in itertools.product(range(3), repeat=7))
    found = game.optimum(7)
    assert found.exact and found.loss == pytest.approx(best, abs=1e-12)
    assert game.play(list(found.sequence)).sum() == pytest.approx(best, abs=1e-12)
    assert game.reo().alpha == pytest.approx(0.2 - 0.1)


def test_a_function_and_a_table_give_the_same_game() -> None:
    losses = [0.8, 0.5, 0.2]
    table = cb.Game([cb.Arm(memory=3, loss=losses), cb.Arm(memory=3, loss=0.5)])
    function = cb.Game([cb.Arm(memory=3, loss=lambda tally: losses[round(tally) - 1]), cb.Arm(memory=3, loss=0.5)])
    special = cb.Game(
        [
            cb.Arm(memory=3, loss={"function": lambda tally: 0.5, "alone": 0.8, "calibrated": 0.2}),
            cb.Arm(memory=3, loss=0.5),
        ]
    )
    assert table.spec is not None and function.spec is None
    policies = [cb.policies.calibrated(memory_bound=3), cb.policies.exp3()]
    results = [cb.simulate(game, policies, 3000, instances=4) for game in (table, function, special)]
    for result in results[1:]:
        for column in ("loss", "cpr", "switches"):
            assert (result[column] == results[0][column]).all()


def test_exceptions_of_loss_functions_are_passed_on() -> None:
    class Bad(Exception):
        pass

    def bad(tally: float) -> float:
        raise Bad(tally)

    with pytest.raises(Bad):
        cb.Game([cb.Arm(memory=2, loss=bad)])

    calls = 0

    def bad_later(tally: float) -> float:
        nonlocal calls
        calls += 1
        if calls > 200:
            raise Bad(calls)
        return 0.5

    game = cb.Game([cb.Arm(memory=3, loss=bad_later), cb.Arm(memory=3, loss=0.4)])
    with pytest.raises(Bad):
        for _ in range(200):
            game.play([0, 0, 0])
    with pytest.raises(Bad):
        cb.simulate(game, "ucb1", 1000)
    with pytest.raises(Bad):
        game.reo()
    with pytest.raises(TypeError):
        cb.Game([cb.Arm(memory=2, loss=lambda tally: "much")])  # type: ignore[arg-type, return-value]


def test_invalid_games_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"2 plays|outside|must lie in"):
        cb.Game([cb.Arm(memory=2, loss=lambda tally: tally)])
    with pytest.raises(ValueError, match="losses by plays has 2 values"):
        cb.Game([cb.Arm(memory=3, loss=[0.5, 0.4])])
    with pytest.raises(ValueError, match="no weights"):
        cb.Game([cb.Arm(loss=0.5)])
    with pytest.raises(ValueError, match=r"at least one arm|at least 1"):
        cb.Game([])
    with pytest.raises(ValueError, match="memory"):
        cb.games.step(memory=0)
    with pytest.raises(ValueError, match="finite"):
        cb.games.step(best_loss=float("nan"))
    with pytest.raises(TypeError, match=r"calibandit\.Arm"):
        cb.Game([0.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="play 1 names arm 9"):
        cb.games.step().play([0, 9])
    with pytest.raises(ValueError, match="horizon"):
        cb.games.step().optimum(0)


def test_unknown_names_are_rejected_with_a_suggestion() -> None:
    with pytest.raises(KeyError, match="Did you mean 'step'"):
        cb.game("stepp")
    with pytest.raises(KeyError, match="Did you mean 'epoch-ucb'"):
        cb.policy("epoch_ucb2", memory_bound=3)
    with pytest.raises(cb.SpecError, match="Did you mean `memory`") as caught:
        cb.game("step", memori=3)
    assert caught.value.errors[0]["kind"] == "unknown-key"
    assert caught.value.errors[0]["suggestion"] == "memory"


def test_drawn_instances_equal_those_of_simulate() -> None:
    game = cb.games.step(arms=7)
    places = [game.draw(seed=5, instance=i, experiment="mine").best_arm for i in range(8)]
    assert len(set(places)) > 1

    class Always(cb.Policy):
        def __init__(self, arm: int) -> None:
            self.arm, self.label = arm, str(arm)

        def next_run(self) -> cb.Run:
            return cb.Run.forever(self.arm)

        def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
            pass

    result = cb.simulate(game, [Always(x) for x in range(7)], 100, 8, seed=5, name="mine", checkpoints=1)
    best = result["cpr"].reshape(7, 8).argmin(axis=0)
    assert best.tolist() == places
    assert game.draw().best_arm == game.best_arm


def test_games_can_be_pickled() -> None:
    game = cb.games.darts()
    for one in (game, game.draw(seed=2, instance=3), cb.Game([cb.Arm(memory=2, loss=[0.5, 0.25])])):
        again = pickle.loads(pickle.dumps(one))
        assert again == one and again.spec == one.spec
        assert (again.eventual_losses == one.eventual_losses).all()
    assert isinstance(game.eventual_losses, np.ndarray)


def test_a_drawn_game_has_a_specification() -> None:
    drawn = cb.games.random_reo().draw(seed=4)
    again = cb.Game.from_spec(drawn.spec)  # type: ignore[arg-type]
    sequence = [0, 1, 1, 1, 2, 3, 4, 4, 4, 0]
    assert (again.play(sequence) == drawn.play(sequence)).all()
    result = cb.simulate(drawn, "ucb1", 1000)
    assert cb.run(result.spec) == result
