// The page of a study.

/** Groups of the values of a numeric axis that has more values than these. */
const MOST_GROUPS = 8;

const studyTime = ({ outcome }) => outcome.mean_time ?? outcome.simulated_time;
const mean = (numbers) => sum(numbers) / Math.max(1, numbers.length);

const UNITS = { s: time, B: volume, "B/s": (value) => `${volume(value)}/s` };
const shownNumber = (unit) => UNITS[unit] || ((value) => `${Number(value.toPrecision(4))}${unit ? `${SPACE}${unit}` : ""}`);

/** The values of an axis, each with its points, in the order of the numbers or of the study; many numbers in groups of equal size. */
const groupsOf = ({ points }, axis, { unit }) => {
  const groups = new Map();
  for (const point of points) {
    const { shown, number } = point.settings[axis];
    const group = groups.get(shown) || { name: shown, x: number, points: [] };
    group.points.push(point);
    groups.set(shown, group);
  }
  const isNumeric = unit !== null;
  const all = [...groups.values()];
  if (isNumeric) all.sort((one, other) => one.x - other.x);
  else all.forEach((group, place) => { group.x = place; });
  if (!isNumeric || all.length <= MOST_GROUPS) return all;
  const joined = [];
  for (let part = 0; part < MOST_GROUPS; part += 1) {
    const members = all.slice(Math.floor(part * all.length / MOST_GROUPS), Math.floor((part + 1) * all.length / MOST_GROUPS));
    joined.push({ name: `${members[0].name} to ${members[members.length - 1].name}`, x: mean(members.map(({ x }) => x)),
      points: members.flatMap((group) => group.points) });
  }
  return joined;
};

const settingsText = ({ axes }, point) =>
  point.settings.map(({ shown }, axis) => `${axes[axis].name} ${shown}`).join(", ");
const pointText = (data, point) => `point ${point.number}: ${time(studyTime(point))}, ${settingsText(data, point)}`;

const axisChart = (data, axis) => {
  const { name, unit } = data.axes[axis];
  const groups = groupsOf(data, axis, data.axes[axis]);
  const line = groups.map(({ x, points }) => ({ x, y: mean(points.map(studyTime)) }));
  const place = new Map(groups.flatMap(({ x, points }) => points.map((point) => [point, x])));
  const rows = data.points.map((point) => ({ x: unit === null ? place.get(point) : point.settings[axis].number, y: studyTime(point),
    text: pointText(data, point) }));
  const marks = groups.map(({ name: text, x }) => [x, unit === null ? text : shownNumber(unit)(x)]);
  return scatterChart({ id: `axis-${axis}`, title: `Time against ${name}; the line joins the means`, label: `Predicted time of all points against ${name}`,
    rows, line, xMarks: marks, xTitle: name,
    csv: () => [[name, "predicted time (s)"], ...data.points.map((point) => [point.settings[axis].shown, studyTime(point)])] });
};

/** How far the mean time is apart between the best and the worst value of each axis, the farthest first. */
const mainEffects = (data, axes) => axes.map((axis) => {
  const groups = groupsOf(data, axis, data.axes[axis]).map(({ name, points }) => ({ name, time: mean(points.map(studyTime)) }));
  const [best, worst] = [groups.reduce((one, other) => other.time < one.time ? other : one), groups.reduce((one, other) => other.time > one.time ? other : one)];
  return { name: data.axes[axis].name, best, worst, value: worst.time - best.time };
}).sort((one, other) => other.value - one.value);

const effectsChart = (effects) => barChart({ id: "effects", title: "Main effects: mean time with the worst value less that with the best",
  label: "Main effects of the axes", rows: effects.map((effect) => ({ ...effect, parts: [["accent", effect.value]],
    text: `${time(effect.value)} (${percent(effect.worst.time ? effect.value / effect.worst.time : 0)})` })),
  tell: ({ name, best, worst }) => `${name}: ${time(best.time)} with ${best.name}, ${time(worst.time)} with ${worst.name}`,
  csv: () => [["axis", "best value", "mean time (s)", "worst value", "mean time (s)"],
    ...effects.map(({ name, best, worst }) => [name, best.name, best.time, worst.name, worst.time])] });

/** The points that no other point beats in time and in cost, by cost. */
const paretoFront = (points) => {
  const sorted = [...points].sort((one, other) => one.outcome.cost - other.outcome.cost || studyTime(one) - studyTime(other));
  let best = Infinity;
  return sorted.filter((point) => {
    const isBetter = studyTime(point) < best;
    if (isBetter) best = studyTime(point);
    return isBetter;
  });
};

const paretoChart = (data, front) => {
  const costs = data.points.map(({ outcome }) => outcome.cost);
  const { all } = ticks(Math.min(...costs), Math.max(...costs), 5);
  return scatterChart({ id: "pareto", title: "Time against cost; the line joins the points that no other point beats in both",
    label: "Predicted time against cost, with the Pareto front",
    rows: data.points.map((point) => ({ x: point.outcome.cost, y: studyTime(point), text: `cost ${count(point.outcome.cost)}, ${pointText(data, point)}` })),
    line: front.map((point) => ({ x: point.outcome.cost, y: studyTime(point) })), xMarks: all.map((cost) => [cost, count(cost)]), xTitle: "cost",
    csv: () => [["point", "cost", "predicted time (s)", "on the front"],
      ...data.points.map((point) => [point.number, point.outcome.cost, studyTime(point), front.includes(point) ? "yes" : "no"])] });
};

const pointTable = (data, name, points, caption) => table(name, [
  { name: "point", kind: "rank", value: ({ number }) => number, link: data.has_reports ? ({ number }) => `points/${number}.html` : null },
  ...data.axes.map(({ name: axis }, at) => ({ name: axis, kind: "text", value: ({ settings }) => settings[at].shown })),
  { name: "predicted time", kind: "time", value: studyTime },
  { name: "cost", kind: "count", value: ({ outcome }) => outcome.cost },
  { name: "parallel efficiency", kind: "percent", value: ({ outcome }) => outcome.efficiencies ? outcome.efficiencies.parallel : 0 },
], points, caption);

drawPage(async () => {
  const data = await readData();
  const title = `${data.study}: ${counted(data.points.length, "point", "points")}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = "study";
  const sorted = [...data.points].sort((one, other) => studyTime(one) - studyTime(other));
  const [fastest, slowest] = [sorted[0], sorted[sorted.length - 1]];
  const varied = data.axes.map((_, axis) => axis).filter((axis) => new Set(data.points.map(({ settings }) => settings[axis].shown)).size > 1);
  const made = section("answer", "Result", element("div", { class: "hero" },
    element("p", { class: "answer" }, time(studyTime(fastest))),
    element("p", { class: "sure" }, `the fastest of ${counted(data.points.length, "point", "points")}; the slowest takes ${time(studyTime(slowest))}`),
    element("dl", {}, fastest.settings.map(({ shown }, axis) => [element("dt", {}, data.axes[axis].name), element("dd", {}, shown)]))),
    varied.length ? effectsChart(mainEffects(data, varied)).figure : null);
  made.classList.add("first");
  if (varied.length) section("axes", "Axes", element("div", { class: "columns" }, varied.map((axis) => axisChart(data, axis).figure)));
  if (data.points.every(({ outcome }) => outcome.cost !== undefined)) {
    const front = paretoFront(data.points);
    section("cost", "Cost", paretoChart(data, front).figure, pointTable(data, "front", front, "The points that no other point beats in time and in cost"));
  }
  section("points", "Points", pointTable(data, "all", sorted, "All points, the fastest first"));
  const warnings = [...new Set(data.points.flatMap(({ outcome }) => outcome.warnings))];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${data.version}`;
});
