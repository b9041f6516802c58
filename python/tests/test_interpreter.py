"""The package and its interpreter: signals, the end of the process, closed streams, panics, builds without a lock.

Most tests start a process of their own. Their time limits are far above what a working package needs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import calibandit as cb

#: Seconds after which a process counts as hung.
LIMIT = 60


def python(program: str, *, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    command = [sys.executable, *options, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


#: A call that takes minutes, and what is printed before it.
LONG = {
    "simulate": "cb.simulate(cb.games.step(), ['thompson'], horizon=400_000_000, instances=1)",
    "run": (
        "cb.run({'name': 'x', 'horizon': 400_000_000, 'instances': 1, 'game': 'step', 'policy': 'thompson'},"
        " out=tempfile.mkdtemp())"
    ),
    "check": (
        "cb.Experiment.from_dict({'name': 'x', 'horizon': 10**6,"
        " 'game': {'kind': 'random-reo', 'memory': 16, 'alpha': 0.1},"
        " 'policy': {'kind': 'epoch-ucb', 'memory_bound': 2},"
        " 'sweep': {'policy.memory_bound': list(range(1, 1000))}}).check()"
    ),
    "optimum": "GAME.optimum(1_000)",
    "reo": "GAME.reo()",
    "policy": "cb.simulate(cb.games.step(), [Sleeper()], horizon=1_000, instances=1)",
}
PREPARED = """
import sys, tempfile, time
import calibandit as cb

class Sleeper(cb.Policy):
    def next_run(self):
        time.sleep(3600)
    def observe(self, run, feedback):
        pass

seconds = 0

def loss(tally):
    time.sleep(seconds)
    return 0.5

GAME = cb.Game([cb.Arm(memory=3, loss=loss), cb.Arm(memory=3, loss=0.4)])
seconds = 3600
print("ready", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("call", LONG)
def test_ctrl_c_ends_a_long_call(call: str, signals: int) -> None:
    program = (
        f"{PREPARED}\ntry:\n    {LONG[call]}\n    print('finished')\nexcept KeyboardInterrupt:\n    print('ended')\n"
    )
    # At the end of the process, the sleeping policy would be waited for.
    program += "sys.stdout.flush()\nimport os\nos._exit(0)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert process.poll() is None, "the call must take longer than this"
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0 and output == "ended\n"


@pytest.mark.parametrize(
    "call",
    [
        "cb.simulate(cb.games.step(), [Slow()], horizon=10**9)",
        "cb.simulate(cb.games.step(), 'thompson', 10**6, 1000, progress=lambda *_: begun.set())",
        "[cb.Game([cb.Arm(memory=2, loss=loss)]).play([0] * 1000) for _ in range(10**6)]",
        "cb.Game([cb.Arm(memory=2, loss=loss)]).optimum(10**6)",
        "asking(cb.Advisor(Slow(), 3))",
        "saving(cb.Advisor('thompson', 3))",
    ],
)
def test_the_process_ends_while_daemon_threads_compute(call: str) -> None:
    done = python(
        f"""
            import sys, tempfile, threading, time
            import calibandit as cb

            class Slow(cb.Policy):
                def next_run(self):
                    begun.set()
                    sum(range(1000))
                    return cb.Run(0)
                def observe(self, run, feedback):
                    pass

            def loss(tally):
                begun.set()
                sum(range(1000))
                return 0.5

            def asking(advisor):
                while True:
                    advisor.tell(advisor.ask(), loss=0.5)

            def saving(advisor):
                path = tempfile.mkdtemp() + "/a.json"
                while True:
                    advisor.save(path)
                    begun.set()

            class Output:
                closed = False
                def flush(self):
                    time.sleep(0.5)  # while the interpreter ends, other threads wake up

            def work():
                {call}

            begun = threading.Event()
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            begun.wait()
            time.sleep(0.1)
            sys.stdout = Output()
            """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_work_is_refused_once_the_interpreter_is_about_to_end_but_advisors_can_be_saved() -> None:
    done = python(
        """
        import atexit, os, tempfile

        def last():
            import calibandit as cb
            path = os.path.join(tempfile.mkdtemp(), "a.json")
            advisor.ask()
            advisor.save(path)
            print(cb.Advisor.load(path).decisions)
            try:
                cb.simulate(cb.games.step(), "ucb1", 100)
            except cb.SimulationError as error:
                print(error)

        atexit.register(last)
        import calibandit as cb     # its handler runs before `last`
        advisor = cb.Advisor("thompson", 2)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\nthe interpreter is about to end: nothing can be computed any more\n"


@pytest.mark.parametrize("stream", ["None", "closed", "broken"])
@pytest.mark.parametrize("progress", ["None", "True"])
def test_results_do_not_depend_on_standard_error(stream: str, progress: str) -> None:
    done = python(
        f"""
        import sys
        import calibandit as cb

        class Broken:
            closed = False
            def isatty(self):
                return True
            def write(self, text):
                raise BrokenPipeError("nobody reads")
            def flush(self):
                raise BrokenPipeError("nobody reads")

        if "{stream}" == "None":
            sys.stderr = None
        elif "{stream}" == "closed":
            sys.stderr.close()
        else:
            sys.stderr = Broken()
        # The bound is too small, so that there is a warning too.
        policies = [cb.policies.calibrated(memory_bound=2), "thompson"]
        result = cb.simulate(cb.games.step(memory=8), policies, 100_000, instances=10, progress={progress})
        experiment = cb.Experiment({{"name": "simulation", "horizon": 100, "game": "step", "policy": policies}})
        print(len(result), len(experiment.run(instances=2, progress={progress})))
        """
    )
    assert done.stdout == "4000 400\n", done.stderr


def test_a_panic_is_an_exception_that_programs_can_catch() -> None:
    for on_another_thread in (False, True):
        with pytest.raises(cb.InternalError, match=r"bug of calibandit.*as the test demands") as caught:
            cb._core._panic(on_another_thread)
        assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, Exception)


def test_a_python_without_interpreter_lock_is_refused() -> None:
    done = python("import sys; sys._is_gil_enabled = lambda: False; import calibandit")
    assert done.returncode == 1 and "ImportError: calibandit needs the interpreter lock" in done.stderr
