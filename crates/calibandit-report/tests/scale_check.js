// Compares scale.js with the expected results in src/chart/scale_cases.json; returns one line per difference.
function differences(cases) {
  const found = [];
  const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
  const compare = (group, nth, given, expected, same) => {
    if (!same) found.push(`${group}[${nth}]: ${JSON.stringify(given)} instead of ${JSON.stringify(expected)}`);
  };
  const isLog = (each) => each.scale === "log";
  cases.limits.forEach((each, nth) => {
    const fixed = { min: each.min ?? null, max: each.max ?? null };
    const given = limits(isLog(each), fixed, each.values, each.pad ?? false, each.from_zero ?? false);
    compare("limits", nth, given, each.limits, given.every((limit, i) => near(limit, each.limits[i])));
  });
  cases.places.forEach((each, nth) => {
    const given = mapping(isLog(each), each.limits, ...each.span)(each.value);
    compare("places", nth, given, each.at, each.at === null ? Number.isNaN(given) : near(given, each.at));
  });
  cases.ticks.forEach((each, nth) => {
    const given = ticks(isLog(each), each.limits, each.wanted);
    const labels = given.map((tick) => tick.label).filter((label) => label !== "");
    compare("ticks", nth, labels, each.labels, labels.join() === each.labels.join());
    compare("ticks", nth, given.length, each.count, given.length === each.count);
  });
  cases.sweep_ticks.forEach((each, nth) => {
    const labels = sweepTicks(each.values).map((tick) => tick.label);
    compare("sweep_ticks", nth, labels, each.labels, labels.join() === each.labels.join());
  });
  cases.tick_labels.forEach((each, nth) => {
    const given = tickLabel(each.value, each.step);
    compare("tick_labels", nth, given, each.text, given === each.text);
  });
  return found;
}
