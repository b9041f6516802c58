"""Policies: those of the library by name, and policies written in Python."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Union

from . import _core
from ._arguments import unknown
from ._core import Feedback, Run
from ._json import dumps, loads
from .errors import ArgumentTypeError, UnknownNameError

__all__ = ["Feedback", "Policy", "PolicyLike", "PolicySpec", "Run", "policy"]


class PolicySpec:
    """A policy of the library and its parameters, as built by :mod:`calibandit.policies` or :func:`policy`.

    >>> import calibandit as cb
    >>> cb.policies.epoch_ucb(memory_bound=3)
    policy('epoch-ucb', memory_bound=3, exploration=2.0)
    >>> cb.policies.epoch_ucb(memory_bound=3).label
    'UCB (epochs)'
    """

    __slots__ = ("_given_label", "_label", "_memory_bound", "_spec")

    def __init__(self, spec: Mapping[str, Any]) -> None:
        table = dict(spec)
        label = table.pop("label", None)
        kinds = [known["name"] for known in loads(_core.policy_kinds())]
        if table.get("kind") not in kinds:
            raise UnknownNameError(unknown("policy", table.get("kind"), kinds))
        text, own_label, memory_bound = _core.complete_policy(dumps(table))
        self._spec: dict[str, Any] = loads(text)
        self._given_label: str | None = label
        self._label: str = label if label is not None else own_label
        self._memory_bound: int | None = memory_bound

    @property
    def label(self) -> str:
        """Its label in tables and figures."""
        return self._label

    @property
    def kind(self) -> str:
        """Its kind, as in files."""
        kind: str = self._spec["kind"]
        return kind

    @property
    def memory_bound(self) -> int | None:
        """The bound on the memory that it is given; None if it takes none."""
        return self._memory_bound

    @property
    def spec(self) -> dict[str, Any]:
        """The ``[[policy]]`` table of an experiment file."""
        label = {} if self._given_label is None else {"label": self._given_label}
        return {**label, **self._spec}

    def __repr__(self) -> str:
        given = {key: value for key, value in self.spec.items() if key != "kind"}
        return f"policy({', '.join([repr(self.kind), *(f'{key}={value!r}' for key, value in given.items())])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolicySpec) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(dumps(self.spec))

    def __reduce__(self) -> tuple[Any, ...]:
        return (PolicySpec, (self.spec,))


class Policy(ABC):
    """The base class of policies written in Python.

    The caller alternates :meth:`next_run` and :meth:`observe`: it plays each run to the end, then reports its feedback.
    A run that the horizon cuts short is not reported. In :func:`simulate` every instance uses a deep copy of the given
    policy, after a call of :meth:`reset`. Draw random numbers from a generator that :meth:`reset` creates with
    ``seed``; the results then do not depend on the number of cores.

    >>> import calibandit as cb
    >>> class TryEachOnce(cb.Policy):
    ...     def reset(self, arms, horizon, seed):
    ...         self.arms, self.means = arms, []
    ...     def next_run(self):
    ...         if len(self.means) < self.arms:
    ...             return cb.Run(len(self.means), burn_in=2, record=50)
    ...         return cb.Run.forever(self.means.index(min(self.means)))
    ...     def observe(self, run, feedback):
    ...         self.means.append(feedback.mean)
    >>> result = cb.simulate(cb.games.step(), [TryEachOnce(), "thompson"], horizon=10_000)
    >>> result.policies
    ['TryEachOnce', 'Thompson']
    """

    label: str | None = None
    """Its label in tables and figures; the name of the class if None."""

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        """Start a new instance: number of arms, horizon (None if unknown), and a seed for the policy's own
        randomness."""

    @abstractmethod
    def next_run(self) -> Run:
        """Return the next run to play."""

    @abstractmethod
    def observe(self, run: Run, feedback: Feedback) -> None:
        """Take the feedback of the run that :meth:`next_run` returned last."""

    def recommend(self) -> int:
        """Return the arm to use once learning stops. :class:`Advisor` calls it; simulations do not."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method `recommend`, which returns the arm to use once learning stops"
        )


Factory = Callable[[int, Union[int, None], int], Any]
PolicyLike = Union[str, Mapping[str, Any], PolicySpec, Policy, "type[Policy]", Factory]
"""Everything accepted as a policy: a :class:`PolicySpec`, the name of a kind, a ``[[policy]]`` table, a :class:`Policy`
or its class, or a function ``(arms, horizon, seed)`` that returns an object with the methods of a policy."""


def policy(kind: str, *, label: str | None = None, **parameters: Any) -> PolicySpec:
    """Build a policy by the name of its kind: the same as the function of :mod:`calibandit.policies`.

    >>> policy("calibrated", memory_bound=3).label
    'calibrated'
    """
    if not isinstance(kind, str):
        raise ArgumentTypeError(f"`kind` must be the name of a kind of policy, such as 'thompson', not {kind!r}")
    given = {key: value for key, value in parameters.items() if value is not None}
    named = {} if label is None else {"label": label}
    return PolicySpec({**named, "kind": kind.replace("_", "-"), **given})


class _Entry:
    """A policy as the compiled part takes it: a label, a table, and a factory if it is written in Python."""

    def __init__(self, given: PolicyLike, memory_bound: int | None = None) -> None:
        self.factory: Factory | None = None
        if isinstance(given, str):
            given = {"kind": given.replace("_", "-")}
        if isinstance(given, Mapping):
            given = PolicySpec(_with_memory_bound(given, memory_bound))
        if isinstance(given, PolicySpec):
            spec = given.spec
            self.label: str | None = spec.pop("label", None)
            self.table: dict[str, Any] = spec
            return
        name = given.__name__ if hasattr(given, "__name__") else type(given).__name__
        label = getattr(given, "label", None)
        self.label = label if isinstance(label, str) else name
        own = given if isinstance(given, type) else type(given)
        self.table = {"kind": "python", "class": f"{own.__module__}.{own.__qualname__}"}
        self.factory = _factory(given)

    def parts(self) -> tuple[str | None, str, Factory | None]:
        return (self.label, dumps(self.table), self.factory)


def _with_memory_bound(spec: Mapping[str, Any], memory_bound: int | None) -> Mapping[str, Any]:
    """Add the bound on the memory to a table whose kind takes one and that has none."""
    kinds = {known["name"]: known for known in loads(_core.policy_kinds())}
    takes = [parameter["name"] for parameter in kinds.get(spec.get("kind", ""), {"parameters": []})["parameters"]]
    if memory_bound is None or "memory_bound" not in takes or "memory_bound" in spec:
        return spec
    return {**spec, "memory_bound": memory_bound}


def _factory(given: Any) -> Factory:
    def fresh(arms: int, horizon: int | None, seed: int) -> Any:
        made = given() if isinstance(given, type) else copy.deepcopy(given)
        made.reset(arms, horizon, seed)
        return made

    if isinstance(given, Policy) or (isinstance(given, type) and issubclass(given, Policy)):
        return fresh
    if callable(given):
        factory: Factory = given
        return factory
    raise ArgumentTypeError(
        f"`policy` is {given!r}, which is not a policy: give one of calibandit.policies, the name of a kind, or a "
        "subclass of calibandit.Policy"
    )
