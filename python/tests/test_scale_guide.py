"""The code of docs/guide/scale.md: Python, Slurm scripts and Kubernetes jobs, run without a cluster."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import calibandit as cb

pytest.importorskip("joblib")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "scale.md").read_text(encoding="utf-8")
FILES = {name: body for _, name, body in re.findall(r"^```(\w+) (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)}
#: The page splits into 40 shards; the test has no need of so many.
SHARDS = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, body in FILES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    cb.run(tmp_path / "wide-m.toml", out=tmp_path / "local", progress=False)
    return tmp_path


def local(folder: Path) -> bytes:
    return (folder / "local" / "results.csv").read_bytes()


def environment(**more: str) -> dict[str, str]:
    """With the `calibandit` program that belongs to this Python first on the path."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more}


def test_the_page_contains_the_tested_code() -> None:
    assert {"wide-m.toml", "local.py", "on_dask.py", "on_ray.py", "shards.sbatch", "wide-m.yaml"} <= set(FILES)


@pytest.mark.parametrize(("name", "needs"), [("local", "joblib"), ("on_dask", "distributed"), ("on_ray", "ray")])
def test_python_example(folder: Path, name: str, needs: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    environ = environment(RAY_USAGE_STATS_ENABLED="0")
    subprocess.run([sys.executable, f"{name}.py"], cwd=folder, env=environ, check=True, timeout=300)
    (table,) = (folder / "results").glob("*/results.csv")
    assert table.read_bytes() == local(folder)


def test_slurm_scripts(folder: Path) -> None:
    script = FILES["shards.sbatch"]
    assert "#SBATCH --array=1-40\n" in script
    assert "\nshards=40 " in script
    (folder / "shards.sbatch").write_text(script.replace("shards=40", f"shards={SHARDS}"), encoding="utf-8")
    for task in range(1, SHARDS + 1):
        environ = environment(SLURM_ARRAY_TASK_ID=str(task), SLURM_CPUS_PER_TASK="1", SCRATCH=str(folder / "scratch"))
        subprocess.run(["bash", "shards.sbatch"], cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
    environ = environment(SCRATCH=str(folder / "scratch"))
    subprocess.run(["bash", "merge.sbatch"], cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
    assert (folder / "results" / "wide-m" / "results.csv").read_bytes() == local(folder)


def container(manifest: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    job = next(part for part in yaml.safe_load_all(FILES[manifest]) if part["kind"] == "Job")
    containers: list[dict[str, Any]] = job["spec"]["template"]["spec"]["containers"]
    return {**containers[0], "job": job["spec"]}


def test_kubernetes_jobs(folder: Path) -> None:
    shard, merge = container("wide-m.yaml"), container("wide-m-merge.yaml")
    assert shard["job"]["completionMode"] == "Indexed"
    assert shard["job"]["completions"] == 40
    mounts = {mount["mountPath"] for mount in shard["volumeMounts"]}
    assert mounts == {"/experiment", "/results"}

    def here(command: str, shards: str) -> list[str]:
        assert shards in command
        command = command.replace(shards, shards.replace("40", str(SHARDS)))
        return ["/bin/sh", "-ec", command.replace("/experiment", str(folder)).replace("/results", str(folder / "out"))]

    for index in range(SHARDS):  # Kubernetes counts from 0
        command = here(shard["args"][0], "/40")
        environ = environment(JOB_COMPLETION_INDEX=str(index))
        subprocess.run(command, cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(here(merge["args"][0], " 40)"), env=environment(), check=True, stdout=subprocess.DEVNULL)
    assert (folder / "out" / "merged" / "results.csv").read_bytes() == local(folder)
