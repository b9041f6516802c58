"""Checks the built site: every page is found from the home page, no link is broken, nothing is loaded from elsewhere.

Called as ``check.py FOLDER`` after ``mkdocs build``. Prints what is wrong and exits with 1 if anything is.
"""

from __future__ import annotations

import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

import hooks
import sources

HOME = "index.html"
# What hosts show at addresses that do not exist: no page links to it, but it links to pages.
MISSING = "404.html"
# Made by rustdoc, which checks its own links.
RUST = "rust/"
# Attributes from which a browser loads something.
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)")


class PageContent(HTMLParser):
    """The anchors, the links and the loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.has_raw_fence = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag defines or points to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADED[tag]])
        if values.get("data-md-component") == "source":
            # The script of the theme asks for the number of stars and the latest release.
            self.loaded.append("https://api.github.com/")

    def handle_data(self, data: str) -> None:
        """Find fences of code that were not understood."""
        self.has_raw_fence |= "```" in data


class BuiltSite:
    """The pages of a folder, and what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
        names = [name for name in found if not name.startswith(RUST)]
        self.pages = {name: PageContent((folder / name).read_text(encoding="utf-8")) for name in names}
        self.problems: list[str] = []

    def check(self) -> None:
        """Run every check."""
        reached = self.follow_links()
        self.problems += [f"{page}: not found from the home page" for page in sorted(set(self.pages) - reached)]
        self.find_sources(reached)
        self.find_names()
        for page, content in self.pages.items():
            if content.has_raw_fence:
                self.problems.append(f"{page}: shows a fence (```): MkDocs did not understand this block of code")
            for url in content.loaded:
                if urlsplit(url).scheme in ("http", "https") or url.startswith("//"):
                    self.problems.append(f"{page}: loads {url}")
                elif not urlsplit(url).scheme:
                    self.resolve(page, url)

    def follow_links(self) -> set[str]:
        """Follow links from the home page and report those that lead nowhere."""
        reached, to_do = {HOME, MISSING}, [MISSING, HOME]
        while to_do:
            page = to_do.pop()
            for url in self.pages[page].links:
                linked = self.resolve(page, url)
                if linked in self.pages and linked not in reached:
                    reached.add(linked)
                    to_do.append(linked)
        return reached

    def resolve(self, page: str, url: str) -> str | None:
        """Return the file of the site that a link means; None if it leads elsewhere."""
        parts = urlsplit(url)
        if url.startswith(sources.REPOSITORY):
            self.resolve_in_repository(page, url)
            return None
        if url.startswith(sources.SITE):
            self.problems.append(f"{page}: {url} should be relative")
            return None
        if parts.scheme or url.startswith("//"):
            return None
        linked = (
            posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
        )
        if not (self.folder / linked).is_file():
            self.problems.append(f"{page}: {url} does not exist")
        elif linked in self.pages and parts.fragment:
            fragment = unquote(parts.fragment)
            if fragment not in self.pages[linked].anchors and not fragment.startswith("__"):
                self.problems.append(f"{page}: {url}: the page has no such anchor")
        return linked

    def resolve_in_repository(self, page: str, url: str) -> None:
        """Report a link to a file that the repository does not have."""
        match = re.match(r"(?:blob|tree)/main/([^#?]+)", url.removeprefix(sources.REPOSITORY))
        if match and not (sources.ROOT / unquote(match[1])).exists():
            self.problems.append(f"{page}: {url}: the repository has no such file")

    def find_sources(self, reached: set[str]) -> None:
        """Report files for readers that are neither a page nor linked from one, nor from the README's side."""
        linked = {url.partition("#")[0] for page in reached for url in self.pages[page].links}
        on_github = markdown_reached()
        for source in sources.readable():
            page = sources.page_of(source)
            as_page = page is not None and posixpath.splitext(page)[0] + ".html" in reached
            if not as_page and f"{sources.REPOSITORY}blob/main/{source}" not in linked:
                self.problems.append(f"{source}: not found from the home page of the site")
            if source not in on_github:
                self.problems.append(f"{source}: not found from README.md by following links of Markdown files")

    def find_names(self) -> None:
        """Report public names of the Python package that no page documents."""
        anchors = {
            anchor for page, content in self.pages.items() if page.startswith("api/") for anchor in content.anchors
        }
        names = hooks.documented_names()
        missing = [name for name in names if f"calibandit.{name}" not in anchors]
        self.problems += [f"calibandit.{name}: not in the API reference" for name in missing]


def markdown_reached() -> set[str]:
    """Follow relative links from README.md through the Markdown files of the repository, as on GitHub."""
    reached, to_do = {"README.md"}, ["README.md"]
    while to_do:
        source = to_do.pop()
        text = (sources.ROOT / source).read_text(encoding="utf-8")
        for link in MARKDOWN_LINK.findall(text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.partition("#")[0]))
            if re.match(r"[a-z]+:", link) or path in reached or not (sources.ROOT / path).is_file():
                continue
            reached.add(path)
            if path.endswith((".md", ".ipynb")):
                to_do.append(path)
    return reached


def main() -> int:
    """Check the site in the folder that the command line names."""
    site = BuiltSite(Path(sys.argv[1]))
    site.check()
    for problem in site.problems:
        print(problem)
    print(f"{len(site.pages)} pages, {len(sources.readable())} sources, {len(site.problems)} problems")
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
