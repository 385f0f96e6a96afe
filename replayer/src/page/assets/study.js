// The page of a study: which machine, and what its properties are worth.

/** Groups of the values of a numeric axis that has more values than these. */
const MOST_GROUPS = 8;
/** Lines of machines and programs, each of its own, against an axis of numbers. */
const MOST_KINDS = 4;

const studyTime = ({ outcome }) => outcome.mean_time ?? outcome.simulated_time;
const mean = (numbers) => sum(numbers) / Math.max(1, numbers.length);
const PROGRAM_COLORS = 3;
const programColor = (which) => `job-${which % PROGRAM_COLORS}`;
const priced = (price, currency) => `${count(price)}${currency ? SPACE + currency : ""}`;
const slower = (machine, fastest) => machine.total === fastest.total ? "the fastest" : `${percent(machine.total / fastest.total - 1)} slower than the fastest`;

/** The values of an axis, each with the rows that have it, in the order of the numbers or of the study; many numbers in groups of equal size. */
const groupsOf = (rows, axis, isNumeric) => {
  const groups = new Map();
  for (const row of rows) {
    const { shown, number } = row.settings[axis];
    const group = groups.get(shown) || { name: shown, x: number, rows: [] };
    group.rows.push(row);
    groups.set(shown, group);
  }
  const all = [...groups.values()];
  if (isNumeric) all.sort((one, other) => one.x - other.x);
  if (!isNumeric || all.length <= MOST_GROUPS) return all;
  return Array.from({ length: MOST_GROUPS }, (_, part) => {
    const members = all.slice(Math.floor(part * all.length / MOST_GROUPS), Math.floor((part + 1) * all.length / MOST_GROUPS));
    return { name: members[0].name, x: mean(members.map(({ x }) => x)), rows: members.flatMap((group) => group.rows) };
  });
};

/** The times along an axis of numbers: points, and for each program a line through the means. */
const numericChart = (data, axis, rows) => {
  const { name } = data.axes[axis];
  const groups = groupsOf(rows, axis, true);
  const names = data.axes.map((_, other) => other).filter((other) => other !== axis && !data.axes[other].is_numeric && data.axes[other].name !== "trace");
  const machineOf = ({ settings }) => names.map((other) => settings[other].shown).join(", ");
  const machines = [...new Set(rows.map(machineOf))];
  const { programs } = data.ranking;
  // Where the other names are few, each has lines of its own.
  const kinds = programs.length * machines.length <= MOST_KINDS ? machines : [null];
  const lines = programs.flatMap((_, program) => kinds.map((kind, number) => ({ name: kind, dash: DASHES[number], paint: programColor(program),
    points: groups.map(({ x, rows: members }) => ({ x, y: mean(members.filter((row) => row.program === program && (kind === null || machineOf(row) === kind))
      .map((row) => row.time)) })).filter(({ y }) => y) })));
  const ends = kinds.length > 1 ? { right: besideChart(kinds), mark: writeEnds(lines) } : {};
  return scatterChart({ id: `axis-${axis}`, ...ends, lines, title: `Time against ${name}; lines join the means${kinds.length > 1 ? ` of each ${names.map((other) => data.axes[other].name).join(" and ")}` : ""}`, label: `Predicted time of all points against ${name}`, rows: rows.map((row) =>
    ({ ...row, x: row.settings[axis].number, y: row.time, paint: programColor(row.program), hollow: kinds.length === 1 || machines.indexOf(machineOf(row)) % 2 === 1 })),
  xMarks: groups.map(({ name: text, x }) => [x, text]), xTitle: name, csv: () => axisTable(data, axis, rows) });
};

/** The times of each of the names on an axis, from left to right. */
const namesChart = (data, axis, rows) => {
  const { name } = data.axes[axis];
  const groups = groupsOf(rows, axis, false);
  const most = largest(rows.map(({ time: seconds }) => seconds));
  const margin = (width) => Math.min(240, width * 0.4);
  const left = (seconds, width) => margin(width) + seconds / most * (width - margin(width) - 12);
  const programs = data.ranking.programs.length;
  const tall = Math.max(22, 8 * programs + 6);
  const height = groups.length * tall;
  // Each program has a lane of its own.
  const lane = (line, program) => (line + 0.5) * tall + (program - (programs - 1) / 2) * 8;
  const made = chart({ id: `axis-${axis}`, title: `Time by ${name}`, label: `Predicted time of all points by ${name}`, height: height + AXIS_ROW,
    csv: () => axisTable(data, axis, rows), draw: (context, width) => {
      context.textBaseline = "middle";
      groups.forEach((group, line) => {
        const y = (line + 0.5) * tall;
        context.fillStyle = color("line");
        context.fillRect(margin(width), y, width - margin(width), 1);
        context.textAlign = "left";
        context.fillStyle = color("ink");
        context.fillText(fitted(context, group.name, margin(width) - 10), 0, y);
        for (const row of group.rows) {
          context.fillStyle = color(programColor(row.program));
          context.fillRect(left(row.time, width) - 3, lane(line, row.program) - 3, 6, 6);
        }
      });
      context.fillStyle = color("faint");
      context.textBaseline = "top";
      context.textAlign = "center";
      for (const [at, text] of timeMarks(0, most, Math.max(2, width / 160))) context.fillText(text, left(at, width), height + 4);
    } });
  const sorted = groups.flatMap((group, line) => group.rows.map((row) => ({ ...row, line })));
  inspect(made, () => ({ columns: sorted.length, rows: 1, x: 0, y: 0, width: made.canvas.clientWidth, height }), (place) => sorted[place].text,
    (x, y) => {
      const far = sorted.map((row) => Math.hypot(left(row.time, made.canvas.clientWidth) - x, lane(row.line, row.program) - y));
      return far.indexOf(Math.min(...far));
    });
  return made;
};
const AXIS_ROW = 22;

const axisTable = (data, axis, rows) => [[data.axes[axis].name, "program", "predicted time (s)"],
  ...rows.map((row) => [row.settings[axis].shown, data.ranking.programs[row.program], row.time])];

/** How far the mean time of machines is apart between the best and the worst value of each axis, the farthest first. */
const effectsChart = (data, axes, machines) => {
  const effects = axes.map((axis) => {
    const groups = groupsOf(machines, axis, data.axes[axis].is_numeric).map(({ name, rows }) => ({ name, time: mean(rows.map(({ total }) => total)) }));
    const sorted = groups.sort((one, other) => one.time - other.time);
    const [best, worst] = [sorted[0], sorted[sorted.length - 1]];
    return { name: data.axes[axis].name, best, worst, value: worst.time - best.time };
  }).sort((one, other) => other.value - one.value);
  return barChart({ id: "effects", title: "What each axis is worth: mean time with its worst value less that with its best, as part of the worst", label: "Main effects of the axes",
    rows: effects.map((effect) => ({ ...effect, parts: [["amount", effect.value]],
      text: `${time(effect.value)} (${percent(effect.worst.time ? effect.value / effect.worst.time : 0)})` })),
    tell: ({ name, best, worst }) => `${name}: ${time(best.time)} with ${best.name}, ${time(worst.time)} with ${worst.name}`,
    csv: () => [["axis", "best value", "mean time (s)", "worst value", "mean time (s)"],
      ...effects.map(({ name, best, worst }) => [name, best.name, best.time, worst.name, worst.time])] });
};

/** The machines that no other machine beats in time and in price. */
const paretoFront = (machines) => {
  let best = Infinity;
  return [...machines].sort((one, other) => one.price - other.price || one.total - other.total).filter(({ total }) => {
    const isBetter = total < best;
    if (isBetter) best = total;
    return isBetter;
  });
};

/** An axis of times about these, not from zero. */
const aboutTimes = (times) => {
  const [least, most] = [Math.min(...times), largest(times)];
  const [from, until] = [least - 0.1 * (most - least || most), most + 0.1 * (most - least || most)];
  return { place: (number) => (number - from) / (until - from), marks: timeMarks(from, until, 5) };
};

const priceChart = (machines, currency) => {
  const front = paretoFront(machines);
  const prices = machines.map(({ price }) => price);
  const { all } = ticks(Math.min(...prices), Math.max(...prices), 5);
  return scatterChart({ id: "pareto", scale: aboutTimes, title: "Time against price; the line joins the machines that no other beats in both",
    label: "Time of all programs against the price of the machine, with the Pareto front",
    // The machines of the front have their names first.
    rows: [...front, ...machines.filter((machine) => !front.includes(machine))].map((machine) => ({ ...machine, x: machine.price, y: machine.total,
      paint: front.includes(machine) ? "ink" : "amount", text: `${machine.name}: ${time(machine.total)}, ${priced(machine.price, currency)}` })),
    lines: [{ paint: "ink", points: front.map(({ price, total }) => ({ x: price, y: total })) }],
    xMarks: all.map((price) => [price, priced(price, currency)]), xTitle: "price",
    csv: () => [["machine", "price", "time (s)", "on the front"], ...machines.map((machine) =>
      [machine.name, machine.price, machine.total, front.includes(machine) ? "yes" : "no"])] });
};

const MOST_MACHINES = 12;
/** Programs with their weights. */
const weighted = ({ programs, weights }) => programs.map((program, which) => (weights[which] === 1 ? "" : `${weights[which]}${SPACE}×${SPACE}`) + program);
const machinesChart = ({ programs, weights, currency }, machines) => barChart({ id: "machines",
  title: `${machines.length > MOST_MACHINES ? `${MOST_MACHINES} of ${count(machines.length)}` : count(machines.length)} machines, the fastest first${programs.length > 1
    ? `: ${weighted({ programs, weights }).join(" + ")}` : ""}`,
  label: "Machines, the fastest first", rows: machines.slice(0, MOST_MACHINES).map((machine) => ({ ...machine, value: machine.total,
    text: [time(machine.total), ...(machine.price === null ? [] : [priced(machine.price, currency)])].join(", "),
    parts: machine.times.map((seconds, program) => [programColor(program), seconds * weights[program]]) })),
  tell: (machine) => `${machine.name}: ${programs.map((program, which) => `${program} ${time(machine.times[which])}`).join(", ")}; ${slower(machine, machines[0])}`,
  csv: () => [["machine", "time (s)", ...programs.map((program) => `${program} (s)`), "price"],
    ...machines.map((machine) => [machine.name, machine.total, ...machine.times, machine.price])] });

const machinesTable = ({ programs, weights, currency }, machines) => {
  const best = programs.map((_, program) => Math.min(...machines.map(({ times }) => times[program])));
  return table("machines", [
    { name: "machine", kind: "text", value: ({ name }) => name },
    { name: programs.length > 1 ? weighted({ programs, weights }).join(" + ") : "time", kind: "time", value: ({ total }) => total },
    { name: "above best", kind: "percent", value: ({ total }) => total / machines[0].total - 1 },
    ...programs.flatMap((program, which) => programs.length > 1 ? [{ name: program, kind: "time", value: ({ times }) => times[which] },
      { name: "above best", kind: "percent", value: ({ times }) => times[which] / best[which] - 1 }] : []),
    { name: currency ? `price, ${currency}` : "price", kind: "count", value: ({ price }) => price },
    { name: "price × time / least", kind: "number", value: ({ price, total }) => price && price * total / Math.min(...machines.map((one) => one.price * one.total)) },
  ], machines, "Machines, the fastest first");
};

const pointTable = (data, points, caption) => table("all", [
  { name: "point", kind: "rank", value: ({ number }) => number, link: data.has_reports ? ({ number }) => `points/${number}.html` : null },
  ...data.axes.map(({ name: axis }, at) => ({ name: axis, kind: "text", value: ({ settings }) => settings[at].shown })),
  { name: "predicted time", kind: "time", value: studyTime },
  { name: data.ranking.currency ? `price, ${data.ranking.currency}` : "price", kind: "count", value: ({ outcome }) => outcome.cost },
  { name: "parallel efficiency", kind: "percent", value: ({ outcome }) => outcome.efficiencies ? outcome.efficiencies.parallel : 0 },
], points, caption);

/** The answer: the machine with the least product of price and time, or the fastest. */
const answerOf = ({ currency }, machines) => {
  const [fastest] = machines;
  if (fastest.price === null) return { name: fastest.name, what: `${time(fastest.total)}: the fastest of ${counted(machines.length, "machine", "machines")}` };
  const value = machines.reduce((one, other) => other.price * other.total < one.price * one.total ? other : one);
  return { name: value.name, what: value === fastest ? `${time(fastest.total)} for ${priced(value.price, currency)}: the fastest machine has the least price × time, too`
    : `the least price × time: ${slower(value, fastest)} at ${percent(value.price / fastest.price)} of its price: ${time(value.total)} for ${priced(value.price, currency)}; ${fastest.name} takes ${time(fastest.total)} for ${priced(fastest.price, currency)}` };
};

drawPage(async () => {
  const data = await readData();
  const { ranking, points, axes } = data;
  const title = `${data.study}: ${counted(points.length, "point", "points")}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = "study";
  const programAxis = axes.findIndex(({ name }) => name === "trace");
  // Drawn values have more digits than a reader needs.
  const short = (text) => unbroken(text.replace(/\b\d+\.\d{4,}\b/g, (number) => String(Number(Number(number).toPrecision(4))))
    .replace(/\b(\d{4,}(?:\.\d+)?) ([num]s)\b/g, (_, number, unit) => time(number * { n: 1e-9, u: 1e-6, m: 1e-3 }[unit[0]])));
  points.forEach(({ settings }) => settings.forEach((setting, axis) => { if (axis !== programAxis) setting.shown = short(setting.shown); }));
  const machines = ranking.machines.map(({ name, points: numbers, times, total, price }) =>
    ({ name: short(name), times: [...times], total, price: price ?? null, settings: points[numbers[0] - 1].settings }));
  const sorted = [...points].sort((one, other) => studyTime(one) - studyTime(other));
  const varied = axes.map((_, axis) => axis).filter((axis) => axis !== programAxis && new Set(points.map(({ settings }) => settings[axis].shown)).size > 1);
  const rows = points.map((point) => ({ settings: point.settings, time: studyTime(point),
    program: programAxis < 0 ? 0 : ranking.programs.indexOf(point.settings[programAxis].shown),
    text: `${time(studyTime(point))}: ${point.settings.map(({ shown }) => shown).join(", ")}` }));
  const key = ranking.programs.length > 1 ? weighted(ranking).map((program, which) => [program, programColor(which)]) : [];
  const answer = machines.length ? answerOf(ranking, machines)
    : { name: time(studyTime(sorted[0])), what: "the fastest point; no machine has all programs" };
  section("answer", "Result", element("div", { class: "hero" },
    element("p", { class: "answer named" }, answer.name), element("p", { class: "sure" }, answer.what)),
  element("div", {}, legend(key), machines.length ? machinesChart(ranking, machines).figure : null)).classList.add("first");
  if (machines.length > 1) {
    section("machines", "Machines", machines[0].price === null ? null : priceChart(machines, ranking.currency).figure,
      varied.length ? effectsChart(data, varied, machines).figure : null, machinesTable(ranking, machines));
  }
  if (varied.length) {
    section("axes", "Axes", legend(ranking.programs.length > 1 ? ranking.programs.map((program, which) => [program, programColor(which)]) : []), row(varied.map((axis) => (axes[axis].is_numeric ? numericChart : namesChart)(data, axis, rows).figure)));
  }
  section("points", "Points", pointTable(data, sorted, "All points, the fastest first"));
  const warnings = [...new Set(points.flatMap(({ outcome }) => outcome.warnings))];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${data.version}`;
});
