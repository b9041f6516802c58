// One panel as an interactive SVG. The panels of a figure share a view that says what is shown:
// { x, y: null (as in the figure) | "linear" | "log", spread: "none" | "stderr" | "sigma" | "quantiles" | "instances",
//   off: the set of hidden policies }.

const SVG_NAME = "http://www.w3.org/2000/svg";

function shape(name, attributes = {}, text) {
  const element = document.createElementNS(SVG_NAME, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text) {
  ruler.font = "11px system-ui, sans-serif";
  return ruler.measureText(text).width;
}

const tenth = (v) => Math.round(v * 10) / 10;

/** Path data through the points; the path is interrupted where a point has no position. */
function pathThrough(xs, ys, x, y) {
  let data = "";
  let pen = "M";
  for (let i = 0; i < xs.length; i++) {
    const px = x(xs[i]);
    const py = y(ys[i]);
    if (Number.isNaN(px) || Number.isNaN(py)) {
      pen = "M";
      continue;
    }
    data += `${pen}${tenth(px)} ${tenth(py)}`;
    pen = "L";
  }
  return data;
}

/** Path data of the area between two edges. Where the lower edge has no position on a log axis, it is at `floor`. */
function pathBetween(xs, lower, upper, x, y, floor) {
  let data = "";
  let above = [];
  let below = [];
  const close = () => {
    if (above.length > 1) data += `M${above.join("L")}L${below.reverse().join("L")}Z`;
    above = [];
    below = [];
  };
  for (let i = 0; i < xs.length; i++) {
    const [px, top, end] = [x(xs[i]), y(upper[i]), y(lower[i])];
    if (Number.isNaN(px) || Number.isNaN(top) || lower[i] === null) {
      close();
      continue;
    }
    above.push(`${tenth(px)} ${tenth(top)}`);
    below.push(`${tenth(px)} ${tenth(Number.isNaN(end) ? floor : end)}`);
  }
  close();
  return data;
}

/** The edges of the bands that a view shows, as [lower, upper, opacity]. */
function bands(series, spread) {
  const around = (width, factor) => [
    series.mean.map((m, i) => (m === null || width[i] === null ? null : m - factor * width[i])),
    series.mean.map((m, i) => (m === null || width[i] === null ? null : m + factor * width[i])),
    0.2,
  ];
  if (spread === "stderr" && series.stderr) return [around(series.stderr, 1)];
  if (spread === "sigma" && series.sigma) return [around(series.sigma, 2)];
  if (spread === "quantiles" && series.quantiles) {
    const [min, p10, , p90, max] = series.quantiles;
    return [[min, max, 0.1], [p10, p90, 0.2]];
  }
  return [];
}

class Chart {
  constructor(host, panel, view, policies, tip) {
    Object.assign(this, { host, panel, view, policies, tip });
    for (const series of panel.series) series.xs ??= panel.xs;
    this.at = null;
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    host.addEventListener("pointermove", (event) => this.point(event));
    host.addEventListener("pointerdown", (event) => this.point(event));
    host.addEventListener("pointerleave", () => this.leave());
    host.addEventListener("blur", () => this.leave());
    host.addEventListener("keydown", (event) => this.key(event));
  }

  visible() {
    return this.panel.series.filter((series) => !this.view.off.has(series.policy));
  }

  isLog(axis) {
    return this.view[axis] === null ? this.panel[axis].log : this.view[axis] === "log";
  }

  /** The x values of the visible curves within the limits, sorted. */
  places() {
    const [low, high] = this.xLimits;
    const all = this.visible().flatMap((series) => series.xs);
    return [...new Set(all)].filter((v) => v >= low && v <= high && !Number.isNaN(this.x(v))).sort((a, b) => a - b);
  }

  draw() {
    const { panel, view, host } = this;
    const shown = this.visible();
    const width = Math.max(200, host.clientWidth);
    const alone = host.dataset.alone === "true";
    const large = Math.min(480, Math.max(260, width * (width < 560 ? 0.78 : 0.52)));
    const height = Math.round(alone ? large : Math.max(200, width * 0.68));
    const [logX, logY] = [this.isLog("x"), this.isLog("y")];
    const sweep = panel.series.some((series) => series.points);
    const xs = shown.flatMap((s) => s.xs.concat((s.dots ?? []).map((dot) => dot[0])));
    this.xLimits = limits(logX, panel.x, xs, sweep, !sweep);
    const yLimits = limits(logY, panel.y, this.extent(shown, logY), true, true);
    const yTicks = ticks(logY, yLimits, height / 50);
    const left = Math.ceil(Math.max(...yTicks.map((t) => textWidth(t.label)), 12)) + 12;
    const frame = { left, top: 24, right: width - 14, bottom: height - 40 };
    const x = (this.x = mapping(logX, this.xLimits, frame.left, frame.right));
    const y = (this.y = mapping(logY, yLimits, frame.bottom, frame.top));
    this.frame = frame;
    const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    this.axes(svg, yTicks, logX, sweep);
    const inner = shape("svg", {
      x: frame.left,
      y: frame.top,
      width: Math.max(1, frame.right - frame.left),
      height: Math.max(1, frame.bottom - frame.top),
      viewBox: `${frame.left} ${frame.top} ${frame.right - frame.left} ${frame.bottom - frame.top}`,
    });
    const color = (series) => `var(--p${series.policy})`;
    for (const series of shown) {
      for (const [lower, upper, opacity] of bands(series, view.spread)) {
        const d = pathBetween(series.xs, lower, upper, x, y, frame.bottom);
        inner.append(shape("path", { class: "band", d, style: `fill:${color(series)};fill-opacity:${opacity}` }));
      }
      if (view.spread === "instances" && series.instances) {
        const d = series.instances.map((row) => pathThrough(series.xs, row, x, y)).join("");
        inner.append(shape("path", { class: "instances", d, style: `stroke:${color(series)}` }));
      }
    }
    for (const series of shown) {
      const d = (series.dots ?? []).map(([px, py]) => [x(px), y(py)]).filter(([px, py]) => !Number.isNaN(px + py));
      const dot = ([px, py]) => `M${tenth(px - 2)} ${tenth(py)}a2 2 0 1 0 4 0a2 2 0 1 0-4 0`;
      const style = `fill:${color(series)}`;
      if (d.length) inner.append(shape("path", { class: "dots", d: d.map(dot).join(""), style }));
    }
    for (const series of shown) this.curve(inner, series);
    shown.forEach((series, nth) => this.markers(inner, series, (nth + 0.5) / shown.length));
    svg.append(inner);
    this.hover = shape("g", { class: "hover" });
    svg.append(this.hover);
    const lost = logY ? shown.reduce((n, s) => n + s.mean.filter((m) => m !== null && m <= 0).length, 0) : 0;
    const middle = { x: (frame.left + frame.right) / 2, y: (frame.top + frame.bottom) / 2, "text-anchor": "middle" };
    if (!shown.length) svg.append(shape("text", middle, "All policies are hidden"));
    else if (lost) {
      const note =
        lost === 1
          ? "1 value is not positive and is not shown on a log axis"
          : `${lost} values are not positive and are not shown on a log axis`;
      svg.append(shape("text", { x: frame.left + 6, y: frame.top + 12, class: "warning" }, note));
    }
    host.replaceChildren(svg);
    host.setAttribute("aria-label", this.describe(shown));
    if (this.at !== null) this.show(this.at, false);
  }

  describe(shown) {
    const { title, x, y } = this.panel;
    const names = shown.map((series) => this.policies[series.policy].label).join(", ");
    const what = `${y.label} against ${x.label} for ${names || "no policy"}.`;
    return `${title ? `${title}. ` : ""}${what} Use the arrow keys to read values.`;
  }

  /** The y values that must be within the limits. */
  extent(shown, log) {
    const [low, high] = this.xLimits;
    const values = [];
    for (const series of shown) {
      const rows = [series.mean];
      for (const [lower, upper] of bands(series, this.view.spread)) rows.push(upper, ...(log ? [] : [lower]));
      if (this.view.spread === "instances" && series.instances) rows.push(...series.instances);
      for (const row of rows) {
        row.forEach((v, i) => {
          if (v !== null && series.xs[i] >= low && series.xs[i] <= high) values.push(v);
        });
      }
      for (const [px, py] of series.dots ?? []) if (px >= low && px <= high) values.push(py);
    }
    return values;
  }

  axes(svg, yTicks, logX, sweep) {
    const { frame, x, y, panel } = this;
    const line = (kind, x1, y1, x2, y2) => svg.append(shape("line", { class: kind, x1, y1, x2, y2 }));
    let xTicks = ticks(logX, this.xLimits, (frame.right - frame.left) / 64);
    const values = this.places();
    if (sweep && values.length && values.length <= 12) {
      xTicks = sweepTicks(values);
    }
    // A label that would touch another one is left out; powers of ten have priority.
    const round = (t) => logX && Math.abs(Math.log10(t.at) % 1) < 1e-9;
    const taken = [];
    for (const tick of [...xTicks].sort((a, b) => round(b) - round(a))) {
      if (!tick.label) continue;
      const half = textWidth(tick.label) / 2 + 4;
      const span = [x(tick.at) - half, x(tick.at) + half];
      if (taken.some(([from, to]) => span[1] > from && span[0] < to)) tick.label = "";
      else taken.push(span);
    }
    for (const { at, label } of xTicks) {
      const px = tenth(x(at));
      line(label ? "grid" : "grid minor", px, frame.top, px, frame.bottom);
      const place = { class: "tick x-tick", x: px, y: frame.bottom + 17, "text-anchor": "middle" };
      if (label) svg.append(shape("text", place, label));
    }
    for (const { at, label } of yTicks) {
      const py = tenth(y(at));
      line(label ? "grid" : "grid minor", frame.left, py, frame.right, py);
      const place = { class: "tick y-tick", x: frame.left - 8, y: py + 4, "text-anchor": "end" };
      if (label) svg.append(shape("text", place, label));
    }
    const zero = y(0);
    if (zero > frame.top && zero < frame.bottom) line("zero", frame.left, zero, frame.right, zero);
    line("axis", frame.left, frame.bottom, frame.right, frame.bottom);
    line("axis", frame.left, frame.top, frame.left, frame.bottom);
    svg.append(shape("text", { class: "axis-label", x: 2, y: 12 }, panel.y.label));
    const middle = { x: (frame.left + frame.right) / 2, y: frame.bottom + 35, "text-anchor": "middle" };
    svg.append(shape("text", { class: "axis-label", ...middle }, panel.x.label));
  }

  curve(inner, series) {
    const look = this.policies[series.policy];
    inner.append(
      shape("path", {
        class: "curve",
        "data-policy": series.policy,
        d: pathThrough(series.xs, series.mean, this.x, this.y),
        "stroke-width": look.width,
        "stroke-dasharray": look.dash.join(" "),
        style: `stroke:var(--p${series.policy})`,
      }),
    );
  }

  marker(series, px, py, radius) {
    const corners = this.policies[series.policy].marker;
    const d = `M${corners.map(([dx, dy]) => `${tenth(px + radius * dx)} ${tenth(py + radius * dy)}`).join("L")}Z`;
    return shape("path", { class: "marker", "data-policy": series.policy, d, style: `fill:var(--p${series.policy})` });
  }

  /**
   * A marker at every point of a sweep. Other curves have a few markers at equal distances, shifted from curve to curve
   * by `stagger`, so that markers of equal curves do not cover each other.
   */
  markers(inner, series, stagger) {
    const { frame, x, y } = this;
    const line = series.xs.map((v, i) => [x(v), y(series.mean[i])]).filter(([px, py]) => !Number.isNaN(px + py));
    if (series.points || line.length === 1) {
      for (const [px, py] of line) inner.append(this.marker(series, px, py, 3.6));
      return;
    }
    const count = frame.right - frame.left < 360 ? 4 : 6;
    for (let i = 0, at = 1; i < count; i++) {
      const px = frame.left + ((frame.right - frame.left) * (i + stagger)) / count;
      while (at < line.length && line[at][0] < px) at++;
      if (at >= line.length || line[at - 1][0] > px) continue;
      const [[x0, y0], [x1, y1]] = [line[at - 1], line[at]];
      inner.append(this.marker(series, px, y0 + ((y1 - y0) * (px - x0)) / (x1 - x0 || 1), 3.6));
    }
  }

  point(event) {
    const box = this.host.getBoundingClientRect();
    const px = event.clientX - box.left;
    let best = null;
    const distance = (v) => Math.abs(this.x(v) - px);
    for (const v of this.places()) if (best === null || distance(v) < distance(best)) best = v;
    if (best !== null) this.show(best, false);
  }

  key(event) {
    const places = this.places();
    const now = places.indexOf(this.at);
    const step = Math.max(1, Math.round(places.length / 25));
    const left = now < 0 ? 0 : now - step;
    const next = { ArrowRight: now + step, ArrowLeft: left, Home: 0, End: places.length - 1 }[event.key];
    if (event.key === "Escape") this.leave();
    if (next === undefined || !places.length) return;
    event.preventDefault();
    this.show(places[Math.max(0, Math.min(places.length - 1, next))], true);
  }

  leave() {
    this.at = null;
    this.hover?.replaceChildren();
    this.tip.hide();
  }

  /** The value of a curve at a point, in the form that `meaning` describes. */
  value(series, i) {
    const mean = readable(series.mean[i]);
    const quantile = (row) => readable(series.quantiles[row][i]);
    const between = (low, high) => `${mean} (${quantile(low)}–${quantile(high)})`;
    if (this.view.spread === "quantiles" && series.quantiles) return between(1, 3);
    if (this.view.spread === "instances" && series.quantiles) return between(0, 4);
    if (this.view.spread === "sigma" && series.sigma) return `${mean} ± ${readable(2 * series.sigma[i])}`;
    return series.stderr ? `${mean} ± ${readable(series.stderr[i])}` : mean;
  }

  meaning() {
    const meanings = { quantiles: "mean (10–90 %)", instances: "mean (least–greatest)", sigma: "mean ± 2σ" };
    return meanings[this.view.spread] ?? "mean ± stderr";
  }

  show(at, aloud) {
    this.at = at;
    const { frame, x, y } = this;
    const px = x(at);
    const rows = [];
    this.hover.replaceChildren(shape("line", { class: "cross", x1: px, x2: px, y1: frame.top, y2: frame.bottom }));
    for (const series of this.visible()) {
      const i = series.xs.indexOf(at);
      if (i < 0 || series.mean[i] === null) continue;
      const { policy } = series;
      rows.push({ policy, mean: series.mean[i], text: this.value(series, i), label: this.policies[policy].label });
      const py = y(series.mean[i]);
      if (py >= frame.top - 1 && py <= frame.bottom + 1) {
        this.hover.append(shape("circle", { cx: px, cy: py, r: 4, style: `fill:var(--p${series.policy})` }));
      }
    }
    rows.sort((a, b) => b.mean - a.mean);
    const head = `${this.panel.x.label} = ${exact(at)}`;
    this.tip.show(this.host, px, head, this.meaning(), rows);
    if (aloud) say(`${head}. ${rows.map((row) => `${row.label}: ${row.text}`).join("; ")}`);
  }
}
