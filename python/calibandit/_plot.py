"""Plots of results. What is drawn, and in which style, is decided by the compiled module, as for the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._json import dumps, loads
from ._options import choice, text
from .errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._result import Result

#: The markers of the report in matplotlib.
_MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "triangle-down": "v",
    "diamond": "D",
    "plus": "P",
    "cross": "X",
    "star": "*",
}
#: Opacity of a band, and of the outer one of two.
_BAND, _OUTER_BAND = 0.18, 0.09
#: The number of markers along a curve over time.
_MARKS = 6
#: The default name of simulations.
_SIMULATION = "simulation"


def plot(
    result: Result,
    ax: Axes | None,
    x: str | None,
    column: str,
    policies: list[str] | None,
    log: bool | str | None,
    spread: str | None,
    backend: str,
) -> Any:
    """See :meth:`Result.plot`."""
    known = ["cpr", "reward" if result._table.are_in_rewards() else "loss", "switches"]
    if column not in known:
        raise UnknownNameError(f"column {column!r} cannot be plotted; use {known[0]}, {known[1]} or {known[2]}")
    choice("spread", spread, ["stderr", "quantiles", "instances", None])
    choice("backend", backend, ["matplotlib", "plotly"])
    for name in policies or []:
        if name not in result.policies:
            raise UnknownNameError(f"there is no policy {name!r}; the policies are {', '.join(result.policies)}")
    if x is not None:
        text("x", x)
    request = {"x": x, "column": column, "policies": policies, "spread": spread or "none", **_scales(log)}
    drawn = loads(result._table.plot(dumps(request)))
    if backend == "plotly":
        if ax is not None:
            raise SpecError("`ax` is for matplotlib: leave it out with plotly")
        return _plotly(drawn["plotly"])
    return _matplotlib(drawn["figure"], {style["label"]: style for style in drawn["styles"]}, spread, ax)


def _scales(log: bool | str | None) -> dict[str, str]:
    if log is None:
        return {}
    choice("log", log, [True, False, "x", "y", "xy"])
    letters = "xy" if log is True else log or ""
    return {f"{axis}_scale": "log" if axis in letters else "linear" for axis in "xy"}


def _plotly(description: dict[str, Any]) -> Any:
    try:
        import plotly.graph_objects
    except ImportError as error:
        raise ImportError('`backend="plotly"` needs plotly: pip install plotly') from error
    return plotly.graph_objects.Figure(description)


def _matplotlib(figure: dict[str, Any], styles: dict[str, Any], spread: str | None, ax: Axes | None) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    panels = figure["panels"]
    if ax is not None:
        if len(panels) != 1:
            raise SpecError(f"`ax` holds one panel, but there are {len(panels)}: leave it out")
        _panel(ax, panels[0], styles, spread)
        ax.set_title(panels[0]["title"] or figure["title"])
        ax.legend()
        return ax
    columns = min(len(panels), 1 if len(panels) == 1 else 2 if len(panels) in (2, 4) else 3)
    rows = math.ceil(len(panels) / columns)
    size = (7.6, 4.4) if len(panels) == 1 else (4.6 * columns + 1.2, 3.6 * rows)
    drawing, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    places = grid.ravel()
    for place, panel in zip(places, panels):
        _panel(place, panel, styles, spread)
        place.set_title(panel["title"])
    for place in places[len(panels) :]:
        place.set_visible(False)
    # Outside, so that it covers no curve. Panels may have different curves.
    handles = {label: handle for place in places for handle, label in zip(*place.get_legend_handles_labels())}
    drawing.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    # A simulation without a name of its own needs no title.
    title = "" if figure["title"] == _SIMULATION else figure["title"]
    if len(panels) > 1:
        drawing.suptitle(title)
        return grid
    places[0].set_title("\n".join(line for line in (title, panels[0]["title"]) if line))
    return places[0]


def plot_described(text: str, ax: Axes | None, backend: str) -> Any:
    """Draw figures with confidence intervals and marked values, which the compiled module describes as JSON."""
    choice("backend", backend, ["matplotlib", "plotly"])
    described = loads(text)
    if not described["figure"]["panels"]:
        raise SpecError("there is nothing to draw: the log has too few plays for a curve")
    if backend == "plotly":
        if ax is not None:
            raise SpecError("`ax` is for matplotlib: leave it out with plotly")
        return _plotly(described["plotly"])
    styles = {style["label"]: style for style in described["styles"]}
    return _matplotlib(described["figure"], styles, "interval", ax)


def _panel(ax: Axes, panel: dict[str, Any], styles: dict[str, Any], spread: str | None) -> None:
    for i, series in enumerate(panel["series"]):
        style = styles[series["label"]]
        points = series["points"]
        x = [point["x"] for point in points]
        mean = [point["mean"] for point in points]
        _spread(ax, series, x, style["color"], spread)
        every_point = series["mark"] == "line-and-points" or len(points) < 2
        step = max(1, len(points) // _MARKS)
        ax.plot(
            x,
            mean,
            color=style["color"],
            linestyle=(0, [length / style["width"] for length in style["dash"]]) if style["dash"] else "-",
            linewidth=style["width"],
            marker=_MARKERS[style["marker"]],
            markersize=8 if style["marker"] == "star" else 5,
            # Along lines, the markers of different curves are at different places.
            markevery=1 if every_point else ((i * step) // max(1, len(panel["series"])), step),
            label=series["label"],
        )
    for axis, letter in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        described = panel[letter]
        getattr(ax, f"set_{letter}label")(described["label"])
        if described["scale"] == "log":
            getattr(ax, f"set_{letter}scale")("log")
        else:
            axis.set_major_formatter(_number)
    if panel["y"]["min"] is not None:
        ax.set_ylim(bottom=panel["y"]["min"])
    for rule in panel.get("rules", []):
        ax.axvline(rule["at"], color="0.45", linewidth=1.2, linestyle=(0, (4, 3)))
        ax.annotate(
            rule["label"],
            (rule["at"], 1),
            (4, -4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            fontsize="small",
            color="0.35",
        )


def _spread(ax: Axes, series: dict[str, Any], x: list[float], color: str, spread: str | None) -> None:
    points = series["points"]
    intervals = [point.get("interval") for point in points]
    if spread == "interval" and all(intervals):
        low, high = ([interval[end] for interval in intervals] for end in (0, 1))
        ax.fill_between(x, low, high, color=color, alpha=_BAND, linewidth=0)
    elif spread in ("stderr", "interval") and any(point["stderr"] for point in points):
        low = [point["mean"] - point["stderr"] for point in points]
        high = [point["mean"] + point["stderr"] for point in points]
        ax.fill_between(x, low, high, color=color, alpha=_BAND, linewidth=0)
    if spread == "quantiles":
        for low_key, high_key, opacity in (("min", "max", _OUTER_BAND), ("p10", "p90", _BAND)):
            low, high = ([point["quantiles"][key] for point in points] for key in (low_key, high_key))
            ax.fill_between(x, low, high, color=color, alpha=opacity, linewidth=0)
    if spread == "instances":
        for instance in series["instances"]:
            ax.plot(x, instance, color=color, linewidth=0.6, alpha=0.35)


def _number(value: float, _: float = 0) -> str:
    """A number on a linear axis.

    >>> _number(20000.0), _number(0.25)
    ('20,000', '0.25')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
