"""Arms: names, noise, numbers of NumPy and pandas, mistakes that appear when an arm is made."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import calibandit as cb

WORKERS = [
    cb.Arm(memory=3, loss=0.5, name="ann"),
    cb.Arm(memory=3, loss=[0.9, 0.6, 0.2], feedback=cb.Beta(concentration=8), name="bob"),
]


def test_numbers_and_sequences_of_numpy_and_pandas_are_accepted() -> None:
    pandas = pytest.importorskip("pandas")
    plain = cb.Arm(weights=[1.0, 0.5], loss=[0.75, 0.25])
    for weights in (np.array([1.0, 0.5]), np.array([1.0, 0.5], np.float32), (1, 0.5), pandas.Series([1.0, 0.5])):
        for loss in (np.array([0.75, 0.25]), pandas.Series([0.75, 0.25], index=[5, 6]), pandas.Index([0.75, 0.25])):
            assert cb.Arm(weights=weights, loss=loss) == plain
    for number in (np.float32(0.25), np.float64(0.25), np.array(0.25), np.float16(0.25)):
        assert cb.Arm(memory=np.int64(2), loss=number) == cb.Arm(memory=2, loss=0.25)  # type: ignore[arg-type]
    assert cb.Arm(memory=2, loss=np.int64(1)).loss == 1.0
    assert cb.Normal(np.float32(0.5)) == cb.Normal(sd=0.5)  # type: ignore[arg-type]
    linear = cb.Arm(memory=2, loss={"linear": {"intercept": np.float32(0.5), "slope": np.float64(-0.125)}})
    assert linear.curve == {"linear": {"intercept": 0.5, "slope": -0.125}}
    game = cb.Game(np.array([plain, plain], dtype=object))
    assert game.play(np.array([0, 0, 1])).tolist() == [0.75, 0.25, 0.75]
    assert game.play(pandas.Series([0, 0, 1])).tolist() == [0.75, 0.25, 0.75]
    losses: Any = np.array([0.5, 0.25])
    assert cb.games.stochastic(losses=losses).eventual_losses.tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("arguments", "builtin", "message"),
    [
        ({"memory": 2, "loss": "x"}, TypeError, "`loss`"),
        ({"memory": 2, "loss": [0.5, "x"]}, TypeError, r"`loss\[1\]`"),
        ({"memory": 2, "loss": None}, TypeError, "`loss`"),
        ({"memory": "two"}, TypeError, "`memory` must be a whole number"),
        ({"memory": -1}, ValueError, "`memory` is -1"),
        ({"memory": 2, "loss": 1.5}, ValueError, "1.5"),
        ({"memory": 3, "loss": [0.5, 0.4]}, ValueError, "2 values, but the memory is 3"),
        ({"memory": 2, "loss": lambda tally: tally}, ValueError, r"must lie in \[0, 1\]"),
        ({"loss": 0.5}, ValueError, "no weights"),
        ({"weights": [1.0], "memory": 1}, ValueError, "both `weights` and `memory`"),
        ({"weights": [2.0]}, ValueError, "weight 1 is 2"),
        ({"weights": 0.5}, TypeError, "`weights`"),
        ({"memory": 2, "loss": {"konstant": 0.5}}, KeyError, "Did you mean 'constant'"),
        ({"memory": 2, "loss": {"function": abs, "linear": {}}}, ValueError, "beside a function"),
        ({"memory": 2, "feedback": "beta"}, ValueError, r"Beta\(concentration=\.\.\.\)"),
        ({"memory": 2, "feedback": "bernouli"}, ValueError, "Did you mean 'bernoulli'"),
        ({"memory": 2, "feedback": {"normal": {"var": 1}}}, ValueError, r"Normal\(sd=\.\.\.\)"),
        ({"memory": 2, "feedback": 0.1}, TypeError, r"Normal\(sd=\.\.\.\)"),
        ({"memory": 2, "trend": "falling"}, ValueError, "'decreasing'"),
        ({"memory": 2, "name": ""}, ValueError, "name of an arm"),
        ({"memory": 2, "name": 3}, TypeError, "`name`"),
    ],
)
def test_a_mistake_appears_when_the_arm_is_made(arguments: Any, builtin: type[Exception], message: str) -> None:
    with pytest.raises(builtin, match=message) as caught:
        cb.Arm(**arguments)
    assert isinstance(caught.value, cb.CalibanditError)
    assert "{ " not in str(caught.value), "no TOML"


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_parameters_of_noise_are_positive_numbers(bad: float) -> None:
    for kind in (cb.Normal, cb.Beta):
        with pytest.raises(ValueError, match="positive number") as caught:
            kind(bad)
        assert isinstance(caught.value, cb.CalibanditError)


def test_noise_objects_equal_the_forms_of_files() -> None:
    pairs: list[tuple[Any, Any]] = [
        (cb.Bernoulli(), "bernoulli"),
        (cb.NoNoise(), "none"),
        (cb.Normal(sd=0.1), {"normal": {"sd": 0.1}}),
        (cb.Beta(concentration=8), {"beta": {"concentration": 8}}),
    ]
    for noise, in_files in pairs:
        assert cb.Arm(memory=2, feedback=noise) == cb.Arm(memory=2, feedback=in_files)
        assert cb.games.step(feedback=noise) == cb.games.step(feedback=in_files)
        spec = cb.games.step(feedback=noise).spec
        assert spec is not None and spec["feedback"] == in_files


def test_names_appear_in_the_game_and_in_what_it_computes() -> None:
    game = cb.Game(WORKERS, title="two workers")
    assert (game.title, game.arm_names, game.n_arms) == ("two workers", ["ann", "bob"], 2)
    assert game.play(["bob", "bob", "bob", "ann", "bob"]).tolist() == [0.9, 0.6, 0.2, 0.5, 0.6]
    optimum = game.optimum(100)
    assert list(optimum.sequence.named()) == ["bob"] * 100
    assert repr(optimum.sequence) == "<BestSequence of 100 plays: 100 * bob>"
    assert "name='bob'" in repr(game) and "title='two workers'" in repr(game)
    assert game.spec == {
        "kind": "custom",
        "title": "two workers",
        "arm": [
            {"name": "ann", "memory": 3, "loss": {"constant": 0.5}, "feedback": "bernoulli"},
            {
                "name": "bob",
                "memory": 3,
                "loss": {"by_plays": [0.9, 0.6, 0.2]},
                "feedback": {"beta": {"concentration": 8.0}},
            },
        ],
    }
    session = game.session()
    session.step("bob")
    assert repr(session) == "<Session: 1 plays, the last of them bob>"
    for page in (game._repr_html_(), optimum._repr_html_(), game.reo()._repr_html_()):
        assert "bob" in page and "<table" in page
    with pytest.raises(KeyError, match="Did you mean 'bob'"):
        game.play(["bobb"])
    with pytest.raises(KeyError, match="ann, bob"):
        session.step("carl")
    with pytest.raises(ValueError, match="ann"):
        cb.Game([WORKERS[0], WORKERS[0]])


def test_the_title_of_a_game_is_its_label_in_results() -> None:
    own = cb.Game([cb.Arm(memory=2, loss=lambda tally: 0.5)], title="a function")
    for game in (own, own.draw(), cb.Game(WORKERS, title="two workers"), cb.Game(WORKERS, title="two workers").draw()):
        assert cb.simulate(game, "ucb1", 100, instances=2).games == [game.title]
    assert own.draw().title == "a function"
    assert cb.games.step().draw(instance=3).title == "step, K = 5, m = 3, instance 3"
    for bad in ("", "a\nb"):
        for arms in (own.arms, WORKERS):
            with pytest.raises(ValueError, match="title"):
                cb.Game(arms, title=bad)


def test_the_table_of_a_notebook_escapes_names() -> None:
    game = cb.Game([cb.Arm(memory=1, name="<script>")], title="a & b")
    page = game._repr_html_()
    assert "&lt;script&gt;" in page and "<script>" not in page and "a &amp; b" in page


def test_the_arms_of_every_named_game_make_the_same_game() -> None:
    """The listed arms, played again as a game of their own, have the losses of the first instance."""
    for kind in cb.games.kinds():
        game = cb.Game.from_spec(kind["example"])
        arms = game.arms
        assert len(arms) == game.n_arms and all(isinstance(arm, cb.Arm) for arm in arms)
        sequence = np.random.default_rng(1).integers(game.n_arms, size=200)
        assert (cb.Game(arms).play(sequence) == game.play(sequence)).all(), kind["name"]
        assert (cb.Game(arms).eventual_losses == game.eventual_losses).all()


def test_the_arms_as_a_number_still_work_with_a_warning() -> None:
    game = cb.games.step(arms=7)
    with pytest.warns(DeprecationWarning, match="n_arms"):
        assert game.arms == 7
    with pytest.warns(DeprecationWarning, match="n_arms"):
        assert list(range(game.arms)) == list(range(7))


def test_custom_games_take_arms_with_functions() -> None:
    falling = cb.Arm(memory=2, loss=lambda tally: 0.75 - 0.25 * tally)
    mixed: list[list[Any]] = [
        [falling, {"memory": 2, "loss": 0.5}],
        [{"memory": 2, "loss": falling.loss}, cb.Arm(memory=2)],
    ]
    for arms in mixed:
        game = cb.games.custom(arm=arms)
        assert game.play([0, 0, 1]).tolist() == [0.5, 0.25, 0.5]
    with pytest.raises(cb.SpecError, match="function"):
        assert falling.spec


def test_arms_and_their_games_can_be_copied_and_pickled() -> None:
    for arm in WORKERS:
        assert pickle.loads(pickle.dumps(arm)) == copy.deepcopy(arm) == arm
    game = cb.Game(WORKERS, title="two workers")
    again = pickle.loads(pickle.dumps(game))
    assert again == game and again.title == "two workers" and again.arm_names == ["ann", "bob"]


def test_the_documentation_of_an_arm_has_every_field() -> None:
    for field in ("weights", "memory", "loss", "feedback", "trend", "name"):
        assert f"        {field}: " in (cb.Arm.__doc__ or "")


def test_completion_offers_only_games_and_policies() -> None:
    for module in (cb.games, cb.policies):
        assert dir(module) == sorted(module.__all__)


def test_signatures_in_help_have_one_line_per_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    help(cb.games.random_reo)
    lines = capsys.readouterr().out.splitlines()
    assert "    memory: Union[int, tuple[int, int]] = (2, 6)," in lines
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(
    ("call", "builtin", "message"),
    [
        (lambda: cb.Run(-1), ValueError, "`arm` is -1"),
        (lambda: cb.Run(0, burn_in=-3), ValueError, "`burn_in` is -3"),
        (lambda: cb.Run(0, record="x"), TypeError, "`record` must be a whole number"),  # type: ignore[arg-type]
        (lambda: cb.Run(0, 0, 0), ValueError, "at least one play"),
        (lambda: cb.games.step().draw(seed=-1), ValueError, "`seed` is -1"),
        (lambda: cb.games.step().optimum(10**20), ValueError, "`horizon` is 1"),
        (lambda: cb.games.step().optimum("x"), TypeError, "`horizon`"),  # type: ignore[arg-type]
        (lambda: cb.games.step().play(["a"]), KeyError, "no arm 'a'"),
        (lambda: cb.games.step().play([0.5]), TypeError, r"`sequence\[0\]`"),  # type: ignore[list-item]
        (lambda: cb.games.step().session().step(1.5), TypeError, "`arm`"),  # type: ignore[arg-type]
        (lambda: cb.game(3), TypeError, "`kind`"),  # type: ignore[arg-type]
        (lambda: cb.Game.from_spec("step"), TypeError, "mapping"),  # type: ignore[arg-type]
        (lambda: cb.Game(3), TypeError, "`arms`"),  # type: ignore[arg-type]
        (lambda: cb.policy(3), TypeError, "`kind`"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments_are_named(call: Any, builtin: type[Exception], message: str) -> None:
    with pytest.raises(builtin, match=message) as caught:
        call()
    assert isinstance(caught.value, cb.CalibanditError)


def test_numpy_integers_make_a_run() -> None:
    assert cb.Run(np.int64(3), burn_in=np.int32(2), record=np.uint8(4)) == cb.Run(3, 2, 4)  # type: ignore[arg-type]
