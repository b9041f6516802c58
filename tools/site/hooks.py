"""Hooks of MkDocs: pages from outside docs/, API pages, and links that work both on GitHub and on the site."""

from __future__ import annotations

import ast
import os
import posixpath
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import notebook
import sources

# Title, first paragraph, and the modules whose names are on the page.
API_PAGES = {
    "simulation": (
        "Simulation and experiments",
        "`simulate` plays policies on games. An `Experiment` has the same, with sweeps, in a file or a dictionary.",
        ("_simulate", "_experiment", "_sweep", "_shards"),
    ),
    "results": (
        "Results",
        "What a simulation returns: the regret as a table, with summary, comparisons, plots and report.",
        ("_result", "_plot", "_compare"),
    ),
    "games": (
        "Games",
        "Games of your own (`Game`, `Arm`), games fitted to data (`fit`), and [games by name][calibandit.games].",
        ("_arm", "_game", "_optimum", "_noise", "_fit"),
    ),
    "memory": (
        "Memory from logs",
        "`diagnose` finds a memory bound in a log of plays, `pilot` plans the plays whose log gives one. See also the "
        "[guide page](../guide/which-memory-bound.md).",
        ("_diagnose", "_diagnosis", "_pilot", "_price", "_frame"),
    ),
    "policies": (
        "Policies",
        "The policies of the library are [functions][calibandit.policies]; a subclass of `Policy` is one of your own.",
        ("_policy",),
    ),
    "advisor": (
        "Advisor",
        "A policy in live use: ask which arm to play, then tell its loss. See also the how-to pages for "
        "[one place](../how-to/live-advisor.md) and for [many users at once](../how-to/many-users.md).",
        ("_advisor", "_advisor_state", "_lanes", "_lane", "_lane_decision", "_lane_state"),
    ),
    "gymnasium": (
        "Gymnasium",
        "Games as environments of Gymnasium, for agents that learn. See also the [how-to page](../guide/gymnasium.md).",
        (),
    ),
    "errors": (
        "Errors",
        "Every exception is a `CalibanditError` and also the built-in exception that fits, such as `ValueError`. "
        "Warnings are ordinary warnings of Python.",
        ("errors", "_errors", "_warnings"),
    ),
}
API_MODULES = {"games": "calibandit.games", "policies": "calibandit.policies", "gymnasium": "calibandit.gym"}

# Pages that stand alone in the navigation.
WITHOUT_SIDEBAR = ("index.md", "is-this-my-problem.md")
# `](target)` and `](target "title")`, also of pictures.
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=[)\s])")
# The name of the file that a block of code is, as the tests of the guide read it.
FENCE = re.compile(r"^(?P<fence>\s*```)(?P<language>\w+) +(?P<file>[\w./-]+)(?P<append> append)?$", re.MULTILINE)
SITE_LINK = re.compile(rf'(?<=href="){re.escape(sources.SITE)}(?P<target>[^"]*)')
# For 404.html, see `relative_to_root`.
ROOT_AS_BASE = """<base href="ROOT"><script>
if(location.protocol==="file:")document.querySelector("base").href="./"
</script>"""
CONFIG_FROM_BASE = """<script>{
const element=document.getElementById("__config"),config=JSON.parse(element.textContent)
for(const key of ["base","search"])config[key]=new URL(config[key],document.baseURI).href
element.textContent=JSON.stringify(config)
}</script>"""
LIST_ITEM = re.compile(r"^(?:[*-]|\d+\.) ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in docs/."""
    for source, page in (sources.OUTSIDE | sources.ASSETS).items():
        files.append(File.generated(config, page, abs_src_path=str(sources.ROOT / source)))
    for path in sorted((sources.ROOT / sources.NOTEBOOKS).glob("*.ipynb")):
        rendered = notebook.render(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=rendered.markdown))
        for name, content in rendered.pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for name, text in api_pages().items():
        files.append(File.generated(config, f"api/{name}.md", content=text))
    return files


def api_pages() -> dict[str, str]:
    """Write the pages of the Python reference: every public name is on one of them."""
    tree = package()
    modules = {
        alias.asname or alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    pages = {page: f"# {title}\n\n{first}\n" for page, (title, first, _) in API_PAGES.items()}
    index = "# Python\n\n::: calibandit\n    options:\n      members: false\n      show_root_heading: false\n"
    for name in sorted(public_names(tree), key=str.lower):
        page = next((page for page, (_, _, of) in API_PAGES.items() if modules.get(name) in of), None)
        if page is not None:
            pages[page] += f"\n::: calibandit.{name}\n"
        elif modules.get(name) == "_core" and not name.startswith("_"):
            pages["games"] += f"\n::: calibandit.{name}\n"
    for page, module in API_MODULES.items():
        pages[page] += f"\n::: {module}\n"
    index += "\n## Names\n\n| page | names |\n|---|---|\n"
    for page, (title, _, _) in API_PAGES.items():
        shown = re.findall(r"^::: calibandit\.(\w+)$", pages[page], re.MULTILINE)
        links = " ".join(f"[`{name}`][calibandit.{name}]" for name in shown)
        index += f"| [{title}]({page}.md) | {links} |\n"
    return pages | {"index": index}


def package() -> ast.Module:
    """Read the module that exports the public names."""
    return ast.parse((sources.ROOT / "python/calibandit/__init__.py").read_text(encoding="utf-8"))


def documented_names() -> list[str]:
    """List the names that must be on a page of the reference."""
    return public_names(package())


def public_names(tree: ast.Module) -> list[str]:
    """Read ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return [name for name in ast.literal_eval(node.value) if not name.startswith("__")]
    raise ValueError("python/calibandit/__init__.py has no __all__")


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Adapt what GitHub and MkDocs read differently."""
    if page.file.src_uri in WITHOUT_SIDEBAR:
        page.meta["hide"] = ["navigation"]
    markdown = FENCE.sub(titled, markdown)
    return with_blank_lines(LINK.sub(lambda match: target(match["target"], page), markdown))


def titled(fence: re.Match[str]) -> str:
    """Show the name of its file above a block of code."""
    title = f"add to {fence['file']}" if fence["append"] else fence["file"]
    return f'{fence["fence"]}{fence["language"]} title="{title}"'


def with_blank_lines(markdown: str) -> str:
    """Separate a list from the paragraph before it, which MkDocs needs and GitHub does not."""
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if not in_code and LIST_ITEM.match(line) and lines and lines[-1] and not in_list(lines):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def in_list(lines: list[str]) -> bool:
    """Whether the paragraph that ends here belongs to a list item."""
    for line in reversed(lines):
        if not line:
            return False
        if LIST_ITEM.match(line):
            return True
    return False


def target(link: str, page: Page) -> str:
    """Point a relative link of a source file to a page, or to the repository if the site has no such page."""
    if re.match(r"^[a-z]+:|^#|^/", link):
        return link
    path, hash_sign, anchor = link.partition("#")
    source = source_of(page)
    if source is None:
        return link
    linked = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    destination = sources.page_of(linked)
    if destination is not None:
        return posixpath.relpath(destination, posixpath.dirname(page.file.src_uri) or ".") + hash_sign + anchor
    if (sources.ROOT / linked).exists():
        kind = "tree" if (sources.ROOT / linked).is_dir() else "blob"
        return f"{sources.REPOSITORY}{kind}/main/{linked}{hash_sign}{anchor}"
    return link


def source_of(page: Page) -> str | None:
    """Return the path of a page's source in the repository, or None for a page that is made here."""
    uri = page.file.src_uri
    for source, outside in sources.OUTSIDE.items():
        if outside == uri:
            return source
    if uri.startswith("notebooks/"):
        # Pictures of outputs are beside the page and are no files of the repository.
        return sources.NOTEBOOKS + posixpath.basename(uri).replace(".md", ".ipynb")
    return None if uri.startswith("api/") and uri != "api/rust.md" else f"docs/{uri}"


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Turn links to the published site into relative ones, so that every copy of the site is complete."""
    folder = posixpath.dirname(page.file.dest_uri) or "."
    return SITE_LINK.sub(lambda match: posixpath.relpath(match["target"] or "index.html", folder), html)


def on_post_page(output: str, **_: object) -> str:
    """Keep the theme from asking GitHub for the number of stars: no page loads anything from another host."""
    return output.replace(' data-md-component="source"', "")


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Make the page for missing addresses work from a folder too."""
    if template_name != "404.html":
        return output_content
    return relative_to_root(on_post_page(output_content), urlsplit(config.site_url or "/").path)


def relative_to_root(html: str, root: str) -> str:
    """Make absolute addresses below ``root`` relative to the folder of the site.

    A host shows the page at the missing address, in whatever folder that is, so the page names the root as the base of
    its addresses; a script changes that if the page was opened from a folder. The theme's own scripts take the address
    of the page as the base, and are told to take that one.
    """
    html = re.sub(rf'(?<="){re.escape(root)}(?=[^"]*")', "./", html)
    html = html.replace("<head>", "<head>" + ROOT_AS_BASE.replace("ROOT", root), 1)
    html = html.replace('__md_scope=new URL("./",location)', '__md_scope=new URL("./",document.baseURI)')
    return re.sub(r'(<script id="__config".*?</script>)', lambda config: config[0] + CONFIG_FROM_BASE, html, count=1)


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the documentation of the Rust crates, if it was made (`cargo doc --workspace --no-deps`)."""
    made = sources.ROOT / "target/doc"
    if made.is_dir():
        shutil.copytree(made, os.path.join(config.site_dir, "rust"), dirs_exist_ok=True, ignore=not_documentation)


def not_documentation(folder: str, names: list[str]) -> set[str]:
    """Leave out the lock of Cargo and the crates that are not for users."""
    return {name for name in names if name.startswith((".", "xtask")) or name == "calibandit_py"}
