// The page of a calibration.

const errorOf = ({ measured, predicted }) => predicted / measured - 1;
const signed = (share) => `${share < 0 ? "" : "+"}${percent(share)}`;

/** A logarithmic axis of times, with marks at the powers of ten. */
const byPowers = (times) => {
  const power = (round, time) => 10 ** round(Math.log10(time));
  const { place, least, most } = scaleOf([power(Math.floor, Math.min(...times)), power(Math.ceil, largest(times))]);
  const powers = Array.from({ length: 13 }, (_, power) => 10 ** (power - 9)).filter((at) => at >= least && at <= most);
  return { place, marks: powers.map((at) => [at, time(at)]) };
};

const patternChart = ({ title, points }, number) => {
  // A message of nothing is drawn as one of a byte.
  const at = ({ bytes }) => Math.max(1, bytes);
  const ends = points.map(at);
  const marks = [1, 1e2, 1e4, 1e6, 1e8].filter((size) => size >= Math.min(...ends) && size <= Math.max(...ends));
  return scatterChart({ id: `pattern-${number}`, title, label: `${title}: measured and predicted time against the size of a message`,
    rows: points.map((point) => ({ x: at(point), y: point.measured,
      text: `${volume(point.bytes)}: measured ${time(point.measured)}, predicted ${time(point.predicted)} (${signed(errorOf(point))})` })),
    lines: [{ paint: "ink", points: points.map((point) => ({ x: at(point), y: point.predicted })) }], xMarks: marks.map((size) => [size, volume(size)]), xTitle: "size of a message",
    scale: () => byPowers(points.flatMap(({ measured, predicted }) => [measured, predicted])),
    csv: () => [["bytes", "measured (s)", "predicted (s)"], ...points.map(({ bytes, measured, predicted }) => [bytes, measured, predicted])] });
};

drawPage(async () => {
  const { patterns, remarks, version } = await readData();
  document.title = "Calibration – titr";
  document.getElementById("title").textContent = "Calibration";
  fileName = "calibration";
  const all = patterns.map(({ title, points }) => ({ title, points: points.map(([bytes, measured, predicted]) => ({ bytes, measured, predicted })) }));
  const worst = ({ points }) => points.reduce((one, other) => Math.abs(errorOf(other)) > Math.abs(errorOf(one)) ? other : one);
  const median = ({ points }) => points.map((point) => Math.abs(errorOf(point))).sort((one, other) => one - other)[Math.floor(points.length / 2)];
  section("answer", "Fit", remarks.length ? element("ul", { class: "finding" }, remarks.map((remark) => element("li", {}, unbroken(remark)))) : null, table("patterns", [
    { name: "pattern", kind: "text", value: ({ title }) => title },
    { name: "median error", kind: "rank", value: (pattern) => percent(median(pattern)) },
    { name: "largest error", kind: "rank", value: (pattern) => signed(errorOf(worst(pattern))) },
    { name: "at", unit: "B", kind: "count", value: (pattern) => worst(pattern).bytes },
  ], [...all].sort((one, other) => median(other) - median(one)), "Errors of the predictions")).classList.add("first");
  section("curves", "Curves", element("p", { class: "faint" }, "Points are measured (medians); the line is predicted. Times and sizes are on logarithmic axes; messages of nothing stand at 1 B."),
    row(all.map((pattern, number) => patternChart(pattern, number).figure)));
  document.getElementById("footer").textContent = `titr ${version}`;
});
