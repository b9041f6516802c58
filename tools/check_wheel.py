"""Checks an installed wheel where nothing can be compiled: metadata, import, and the core of README.md's example.

Called inside a clean environment that has the wheel, with a search path on which no compiler is found (or with
``--compilers-allowed``, where the wheel was installed with ``--only-binary``).
"""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
import time


def main() -> int:
    """Check what a user of ``pip install`` meets."""
    found = [name for name in ("cargo", "rustc", "cc", "gcc") if shutil.which(name)]
    allowed = sys.argv[1:] == ["--compilers-allowed"]
    assert allowed or not found, f"this check must run without compilers, but found {found}"

    wheel = importlib.metadata.distribution("calibandit").read_text("WHEEL") or ""
    tags = [line.removeprefix("Tag: ") for line in wheel.splitlines() if line.startswith("Tag: ")]
    assert tags, "the wheel has no tags"
    for tag in tags:
        assert tag.startswith("cp310-abi3-"), f"{tag}: one wheel must serve every Python from 3.10 on"
        assert not tag.endswith(("-linux_x86_64", "-linux_aarch64")), f"{tag}: PyPI accepts only manylinux"

    start = time.perf_counter()
    import calibandit as cb

    imported = time.perf_counter()
    slow_starter = cb.Arm(memory=4, loss=[0.9, 0.7, 0.5, 0.1])
    workers = cb.Game(arms=[cb.Arm(memory=4, loss=0.5), slow_starter])
    result = cb.simulate(workers, [cb.policies.calibrated(memory_bound=4), "thompson"], horizon=100_000)
    calibrated, thompson = (row["mean"] for row in result.summary())
    assert calibrated < 100 < 30_000 < thompson, (calibrated, thompson)
    done = time.perf_counter()
    print(f"{', '.join(tags)}: import {imported - start:.2f} s, example {done - imported:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
