// Axes: limits, positions, ticks and number formats. The functions up to tickLabel do the same as src/chart/scale.rs;
// src/chart/scale_cases.json holds the expected results of both.

const LOG_RATIO = 1e8;

/** The limits of an axis around `values`, or the fixed ones where they are usable. */
function limits(log, fixed, values, pad, fromZero) {
  const usable = (v) => Number.isFinite(v) && (!log || v > 0);
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (usable(v)) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (low > high) [low, high] = log ? [1, 10] : [0, 1];
  if (log) {
    low = Math.max(low, high / LOG_RATIO);
    const room = pad ? Math.pow(high / low, 0.04) : 1;
    low /= room;
    high *= room;
    if (low === high) [low, high] = [low / 2, high * 2];
  } else {
    const zero = fromZero && low >= 0 && low < 0.5 * high;
    const room = pad ? 0.04 * (high - low) : 0;
    low = zero ? 0 : low - room;
    high += room;
    if (low === high) {
      const half = low === 0 ? 0.5 : 0.1 * Math.abs(low);
      [low, high] = [low - half, high + half];
    }
  }
  const lowFixed = usable(fixed.min) ? fixed.min : low;
  const highFixed = usable(fixed.max) ? fixed.max : high;
  return lowFixed < highFixed ? [lowFixed, highFixed] : [low, high];
}

/** A function from values to positions on the axis; NaN for a value without a position. */
function mapping(log, [low, high], from, to) {
  const span = log ? Math.log(high / low) : high - low;
  return (v) => {
    if (v === null || v === undefined || (log && v <= 0)) return NaN;
    const share = (log ? Math.log(v / low) : v - low) / span;
    const at = from + share * (to - from);
    return Number.isFinite(at) ? Math.max(-1e5, Math.min(1e5, at)) : NaN;
  };
}

/** Ticks as {at, label}; minor ones have an empty label. */
function ticks(log, [low, high], wanted) {
  return log ? logTicks(low, high, wanted) : linearTicks(low, high, wanted);
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999) ?? rough;
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  const out = [];
  // Limits so close together that rounding decides have no ticks.
  if (!(last - first <= 50)) return out;
  for (let i = first; i <= last; i++) out.push({ at: i * step, label: tickLabel(i * step, step) });
  return out;
}

function logTicks(low, high, wanted) {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const inside = (v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
  let decades = 0;
  for (let e = first; e <= last; e++) if (inside(Math.pow(10, e))) decades++;
  const every = Math.max(1, Math.ceil(decades / Math.max(1, wanted)));
  const out = [];
  for (let e = first; e <= last; e++) {
    for (let digit = 1; digit <= 9; digit++) {
      const at = Number(`${digit}e${e}`);
      if (!inside(at)) continue;
      let labelled = digit === 1 && e % every === 0;
      if (decades <= 2) labelled = decades === 0 || [1, 2, 5].includes(digit);
      if (labelled || every === 1 || digit === 1) out.push({ at, label: labelled ? tickLabel(at, at) : "" });
    }
  }
  return out;
}

/** Ticks at the values of a sweep, labelled with three significant digits. */
function sweepTicks(values) {
  return values.map((at) => {
    const shown = Number(at.toPrecision(3));
    return { at, label: tickLabel(shown, Math.abs(shown)) };
  });
}

/** The label of a tick, such as 250k, 1.5M, 0.05 or 10⁹, with as many decimals as multiples of `step` need. */
function tickLabel(value, step) {
  const size = Math.abs(value);
  if (size <= step * 1e-6) return "0";
  if (size >= 1e9 || size < 1e-4) return scientific(value);
  const [unit, suffix] = size >= 1e6 ? [1e6, "M"] : size >= 1e3 ? [1e3, "k"] : [1, ""];
  const inUnits = step / unit;
  let decimals = 0;
  while (decimals < 9 && Math.abs(Number(inUnits.toFixed(decimals)) - inUnits) >= inUnits * 1e-6) decimals++;
  let digits = (value / unit).toFixed(decimals);
  if (suffix && digits.includes(".")) digits = digits.replace(/\.?0+$/, "");
  return digits.replace("-", "−") + suffix;
}

function scientific(value) {
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  const power = String(exponent).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
  const digits = String(Number((value / Math.pow(10, exponent)).toFixed(2))).replace("-", "−");
  return digits === "1" ? `10${power}` : `${digits}×10${power}`;
}

/** A number in running text: with thousands separators, or with three significant digits below 100. */
function readable(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) return scientific(value);
  const decimals = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 2 - Math.floor(Math.log10(size));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return value.toLocaleString("en-US", digits).replace("-", "−");
}

/** A value of the x axis with all its digits. */
function exact(value) {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 9 }).replace("-", "−");
}
