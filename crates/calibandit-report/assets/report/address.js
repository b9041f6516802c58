// The views of the figures in the address, after the anchor of a section:
//
//   report.html#f3-wrong-m?f1.y=log&f3.spread=quantiles&f3.off=EXP3&f3.zoom=0:0,2e5,0,900
//
// The anchor is where the page opens; `f1`, `f3` name figures by their number.
//   x, y    "linear" or "log"
//   spread  "none", "stderr", "sigma", "quantiles" or "instances"
//   off     a hidden policy; once for each
//   zoom    for each zoomed panel its position and the limits of x and y, separated by ";"; on a log axis a limit is
//           the exponent of ten
// A key is only present if the view differs from that of the figure, so that a plain deep link stays plain.

const SCALES = ["linear", "log"];
const SPREADS = ["none", "stderr", "sigma", "quantiles", "instances"];

/** The anchor and the parameters of an address such as "#f1-fig1a?f1.y=log". */
function parseAddress(hash) {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  const anchor = mark < 0 ? text : text.slice(0, mark);
  return { anchor, parameters: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)) };
}

/** The view of a figure: what differs from its own view is null or empty. */
function readView(key, parameters, policies) {
  const one = (name, allowed) => {
    const value = parameters.get(`${key}.${name}`);
    return allowed.includes(value) ? value : null;
  };
  const hidden = new Set(parameters.getAll(`${key}.off`));
  const off = new Set([...policies.keys()].filter((policy) => hidden.has(policies[policy].label)));
  const zoom = new Map();
  for (const part of (parameters.get(`${key}.zoom`) ?? "").split(";")) {
    const [panel, limits] = part.split(":");
    const numbers = (limits ?? "").split(",").map(Number);
    if (numbers.length === 4 && numbers.every(Number.isFinite)) zoom.set(Number(panel), numbers);
  }
  return { x: one("x", SCALES), y: one("y", SCALES), spread: one("spread", SPREADS), off, zoom };
}

/** Adds a view to the parameters. */
function writeView(key, view, parameters, policies) {
  for (const name of ["x", "y", "spread"]) if (view[name] !== null) parameters.set(`${key}.${name}`, view[name]);
  for (const policy of view.off) parameters.append(`${key}.off`, policies[policy].label);
  const short = (limit) => String(Number(limit.toPrecision(6)));
  const zoomed = [...view.zoom].map(([panel, limits]) => `${panel}:${limits.map(short).join(",")}`);
  if (zoomed.length) parameters.set(`${key}.zoom`, zoomed.join(";"));
}

/** The address of an anchor with these parameters. Commas and the like stay readable. */
function toAddress(anchor, parameters) {
  const text = parameters.toString().replace(/%(2C|3A|3B)/g, decodeURIComponent);
  return `#${anchor}${text ? `?${text}` : ""}`;
}
