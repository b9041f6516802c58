// The page: figures with their controls (built when they are scrolled near the screen), sorting of tables, copy
// buttons, the theme.

const policies = JSON.parse(document.getElementById("policies").textContent);
const live = document.getElementById("live");

function say(text) {
  live.textContent = text;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...children);
  return made;
}

/** The box with the values at the pointer. There is one for the whole page. */
const tip = {
  box: element("div", { class: "tip", "aria-hidden": "true", hidden: "" }),
  show(host, px, head, meaning, rows) {
    const title = element("span", { class: "tip-head" }, head);
    this.box.replaceChildren(element("div", { class: "tip-title" }, title, element("span", {}, meaning)));
    for (const row of rows) {
      const dot = element("span", { class: "dot", style: `background:var(--p${row.policy})` });
      const name = element("span", { class: "tip-name" }, row.label);
      const value = element("span", { class: "tip-value" }, row.text);
      this.box.append(element("div", { class: "tip-row" }, dot, name, value));
    }
    if (!rows.length) this.box.append(element("div", {}, "All policies are hidden"));
    if (this.box.parentNode !== host) host.append(this.box);
    this.box.hidden = false;
    // On a narrow plot the box would cover the curves, so it is placed below them.
    this.box.style.top = host.clientWidth < 480 ? `${host.clientHeight - 18}px` : "";
    const room = host.clientWidth - this.box.offsetWidth;
    const beside = px + 16 <= room ? px + 16 : px - this.box.offsetWidth - 16;
    this.box.style.left = `${Math.max(Math.min(0, room), Math.min(room, Math.max(0, beside)))}px`;
  },
  hide() {
    this.box.hidden = true;
  },
};

/** A group of radio buttons that is displayed as one segmented control. */
function choice(name, title, options, chosen, pick) {
  const group = element("fieldset", { class: "choice" }, element("legend", {}, title));
  for (const [value, label] of options) {
    const input = element("input", { type: "radio", name, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => pick(value));
    group.append(element("label", {}, input, element("span", {}, label)));
  }
  return group;
}

/** The sample of a curve in the legend. */
function swatch(policy) {
  const look = policies[policy];
  const svg = shape("svg", { width: 34, height: 14, "aria-hidden": "true" });
  const color = `var(--p${policy})`;
  const dash = { "stroke-width": look.width, "stroke-dasharray": look.dash.join(" ") };
  const corners = look.marker.map(([x, y]) => `${17 + 3.6 * x} ${7 + 3.6 * y}`);
  svg.append(
    shape("line", { x1: 1, x2: 33, y1: 7, y2: 7, ...dash, style: `stroke:${color}` }),
    shape("path", { class: "marker", d: `M${corners.join("L")}Z`, style: `fill:${color}` }),
  );
  return svg;
}

function legend(view, shown, redraw) {
  const box = element("div", { class: "legend", role: "group", "aria-label": "Policies" });
  const refresh = () => {
    for (const button of box.children) {
      button.setAttribute("aria-pressed", !view.off.has(Number(button.dataset.policy)));
    }
    redraw();
  };
  for (const policy of shown) {
    const title = "Click to hide or show this policy. Shift-click to show only this policy, or all policies.";
    const attributes = { type: "button", "data-policy": policy, "aria-pressed": "true", title };
    const button = element("button", attributes, swatch(policy), policies[policy].label);
    button.addEventListener("click", (event) => {
      if (event.shiftKey) {
        const only = shown.every((other) => view.off.has(other) === (other !== policy));
        view.off = new Set(only ? [] : shown.filter((other) => other !== policy));
      } else if (!view.off.delete(policy)) view.off.add(policy);
      refresh();
    });
    box.append(button);
  }
  return box;
}

/** The kinds of spread that the data of a figure contain. */
function spreads(series) {
  const has = (key) => series.some((each) => each[key]);
  const options = [["none", "none"]];
  if (has("stderr")) options.push(["stderr", "± stderr"]);
  if (has("sigma")) options.push(["sigma", "± 2σ"]);
  if (has("quantiles")) options.push(["quantiles", "quantiles"]);
  if (has("instances")) options.push(["instances", "instances"]);
  return options;
}

function build(figure) {
  const data = JSON.parse(document.getElementById(figure.dataset.source).textContent);
  const series = data.panels.flatMap((panel) => panel.series);
  const kinds = spreads(series);
  const view = { x: null, y: null, spread: kinds[1]?.[0] ?? "none", off: new Set() };
  const several = data.panels.length > 1;
  const grid = element("div", { class: several ? "panels several" : "panels" });
  const charts = data.panels.map((panel) => {
    const host = element("div", { class: "plot", "data-alone": !several });
    const cell = element("div", { class: "panel" }, host);
    if (panel.title) cell.prepend(element("h3", {}, panel.title));
    grid.append(cell);
    return new Chart(host, panel, view, policies, tip);
  });
  const redraw = () => charts.forEach((chart) => chart.draw());
  const axis = (which) => {
    const own = data.panels[0]?.[which].log ? "log" : "linear";
    const options = [["linear", "linear"], ["log", "log"]];
    return choice(`${figure.dataset.source}-${which}`, `${which} axis`, options, own, (value) => {
      view[which] = value;
      redraw();
    });
  };
  const controls = element("div", { class: "controls" }, axis("x"), axis("y"));
  if (kinds.length > 1) {
    controls.append(
      choice(`${figure.dataset.source}-spread`, "Spread", kinds, view.spread, (value) => {
        view.spread = value;
        redraw();
      }),
    );
  }
  const shown = [...new Set(series.map((each) => each.policy))];
  figure.style.minHeight = "";
  figure.prepend(controls, legend(view, shown, redraw), grid);
  redraw();
  let width = grid.clientWidth;
  new ResizeObserver(() => {
    if (grid.clientWidth !== width) {
      width = grid.clientWidth;
      redraw();
    }
  }).observe(grid);
}

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = element("button", { type: "button" }, ...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return head.dataset.sort === "number" ? Number(cell.dataset.value || Infinity) : cell.textContent;
      };
      const byNumber = (a, b) => key(a) - key(b);
      const byText = (a, b) => key(a).localeCompare(key(b), "en", { numeric: true });
      const compare = head.dataset.sort === "number" ? byNumber : byText;
      const rows = [...body.rows].sort(compare);
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}

/** Adds a selection of one panel to a table with the rows of several panels. */
function filterable(table) {
  const names = [...new Set([...table.tBodies[0].rows].map((row) => row.dataset.panel))];
  if (names.length < 2) return;
  const options = names.map((name) => element("option", { value: name }, name));
  const select = element("select", {}, element("option", { value: "" }, "all panels"), ...options);
  select.addEventListener("change", () => {
    for (const row of table.tBodies[0].rows) row.hidden = select.value !== "" && row.dataset.panel !== select.value;
  });
  table.parentNode.before(element("label", { class: "filter" }, "Show rows of ", select));
}

async function copy(button) {
  const code = button.parentNode.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Without access to the clipboard, select the text so that the user can copy it.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function themes() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  // Browsers may deny storage to a page that is opened from a file.
  try {
    const kept = localStorage.getItem("calibandit-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {}
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("calibandit-theme", root.dataset.theme);
    } catch {}
    name();
  });
  system.addEventListener("change", name);
  name();
}

document.documentElement.classList.add("js");
themes();
document.querySelectorAll("table.summary").forEach((table) => {
  sortable(table);
  filterable(table);
});
document.querySelectorAll("button.copy").forEach((button) => button.addEventListener("click", () => copy(button)));

const waiting = new Set(document.querySelectorAll("figure.chart"));
const buildOnce = (figure) => waiting.delete(figure) && build(figure);
for (const figure of waiting) {
  const panels = Number(figure.dataset.panels);
  const columns = Math.max(1, Math.min(4, Math.floor(figure.clientWidth / 300)));
  figure.style.minHeight = panels > 1 ? `${Math.ceil(panels / columns) * 270 + 120}px` : "560px";
}
const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      buildOnce(entry.target);
    }
  },
  { rootMargin: "600px" },
);
waiting.forEach((figure) => near.observe(figure));
addEventListener("beforeprint", () => {
  [...waiting].forEach(buildOnce);
  document.querySelectorAll("details.spec").forEach((details) => (details.open = true));
});
