"""The installed package as ``pip show`` and package indexes describe it."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import calibandit as cb

ROOT = Path(__file__).parents[2]
SITE = "https://calibandit.github.io/calibandit/"


def test_one_wheel_serves_every_python_from_3_10_on() -> None:
    wheel = importlib.metadata.distribution("calibandit").read_text("WHEEL") or ""
    tags = re.findall(r"^Tag: (.+)$", wheel, re.MULTILINE)
    assert tags and all(tag.startswith("cp310-abi3-") for tag in tags), tags


def test_the_metadata_lead_to_the_documentation_and_to_the_authors() -> None:
    metadata = importlib.metadata.metadata("calibandit")
    urls = dict(str(entry).split(", ", 1) for entry in metadata.get_all("Project-URL") or [])
    assert {"Homepage", "Documentation", "Issues", "Changelog", "Contact"} <= urls.keys()
    assert urls["Documentation"] == SITE
    assert metadata["Author"] == "The Calibandit contributors"
    assert metadata["Version"] == cb.__version__
    classifiers = metadata.get_all("Classifier") or []
    assert [f"Programming Language :: Python :: 3.{minor}" in classifiers for minor in range(10, 15)] == [True] * 5


def test_docstrings_name_pages_that_users_of_pip_have() -> None:
    package = Path(cb.__file__).parent
    for path in package.glob("*.py"):
        assert not re.findall(r"\bdocs/[\w/-]+\.md", path.read_text(encoding="utf-8")), path.name
    named = {
        page
        for path in package.glob("*.py")
        for page in re.findall(rf"{SITE}([\w/-]+)\.html", path.read_text(encoding="utf-8"))
    }
    for page in named:
        assert (ROOT / "docs" / f"{page}.md").exists(), page
