"""Which file of the repository is which page of the site. Shared by the hooks and the check."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
SITE = "https://calibandit.github.io/calibandit/"
REPOSITORY = "https://github.com/calibandit/calibandit/"

# Pages whose source is not in docs/.
OUTSIDE = {
    "README.md": "index.md",
    "examples/warm_cache/README.md": "tutorials/warm-cache.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
}
NOTEBOOKS = "python/notebooks/"
# Files beside pages from outside docs/.
ASSETS = {"examples/warm_cache/warm_cache.png": "tutorials/warm_cache.png"}
# Not for readers: forms for GitHub, and the template of docs/benchmarks.md.
NOT_FOR_READERS = (".github/", "xtask/src/bench/page.md")


def page_of(source: str) -> str | None:
    """Return the page (or other file of the site) of a file of the repository, or None if the site has none."""
    if source in OUTSIDE:
        return OUTSIDE[source]
    if source in ASSETS:
        return ASSETS[source]
    path = PurePosixPath(source)
    if source.startswith(NOTEBOOKS) and path.suffix == ".ipynb":
        return f"notebooks/{path.stem}.md"
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    return None


def readable() -> list[str]:
    """List every Markdown file and notebook of the repository that a reader should find."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.ipynb"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    files = sorted(set(listed.stdout.split()))
    return [file for file in files if (ROOT / file).exists() and not file.startswith(NOT_FOR_READERS)]
