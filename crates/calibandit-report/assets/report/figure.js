// One figure: its view, its panels as plots of plotly, reading of values, downloads.

const shared = JSON.parse(document.getElementById("report-data").textContent);
const policies = shared.policies;
const policyOf = new Map(policies.map((policy, nth) => [policy.label, nth]));

/** The numbers of an array of the page's data; report/data.rs describes the form. */
function numbers(text) {
  const bytes = Uint8Array.from(atob(text.slice(1)), (c) => c.charCodeAt(0));
  return text[0] === "d" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

/** The description of a figure, {data, layout}, from the page's data. */
function unpack(packed) {
  const decoded = new Map();
  const array = (nth) => {
    if (nth === null) return undefined;
    if (!decoded.has(nth)) decoded.set(nth, numbers(packed.arrays[nth]));
    return decoded.get(nth);
  };
  const data = packed.data.map(([look, panel, x, y, customdata]) => {
    const attributes = packed.looks[look];
    const meta = { ...attributes.meta, panel, policy: policyOf.get(attributes.meta.label) };
    return { ...attributes, meta, x: array(x), y: array(y), customdata: array(customdata) };
  });
  return { data, layout: packed.layout };
}

/** `rgba(...)` with the opacity of another one. */
function tinted(rgba, color) {
  const part = (at) => parseInt(color.slice(at, at + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${rgba.match(/([\d.]+)\)$/)[1]})`;
}

/** The trace in the colours of a theme. */
function painted(trace, dark) {
  const { color, dark: bright } = policies[trace.meta.policy];
  const chosen = dark ? bright : color;
  const copy = { ...trace };
  if (trace.fillcolor) copy.fillcolor = tinted(trace.fillcolor, chosen);
  if (trace.line) {
    const { color: own } = trace.line;
    copy.line = { ...trace.line, color: own.startsWith("rgba") ? tinted(own, chosen) : chosen };
  }
  if (trace.marker) copy.marker = { ...trace.marker, color: chosen };
  return copy;
}

const axisName = (axis, panel) => (panel === 0 ? axis : `${axis}${panel + 1}`);

class FigureView {
  constructor(root, view, changed, isDark) {
    Object.assign(this, { root, view, changed, isDark });
    this.key = root.dataset.key;
    this.hosts = [...root.querySelectorAll(".plot")];
    this.buttons = [...root.querySelectorAll(".legend button")];
    this.drawn = false;
    for (const which of ["x", "y", "spread"]) {
      for (const input of root.querySelectorAll(`input[name="${this.key}-${which}"]`)) {
        input.addEventListener("change", () => this.choose(which, input.value));
      }
    }
    for (const button of this.buttons) {
      const policy = Number(button.dataset.policy);
      // A double click is two clicks, which cancel each other, and then isolates the policy.
      button.addEventListener("click", (event) => (event.shiftKey ? this.isolate(policy) : this.toggle(policy)));
      button.addEventListener("dblclick", (event) => event.shiftKey || this.isolate(policy));
    }
    for (const button of root.querySelectorAll("[data-download]")) {
      button.addEventListener("click", () => this.download(button));
    }
    this.refresh();
  }

  /** The description of the figure, read when it is first needed. */
  get plot() {
    this.described ??= unpack(JSON.parse(document.getElementById(`${this.key}-data`).textContent));
    return this.described;
  }

  get spread() {
    return this.view.spread ?? this.root.dataset.spread;
  }

  scaleOf(axis, panel) {
    return this.view[axis] ?? this.plot.layout[axisName(`${axis}axis`, panel)].type;
  }

  choose(which, value) {
    this.view[which] = value === this.root.dataset[which] ? null : value;
    if (which !== "spread") this.view.zoom.clear();
    this.update();
  }

  toggle(policy) {
    if (!this.view.off.delete(policy)) this.view.off.add(policy);
    this.update();
  }

  isolate(policy) {
    const all = this.buttons.map((button) => Number(button.dataset.policy));
    const alone = all.every((other) => this.view.off.has(other) === (other !== policy));
    this.view.off = new Set(alone ? [] : all.filter((other) => other !== policy));
    this.update();
  }

  update() {
    this.refresh();
    if (this.drawn) this.draw();
    this.changed(this);
  }

  /** Brings controls, legend and caption in line with the view. */
  refresh() {
    const { root, view } = this;
    for (const which of ["x", "y", "spread"]) {
      const value = view[which] ?? root.dataset[which];
      const input = root.querySelector(`input[name="${this.key}-${which}"][value="${value}"]`);
      if (!input) continue;
      input.checked = true;
      const caption = root.querySelector(".spread-now");
      if (which === "spread" && caption) caption.textContent = input.dataset.sentence;
    }
    for (const button of this.buttons) button.setAttribute("aria-pressed", !view.off.has(Number(button.dataset.policy)));
  }

  /** The traces of a panel (of all panels without one) as the view shows them. */
  traces(panel, dark) {
    const { off } = this.view;
    const chosen = this.plot.data.filter((trace) => panel === undefined || trace.meta.panel === panel);
    return chosen.map((trace) => {
      const { spread, role, policy } = trace.meta;
      const copy = painted(trace, dark);
      copy.visible = !off.has(policy) && (spread === undefined || spread === this.spread);
      if (role === "band" && copy.visible && this.scaleOf("y", trace.meta.panel) === "log") {
        const { floor } = this.plot.layout.meta.axes[trace.meta.panel];
        copy.y = trace.y.map((value) => (value < floor ? floor : value));
      }
      copy.xaxis = panel === undefined ? axisName("x", trace.meta.panel) : "x";
      copy.yaxis = panel === undefined ? axisName("y", trace.meta.panel) : "y";
      return copy;
    });
  }

  /** The axes of a panel, with the limits of its zoom. */
  axes(panel) {
    const { x, y } = this.plot.layout.meta.axes[panel];
    const axes = { x: structuredClone(x[this.scaleOf("x", panel)]), y: structuredClone(y[this.scaleOf("y", panel)]) };
    const zoom = this.view.zoom.get(panel);
    if (zoom) {
      axes.x.range = zoom.slice(0, 2);
      axes.y.range = zoom.slice(2);
      axes.y.autorange = false;
    }
    return axes;
  }

  /** Marked values, and what the panel says where a log time axis has no data. */
  remarks(panel, kind) {
    return structuredClone(this.plot.layout.meta.axes[panel].remarks[this.scaleOf("x", panel)][kind]);
  }

  draw() {
    this.drawn = true;
    this.hosts.forEach((host, panel) => this.drawPanel(host, panel));
  }

  async drawPanel(host, panel) {
    const dark = this.isDark();
    const axes = this.axes(panel);
    const spikes = { showspikes: true, spikemode: "across", spikesnap: "hovered data", spikedash: "dot" };
    const layout = {
      template: shared.templates[dark ? "dark" : "light"],
      margin: { t: 12, r: 14, b: 40, l: 48 },
      showlegend: false,
      hovermode: "x",
      hoverdistance: -1,
      spikedistance: -1,
      // A finger scrolls the page; the buttons of the plot still zoom.
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      xaxis: { ...axes.x, ...spikes, spikethickness: 1 },
      yaxis: axes.y,
      shapes: this.remarks(panel, "shapes"),
      annotations: this.remarks(panel, "annotations"),
    };
    const everything = this.buttons.length > 0 && this.buttons.every((b) => this.view.off.has(Number(b.dataset.policy)));
    const text = everything ? "All curves are hidden" : this.lost(panel);
    if (text) {
      const place = { xref: "paper", yref: "paper", x: 0.02, y: 1, xanchor: "left", yanchor: "top" };
      layout.annotations.push({ ...place, text, showarrow: false, font: { size: 11 } });
    }
    const reset = { name: "reset", title: "Reset the axes", icon: Plotly.Icons.home, click: () => this.reset(panel) };
    const config = {
      displaylogo: false,
      displayModeBar: "hover",
      doubleClick: false,
      modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", reset]],
      responsive: true,
      scrollZoom: false,
      showTips: false,
    };
    const first = !host.dataset.drawn;
    host.dataset.drawn = "true";
    await Plotly.react(host, this.traces(panel, dark), layout, config);
    if (first) this.listen(host, panel);
  }

  /** How many means have no place on a log axis. */
  lost(panel) {
    if (this.scaleOf("y", panel) !== "log") return "";
    const shown = this.means(panel);
    const lost = shown.reduce((sum, trace) => sum + trace.y.reduce((n, value) => n + (value <= 0), 0), 0);
    if (!lost) return "";
    const values = lost === 1 ? "1 value is not positive and is" : `${lost} values are not positive and are`;
    return `<i>${values} not shown on a log axis</i>`;
  }

  listen(host, panel) {
    host.on("plotly_relayout", (event) => {
      if (!Object.keys(event).some((key) => key.includes("axis.range") || key.includes("axis.autorange"))) return;
      const { xaxis, yaxis } = host.layout;
      this.view.zoom.set(panel, [...xaxis.range, ...yaxis.range]);
      this.changed(this);
    });
    host.on("plotly_doubleclick", () => this.reset(panel));
    host.on("plotly_hover", (event) => this.show(host, panel, this.nearest(host, panel, event.xvals[0]), false));
    host.on("plotly_unhover", () => this.leave(host));
    host.addEventListener("blur", () => this.leave(host));
    host.addEventListener("keydown", (event) => this.press(host, panel, event));
  }

  reset(panel) {
    this.view.zoom.delete(panel);
    this.drawPanel(this.hosts[panel], panel);
    this.changed(this);
  }

  means(panel) {
    const shown = (trace) => trace.meta.role === "mean" && trace.meta.panel === panel;
    return this.plot.data.filter((trace) => shown(trace) && !this.view.off.has(trace.meta.policy));
  }

  /** The x values of the visible curves within the limits, sorted. */
  places(host, panel) {
    const log = this.scaleOf("x", panel) === "log";
    const [low, high] = host.layout.xaxis.range.map((limit) => (log ? 10 ** limit : limit));
    const room = (high - low) * 1e-9;
    const all = new Set(this.means(panel).flatMap((trace) => [...trace.x]));
    const inside = [...all].filter((v) => v >= low - room && v <= high + room && (!log || v > 0));
    return inside.sort((a, b) => a - b);
  }

  nearest(host, panel, at) {
    const log = this.scaleOf("x", panel) === "log";
    const distance = (v) => Math.abs(log ? Math.log(v / at) : v - at);
    const closer = (best, v) => (distance(v) < distance(best) ? v : best);
    const places = this.places(host, panel);
    return places.length ? places.reduce(closer) : null;
  }

  press(host, panel, event) {
    const places = this.places(host, panel);
    const now = places.indexOf(host.at);
    const step = Math.max(1, Math.round(places.length / 25));
    const left = now < 0 ? 0 : now - step;
    const next = { ArrowRight: now + step, ArrowLeft: left, Home: 0, End: places.length - 1 }[event.key];
    if (event.key === "Escape") Plotly.Fx.unhover(host), this.leave(host);
    if (next === undefined || !places.length) return;
    event.preventDefault();
    const at = places[Math.max(0, Math.min(places.length - 1, next))];
    Plotly.Fx.hover(host, { xval: this.scaleOf("x", panel) === "log" ? Math.log10(at) : at }, ["xy"]);
    this.show(host, panel, at, true);
  }

  leave(host) {
    host.at = null;
    tip.hide();
  }

  /** The edges of a band of a curve at a point, as [lower, upper]; `nth` counts the bands of the mode. */
  edges(trace, mode, nth, at) {
    const { panel, policy } = trace.meta;
    const same = ({ meta }) => meta.role === "band" && meta.panel === panel && meta.policy === policy;
    const band = this.plot.data.filter((other) => same(other) && other.meta.spread === mode)[nth];
    if (!band) return null;
    const first = band.x.indexOf(Math.fround(at));
    const last = band.x.lastIndexOf(Math.fround(at));
    return first < 0 ? null : [band.y[last], band.y[first]];
  }

  /** The value of a curve at a point, in the form that `meaning` describes. */
  value(trace, i) {
    const mean = readable(trace.y[i]);
    const edges = (mode, nth) => this.edges(trace, mode, nth, trace.x[i])?.map(readable);
    const between = { quantiles: () => edges("quantiles", 1), instances: () => edges("quantiles", 0) }[this.spread]?.();
    if (between) return `${mean} (${between[0]}–${between[1]})`;
    const interval = this.spread === "interval" ? edges("interval", 0) : null;
    if (interval) return `${mean} (${interval[0]} to ${interval[1]})`;
    const sigma = this.spread === "sigma" ? this.edges(trace, "sigma", 0, trace.x[i]) : null;
    if (sigma) return `${mean} ± ${readable((sigma[1] - sigma[0]) / 2)}`;
    return trace.customdata[i] > 0 ? `${mean} ± ${readable(trace.customdata[i])}` : mean;
  }

  meaning() {
    const meanings = { quantiles: "mean (10–90 %)", instances: "mean (least–greatest)", sigma: "mean ± 2σ" };
    meanings.interval = "mean (interval)";
    return meanings[this.spread] ?? "mean ± stderr";
  }

  show(host, panel, at, aloud) {
    if (at === null) return;
    host.at = at;
    const rows = [];
    for (const trace of this.means(panel)) {
      const i = trace.x.indexOf(at);
      if (i < 0 || Number.isNaN(trace.y[i])) continue;
      const { policy, label } = trace.meta;
      rows.push({ policy, label, mean: trace.y[i], text: this.value(trace, i) });
    }
    rows.sort((a, b) => b.mean - a.mean);
    const axis = host._fullLayout.xaxis;
    const px = axis._offset + axis.d2p(at);
    const head = `${this.plot.layout.meta.axes[panel].name} = ${exact(at)}`;
    tip.show(host, px, head, this.meaning(), rows);
    if (aloud) say(`${head}. ${rows.map((row) => `${row.label}: ${row.text}`).join("; ")}`);
  }

  async download(button) {
    const format = button.dataset.download;
    const name = `${this.root.dataset.name}.${format}`;
    if (format === "csv") {
      const table = this.root.closest("section").querySelector("table.summary");
      return save(name, new Blob([tableText(table)], { type: "text/csv" }));
    }
    await plotlyReady();
    const layout = structuredClone(this.plot.layout);
    this.hosts.forEach((_, panel) => {
      for (const axis of ["x", "y"]) {
        const place = layout[axisName(`${axis}axis`, panel)];
        const { domain, anchor, title } = place;
        layout[axisName(`${axis}axis`, panel)] = { ...this.axes(panel)[axis], domain, anchor, title };
      }
      const here = (each) => ({ ...each, xref: axisName("x", panel), yref: `${axisName("y", panel)} domain` });
      layout.shapes.push(...this.remarks(panel, "shapes").map(here));
      layout.annotations.push(...this.remarks(panel, "annotations").map(here));
    });
    const size = { width: layout.meta.width, height: layout.height };
    const url = await Plotly.toImage({ data: this.traces(undefined, false), layout }, { format, ...size, scale: 2 });
    const [head, body] = [url.slice(0, url.indexOf(",")), url.slice(url.indexOf(",") + 1)];
    const bytes = head.endsWith("base64") ? Uint8Array.from(atob(body), (c) => c.charCodeAt(0)) : decodeURIComponent(body);
    save(name, new Blob([bytes], { type: format === "svg" ? "image/svg+xml" : "image/png" }));
  }
}

/** A table as CSV, with all digits. */
function tableText(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (cells) => `${cells.map(quoted).join(",")}\n`;
  const heads = [...table.tHead.rows[0].cells];
  const name = (head) => head.dataset.name ?? head.textContent;
  const titles = heads.flatMap((head) => (head.dataset.name === "mean" ? ["mean", "stderr"] : [name(head)]));
  const values = (cell) => {
    if (cell.dataset.stderr !== undefined) return [cell.dataset.value, cell.dataset.stderr];
    return [cell.dataset.value ?? cell.textContent.trim()];
  };
  return line(titles) + [...table.tBodies[0].rows].map((row) => line([...row.cells].flatMap(values))).join("");
}

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

let loading = null;

/** Runs plotly, which the page holds as text, when it is first needed. */
function plotlyReady() {
  loading ??= new Promise((resolve) => {
    const start = () => {
      if (window.Plotly) return;
      const script = element("script");
      script.textContent = document.getElementById("plotly").textContent;
      document.head.append(script);
      resolve();
    };
    // After the next paint: reading a megabyte of script must not delay the first one. A browser that takes a picture
    // of the page, or that does not show it, may never paint again, so a timer starts it too.
    requestAnimationFrame(() => setTimeout(start));
    setTimeout(start, 200);
  });
  return loading;
}
