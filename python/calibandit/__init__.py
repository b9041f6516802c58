"""Bandits whose arms need to warm up.

A crowd worker, a racing driver or a cache shows its real performance only after several plays in a row. In a *weighted
tallying* game the expected loss of an arm depends on how often that arm was played among the last plays. This package
has such games, policies for them, exact regret, fast simulation, and an advisor that decides live which arm to play
next. Losses are minimised.

>>> import calibandit as cb
>>> game = cb.Game(arms=[
...     cb.Arm(memory=4, loss=0.5),
...     cb.Arm(memory=4, loss=[0.9, 0.7, 0.5, 0.1]),      # the best, but only after four plays in a row
... ])
>>> result = cb.simulate(game, [cb.policies.calibrated(memory_bound=4), cb.policies.thompson()], horizon=100_000)
>>> calibrated, thompson = (row["mean"] for row in result.summary())
>>> calibrated < 100, thompson > 30_000
(True, True)
"""

from __future__ import annotations

from typing import Any as _Any

from . import _deprecated, errors, games, policies
from . import _interpreter as _interpreter
from ._advisor import Advisor, Certificate, Decision
from ._advisor_state import AdvisorState, Confidence, Explanation, MonitorVerdict
from ._arm import Arm
from ._core import VERSION as __version__
from ._core import Session
from ._diagnose import Diagnosis, diagnose
from ._diagnosis import ArmDiagnosis, Estimate, Fatigue, Note, Price, ReoDiagnosis, Settled, TallyingDiagnosis
from ._experiment import Experiment, run
from ._fit import FittedArm, GameFit, fit
from ._frame import Frame
from ._game import Game, game
from ._lane import Lane
from ._lane_decision import LaneDecision, Recorded
from ._lane_state import LaneCounts, LaneState
from ._lanes import LaneAdvisor
from ._noise import Bernoulli, Beta, Noise, NoNoise, Normal
from ._optimum import BestSequence, Optimum, Reo
from ._pilot import PilotPlan, pilot
from ._policy import Feedback, Policy, PolicyLike, PolicySpec, Run, policy
from ._result import Comparison, Result, Summary
from ._signature import make_readable as _make_readable
from ._simulate import simulate
from .errors import (
    AlreadySettledError,
    ArgumentTypeError,
    CalibanditError,
    FolderError,
    GameError,
    HorizonWarning,
    InternalError,
    LaneBusyError,
    LeftOutWarning,
    MemoryBoundWarning,
    MissingFileError,
    MissingFolderError,
    PolicyError,
    ReentrantCallError,
    SimulationError,
    SnapshotError,
    SpecError,
    TellError,
    UnknownDecisionError,
    UnknownNameError,
    UnreadableFileError,
    WaitingError,
    WorkersLostError,
)

__all__ = [
    "Advisor",
    "AdvisorState",
    "AlreadySettledError",
    "ArgumentTypeError",
    "Arm",
    "ArmDiagnosis",
    "Bernoulli",
    "BestSequence",
    "Beta",
    "CalibanditError",
    "Certificate",
    "Comparison",
    "Confidence",
    "Decision",
    "Diagnosis",
    "Estimate",
    "Experiment",
    "Explanation",
    "Fatigue",
    "Feedback",
    "FittedArm",
    "FolderError",
    "Frame",
    "Game",
    "GameError",
    "GameFit",
    "HorizonWarning",
    "InternalError",
    "Lane",
    "LaneAdvisor",
    "LaneBusyError",
    "LaneCounts",
    "LaneDecision",
    "LaneState",
    "LeftOutWarning",
    "MemoryBoundWarning",
    "MissingFileError",
    "MissingFolderError",
    "MonitorVerdict",
    "NoNoise",
    "Noise",
    "Normal",
    "Note",
    "Optimum",
    "PilotPlan",
    "Policy",
    "PolicyError",
    "PolicyLike",
    "PolicySpec",
    "Price",
    "Recorded",
    "ReentrantCallError",
    "Reo",
    "ReoDiagnosis",
    "Result",
    "Run",
    "Session",
    "Settled",
    "SimulationError",
    "SnapshotError",
    "SpecError",
    "Summary",
    "TallyingDiagnosis",
    "TellError",
    "UnknownDecisionError",
    "UnknownNameError",
    "UnreadableFileError",
    "WaitingError",
    "WorkersLostError",
    "__version__",
    "diagnose",
    "fit",
    "game",
    "games",
    "pilot",
    "policies",
    "policy",
    "run",
    "simulate",
]

_make_readable(globals()[name] for name in __all__)


def __getattr__(name: str) -> _Any:
    if name in _deprecated.__all__:
        return getattr(_deprecated, name)
    if name == "gym":
        # Imported on demand, because it needs Gymnasium.
        import importlib

        return importlib.import_module(".gym", __name__)
    return errors._renamed(name, __name__)
