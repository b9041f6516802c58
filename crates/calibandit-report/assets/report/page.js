// The page: its figures (drawn when they are scrolled near the screen), sorting of tables, copy buttons, the theme,
// the address, print.

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    head.querySelector("button").addEventListener("click", () => {
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

/** Connects the selection of one panel with the table that follows it. */
function filterable(label) {
  const select = label.querySelector("select");
  const { rows } = label.nextElementSibling.querySelector("table").tBodies[0];
  select.addEventListener("change", () => {
    for (const row of rows) row.hidden = select.value !== "" && row.dataset.panel !== select.value;
  });
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

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

/** Connects the button of the theme; `changed` is called after a change. */
function themes(changed) {
  const button = document.getElementById("theme");
  const apply = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    changed();
  };
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
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

document.querySelectorAll("table.summary").forEach(sortable);
document.querySelectorAll("label.filter").forEach(filterable);
document.querySelectorAll("button.copy").forEach((button) => button.addEventListener("click", () => copy(button)));

const figures = [];

/** Writes the views of all figures into the address, with the anchor of one section. */
function remember(anchor) {
  const parameters = new URLSearchParams();
  for (const figure of figures) writeView(figure.key, figure.view, parameters, policies);
  history.replaceState(null, "", toAddress(anchor, parameters));
}

const opened = parseAddress(decodeURI(location.hash));
for (const figure of document.querySelectorAll("figure.chart")) {
  const view = readView(figure.dataset.key, opened.parameters, policies);
  const changed = ({ root }) => remember(root.closest("section").id);
  figures.push(new FigureView(figure, view, changed, isDark));
}
themes(() => figures.filter((figure) => figure.drawn).forEach((figure) => figure.draw()));

/** Goes to a section. Everything has its final size, so this needs no animation and no correction. */
function goTo(anchor) {
  document.getElementById(anchor)?.scrollIntoView({ behavior: "instant", block: "start" });
}

if (opened.parameters.size) goTo(opened.anchor);
// Links within the page keep the views of the figures in the address.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const anchor = link.getAttribute("href").slice(1);
  const parameters = new URLSearchParams();
  for (const figure of figures) writeView(figure.key, figure.view, parameters, policies);
  if (!parameters.size) return;
  event.preventDefault();
  history.pushState(null, "", toAddress(anchor, parameters));
  goTo(anchor);
});
addEventListener("popstate", () => {
  const { anchor, parameters } = parseAddress(decodeURI(location.hash));
  if (parameters.size) goTo(anchor);
});

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      const figure = figures.find((each) => each.root === entry.target);
      plotlyReady().then(() => figure.draw());
    }
  },
  { rootMargin: "600px" },
);
// Figures near the screen do not wait for the observer: it reports with a frame, and a picture may be taken before.
for (const figure of figures) {
  const { top, bottom } = figure.root.getBoundingClientRect();
  if (top < innerHeight + 600 && bottom > -600) plotlyReady().then(() => figure.draw());
  else near.observe(figure.root);
}

/** Print shows the static drawings, which the page holds for readers without scripts. */
function drawForPrint() {
  for (const { root } of figures) {
    const place = root.querySelector(".drawn");
    if (!place.firstChild) place.innerHTML = root.querySelector("noscript").textContent;
  }
  document.querySelectorAll("details.spec").forEach((details) => (details.open = true));
}
addEventListener("beforeprint", drawForPrint);
matchMedia("print").addEventListener("change", (query) => query.matches && drawForPrint());
