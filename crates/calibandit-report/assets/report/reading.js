// Numbers as people read them, and the box with the values at one place of a panel.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...children);
  return made;
}

function scientific(value) {
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${digits}e${Number(exponent)}`.replaceAll("-", "−");
}

/** A number as in the tables: all digits before the point, and at least three significant ones. */
function readable(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e15) return scientific(value);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return value.toLocaleString("en-US", digits).replace("-", "−");
}

/** A value of the x axis with all its digits. */
function exact(value) {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 9 }).replace("-", "−");
}

const live = document.getElementById("live");

/** Says a text to readers who hear the page. */
function say(text) {
  live.textContent = text;
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
    if (this.box.parentNode !== host.parentNode) host.after(this.box);
    this.box.hidden = false;
    const place = host.offsetTop;
    // On a narrow plot the box would cover the curves, so it is placed below them.
    this.box.style.top = `${host.clientWidth < 480 ? place + host.clientHeight - 6 : place + 22}px`;
    const room = host.clientWidth - this.box.offsetWidth;
    const beside = px + 16 <= room ? px + 16 : px - this.box.offsetWidth - 16;
    this.box.style.left = `${Math.max(Math.min(0, room), Math.min(room, Math.max(0, beside)))}px`;
  },
  hide() {
    this.box.hidden = true;
  },
};
