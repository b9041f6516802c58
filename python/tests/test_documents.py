"""The Python code in the documents is run unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/guide/gymnasium.md",
    "docs/guide/python.md",
    "docs/guide/your-own-game.md",
    "docs/guide/your-own-policy.md",
    "docs/how-to/live-advisor.md",
    "docs/how-to/many-users.md",
    "docs/how-to/plan-a-pilot.md",
    "docs/how-to/results.md",
]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("gymnasium", "matplotlib", "pandas", "polars"):
        pytest.importorskip(module)
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found, f"{page} shows no Python"
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, page, "exec"), names)
