"""Advisors and sessions under several threads and processes, in signal handlers and in re-entrant calls."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import calibandit as cb


def in_threads(number: int, work: Callable[[int], None]) -> None:
    """Run work(0), work(1), ... at the same time, and raise the first exception."""
    errors: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_saved_file_is_whole_at_any_time_and_never_older_than_the_last_save_that_returned(tmp_path: Path) -> None:
    path = tmp_path / "advisor.json"
    adviser = cb.Advisor("thompson", 5)
    adviser.save(path)
    returned = 0
    lock = threading.Lock()

    def work(i: int) -> None:
        nonlocal returned
        for _ in range(6):
            decision = adviser.ask()
            adviser.tell(decision, loss=0.2 * decision.index)
            before = adviser.decisions
            adviser.save(path)
            with lock:
                returned = max(returned, before)
                at_least = returned
            assert cb.Advisor.load(path).decisions >= at_least

    for _ in range(5):
        in_threads(8, work)
        at_rest = cb.Advisor.load(path)
        assert at_rest.decisions == adviser.decisions and at_rest.to_json() == adviser.to_json()
    assert [file.name for file in tmp_path.iterdir()] == ["advisor.json"]


def save_often(path: Path, arms: int) -> None:
    adviser = cb.Advisor("thompson", arms)
    for _ in range(20):
        adviser.tell(adviser.ask(), loss=0.5)
        adviser.save(path)


def test_several_processes_can_save_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "advisor.json"
    save_often(path, 1)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=save_often, args=(path, arms)) for arms in (2, 30, 400)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert len(cb.Advisor.load(path).arms) in (1, 2, 30, 400)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    at_rest = cb.Advisor.load(path)
    assert at_rest.decisions == 20 and len(at_rest.arms) in (2, 30, 400)
    assert [file.name for file in tmp_path.iterdir()] == ["advisor.json"]


def test_saving_replaces_a_link_and_names_a_missing_folder(tmp_path: Path) -> None:
    adviser = cb.Advisor("thompson", 2)
    precious = tmp_path / "precious.txt"
    precious.write_text("keep")
    (tmp_path / "link.json").symlink_to(precious)
    adviser.save(tmp_path / "link.json")
    assert precious.read_text() == "keep" and cb.Advisor.load(tmp_path / "link.json").decisions == 0
    with pytest.raises(FileNotFoundError, match=r"nowhere") as caught:
        adviser.save(tmp_path / "nowhere" / "a.json")
    assert isinstance(caught.value, cb.CalibanditError) and "os error" not in str(caught.value)
    if os.name == "posix":
        mask = os.umask(0o027)
        try:
            adviser.save(tmp_path / "mode.json")
        finally:
            os.umask(mask)
        assert (tmp_path / "mode.json").stat().st_mode & 0o777 == 0o640


class Nosy(cb.Policy):
    """A policy that calls a function of its user from each of its methods."""

    def __init__(self, inside: Callable[[], object]) -> None:
        self.inside = inside

    def __deepcopy__(self, memo: Any) -> Nosy:
        return Nosy(self.inside)

    def reset(self, arms: int, horizon: int | None, seed: int) -> None:
        self.arms, self.observed = arms, 0

    def next_run(self) -> cb.Run:
        self.inside()
        return cb.Run(self.observed % self.arms, record=3)

    def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
        self.inside()
        self.observed += 1

    def recommend(self) -> int:
        self.inside()
        return 0


CALLS: dict[str, Callable[[cb.Advisor], object]] = {
    "ask": lambda advisor: advisor.ask(),
    "tell": lambda advisor: advisor.tell(0, loss=0.5),
    "forget": lambda advisor: advisor.forget(0),
    "recommend": lambda advisor: advisor.recommend(),
    "certificate": lambda advisor: advisor.certificate(),
    "plays": lambda advisor: advisor.plays,
    "switches": lambda advisor: advisor.switches,
    "decisions": lambda advisor: advisor.decisions,
    "outstanding": lambda advisor: advisor.outstanding,
    "current_run": lambda advisor: advisor.current_run,
    "loss_range": lambda advisor: advisor.loss_range,
    "repr": repr,
    "html": lambda advisor: advisor._repr_html_(),
    "to_json": lambda advisor: advisor.to_json(),
    "pickle": lambda advisor: advisor.__reduce__(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_policy_that_calls_its_own_advisor_gets_an_exception(call: str) -> None:
    advisers: list[cb.Advisor] = []
    adviser = cb.Advisor(Nosy(lambda: CALLS[call](advisers[0])), 3)
    advisers.append(adviser)
    with pytest.raises(cb.ReentrantCallError, match="the advisor that it works for"):
        adviser.ask()
    with pytest.raises(RuntimeError):
        adviser.recommend()
    assert adviser.decisions == 0


def test_properties_wait_for_calls_of_other_threads() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def inside() -> None:
        entered.set()
        go_on.wait(60)

    adviser = cb.Advisor(Nosy(inside), 3)

    def work(i: int) -> None:
        if i == 0:
            adviser.ask()
            return
        entered.wait(60)
        if i == 1:
            go_on.set()
        assert adviser.decisions == 1 and adviser.plays == {0: 1, 1: 0, 2: 0} and adviser.outstanding == [0]
        assert "1 decisions" in repr(adviser) and adviser.current_run == cb.Run(0, record=3)
        assert adviser.certificate() is None and adviser.switches == 0

    in_threads(6, work)


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
def test_a_signal_handler_may_use_an_advisor_but_not_interrupt_its_python_policy(tmp_path: Path) -> None:
    seen: list[object] = []
    path = tmp_path / "a.json"

    def handler(*_: object) -> None:
        try:
            adviser.save(path)
            seen.append((adviser.decisions, sum(adviser.plays.values()), repr(adviser)))
        except cb.CalibanditError as error:
            seen.append(error)

    previous = signal.signal(signal.SIGUSR1, handler)
    try:
        adviser = cb.Advisor(Nosy(lambda: os.kill(os.getpid(), signal.SIGUSR1)), 3)
        adviser.ask()
        assert len(seen) == 1 and isinstance(seen[0], cb.ReentrantCallError)

        # Between any two steps of a policy of the library, a handler may do everything.
        adviser = cb.Advisor("thompson", 3)
        seen.clear()
        stop = threading.Event()

        def send() -> None:
            sent = 0
            while not stop.wait(0.001):
                if len(seen) == sent:  # handlers must not pile up
                    os.kill(os.getpid(), signal.SIGUSR1)
                    sent += 1

        sender = threading.Thread(target=send)
        sender.start()
        try:
            for _ in range(50):
                adviser.tell(adviser.ask(), loss=0.5)
                adviser.save(path)
                assert cb.Advisor.load(path).decisions == adviser.decisions
        finally:
            stop.set()
            sender.join()
        assert seen and not any(isinstance(one, Exception) for one in seen)
        assert adviser.decisions == 50
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_a_loss_curve_that_plays_its_own_session_gets_an_exception() -> None:
    sessions: list[cb.Session] = []

    def loss(tally: float) -> float:
        if sessions:
            sessions[0].step(0)
        return 0.5

    sessions.append(cb.Game([cb.Arm(memory=2, loss=loss)]).session())
    with pytest.raises(cb.ReentrantCallError, match="in the middle of another call"):
        sessions[0].step(0)
    assert sessions[0].plays == 0 and sessions[0].window == []


def test_snapshots_that_were_edited_are_read_only_on_demand(tmp_path: Path) -> None:
    adviser = cb.Advisor("thompson", ["a", "b"], horizon=100)
    for _ in range(20):
        adviser.tell(adviser.ask(), loss=0.5)
    good = json.loads(adviser.to_json())
    assert cb.Advisor.from_json(json.dumps(good, indent=4, sort_keys=True)).to_json() == adviser.to_json()
    for change in ({"arms": ["a", "c"]}, {"label": "Thomson"}, {"horizon": 200}, {"horizon": None}, {"checksum": None}):
        text = json.dumps({**good, **change})
        with pytest.raises(cb.SnapshotError, match="edited=True"):
            cb.Advisor.from_json(text)
        assert cb.Advisor.from_json(text, edited=True).decisions == 20
    renamed = {**good, "arms": ["a", "c"]}
    (tmp_path / "renamed.json").write_text(json.dumps(renamed))
    assert cb.Advisor.load(tmp_path / "renamed.json", edited=True).arms == ["a", "c"]
    # One more observed loss than there were: the policy contradicts the books.
    good["advisor"]["policy"]["thompson"]["ones"][0] += 1
    for text in (json.dumps(good), json.dumps({**good, "arms": ["a"]}), json.dumps({**good, "advisor": {}})):
        with pytest.raises(cb.SnapshotError):
            cb.Advisor.from_json(text, edited=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arms": "ab"}, "`arms` of the snapshot must be a list of names"),
        ({"arms": {"a": 0, "b": 1}}, "`arms` of the snapshot must be a list of names"),
        ({"arms": [["a"], ["b"]]}, "`arms` of the snapshot must be a list of names"),
        ({"arms": ["a", "a"]}, "`arms` of the snapshot has the same name twice"),
        ({"arms": [1, 1.0]}, "`arms` of the snapshot has the same name twice"),
        ({"arms": ["a", "b", "c"]}, "3 names for 2 arms"),
        ({"label": 7}, "`label` of the snapshot must be a text"),
        ({"horizon": -1}, "`horizon` of the snapshot"),
        ({"horizon": 1e300}, "`horizon` of the snapshot"),
        ({"horizon": 2**64}, "`horizon` of the snapshot"),
        ({"calibandit_python": 3}, "layout 3"),
    ],
)
@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("layout", [1, 2])
def test_snapshots_with_impossible_names_are_refused(
    change: dict[str, object], reason: str, edited: bool, layout: int
) -> None:
    good = json.loads(cb.Advisor("thompson", ["a", "b"]).to_json())
    if layout == 1:
        del good["checksum"]
        good["calibandit_python"] = 1
    cb.Advisor.from_json(json.dumps(good))
    changed = json.dumps({**good, **change})
    with pytest.raises(cb.SnapshotError) as caught:
        cb.Advisor.from_json(changed, edited=edited)
    if edited or layout == 1:
        assert reason in str(caught.value)


def test_an_absurd_number_of_arms_is_refused_at_once() -> None:
    for number in (2**32, 2**62):
        with pytest.raises(ValueError, match=str(number)):
            cb.Advisor("thompson", number)
