"""Exceptions: their names, their built-in classes, and the former names."""

import inspect
import pickle

import pytest

import calibandit as cb
from calibandit import errors

BUILT_IN = {
    "AlreadySettledError": ValueError,
    "ArgumentTypeError": TypeError,
    "FolderError": OSError,
    "GameError": ValueError,
    "InternalError": RuntimeError,
    "LaneBusyError": RuntimeError,
    "MissingFileError": FileNotFoundError,
    "MissingFolderError": FileNotFoundError,
    "PolicyError": ValueError,
    "ReentrantCallError": RuntimeError,
    "SimulationError": RuntimeError,
    "SnapshotError": ValueError,
    "SpecError": ValueError,
    "TellError": ValueError,
    "UnknownDecisionError": KeyError,
    "UnknownNameError": KeyError,
    "UnreadableFileError": OSError,
    "WaitingError": RuntimeError,
    "WorkersLostError": RuntimeError,
}


def test_every_exception_ends_in_error_and_is_the_built_in_one_too() -> None:
    classes = {
        name: value
        for name, value in vars(cb).items()
        if inspect.isclass(value) and issubclass(value, Exception) and not issubclass(value, Warning)
    }
    assert classes.keys() - {"CalibanditError"} == BUILT_IN.keys()
    for name, builtin in BUILT_IN.items():
        assert issubclass(classes[name], cb.CalibanditError) and issubclass(classes[name], builtin), name
        assert getattr(errors, name) is classes[name]


@pytest.mark.parametrize(
    "former", ["AlreadySettled", "UnknownDecision", "UnknownName", "UnreadableFile", "Waiting", "WorkersLost"]
)
def test_former_names_are_aliases_with_a_warning_at_the_line_that_uses_them(former: str) -> None:
    for module in (cb, errors):
        with pytest.warns(DeprecationWarning, match=f"{former} is now called {former}Error") as caught:
            assert getattr(module, former) is getattr(cb, f"{former}Error")
        assert caught[0].filename == __file__


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        assert cb.nope


def test_lost_workers_survive_pickling_with_their_shards() -> None:
    error = pickle.loads(pickle.dumps(cb.WorkersLostError("three died", [1, 4])))
    assert str(error) == "three died" and error.shards == [1, 4]
