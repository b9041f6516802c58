"""A notebook as Markdown, with its stored outputs. The notebooks are executed by the tests, not here."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Rendered:
    """The page of a notebook and the pictures that it shows."""

    markdown: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)


def render(path: Path) -> Rendered:
    """Read a notebook and write its cells one after the other."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    page = Rendered()
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source.strip():
            parts.append(f"```python\n{source}\n```")
            parts.extend(_output(output, path.stem, page) for output in cell["outputs"])
    page.markdown = "\n\n".join(part for part in parts if part) + "\n"
    return page


def _output(output: dict[str, Any], name: str, page: Rendered) -> str:
    if output["output_type"] == "stream":
        # Progress bars and warnings go to stderr.
        return "" if output["name"] == "stderr" else _text("".join(output["text"]))
    data = output.get("data", {})
    if "image/png" in data:
        file = f"{name}-{len(page.pictures) + 1}.png"
        page.pictures[file] = base64.b64decode("".join(data["image/png"]))
        return f"![Output of the cell above]({file})"
    if "text/html" in data:
        # A blank line would end the HTML block.
        lines = [line for line in "".join(data["text/html"]).splitlines() if line.strip()]
        return '<div class="notebook-output">\n' + "\n".join(lines) + "\n</div>"
    if "text/plain" in data:
        return _text("".join(data["text/plain"]))
    return ""


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""
