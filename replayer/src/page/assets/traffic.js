// The page of synthetic traffic: latency and accepted load against the load that is offered.

/** Colours of curves; jobs and activities have others. */
const PAINTS = ["ramp-4", "ramp-3", "ramp-2", "amount"];

/**
 * How curves look: [colour, pattern] by their numbers. With several keys, the last one has the pattern and the others have the colour,
 * if there are enough of them.
 */
const looks = (curves) => {
  const values = curves.map(({ values: all }) => [all.slice(0, -1).join(", "), all[all.length - 1]]);
  const kinds = [0, 1].map((which) => [...new Set(values.map((pair) => pair[which]))]);
  const numbers = kinds[0].length > 1 && kinds[0].length <= PAINTS.length && kinds[1].length <= DASHES.length
    ? values.map((pair) => pair.map((value, which) => kinds[which].indexOf(value)))
    : curves.map((_, number) => [number % PAINTS.length, number % DASHES.length]);
  return numbers.map(([paint, dash]) => [PAINTS[paint], DASHES[dash]]);
};

/** A piece of a line in a legend. */
const piece = (paint, dash) => {
  let at = 0;
  const stops = dash.map((length, part) => `${part % 2 ? "transparent" : `var(--${paint})`} ${at}px ${at += length}px`);
  const image = dash.length ? `repeating-linear-gradient(90deg, ${stops.join(", ")})` : `linear-gradient(var(--${paint}), var(--${paint}))`;
  return element("i", { style: `width: 2rem; height: 2px; vertical-align: .25em; background: ${image}` });
};

/** The part of the offered load that a network accepts at least, unless it is saturated. */
const ACCEPTED = 0.95;
const plain = (number) => String(Number(number.toPrecision(3)));
/** A number with half of its interval at 99 %, in whose first digit it ends; without one after a single run. */
const uncertain = (number, half) => {
  if (!half) return plain(number);
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(half))));
  const shown = (value) => (half >= 1 ? Number(value.toPrecision(half > value ? 1 : Math.max(1, Math.floor(Math.log10(value)) - Math.floor(Math.log10(half)) + 1))) : value)
    .toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return `${shown(number)} ± ${half >= 1 ? count(Number(half.toPrecision(1))) : half.toFixed(decimals)}`.replaceAll(" ", SPACE);
};

/** An axis of numbers from zero, each written by `shown`. */
const upTo = (most, shown) => ({ place: (number) => number / most, marks: ticks(0, most, 5).all.map((at) => [at, shown(at)]) });

/** The part of a line up to where it first rises above `most`. */
const below = (points, most) => {
  const above = points.findIndex(({ y }) => y > most);
  if (above < 0) return points;
  const [last, next] = [points[above - 1], points[above]];
  return last ? [...points.slice(0, above), { x: last.x + (next.x - last.x) * (most - last.y) / (next.y - last.y), y: most }] : [];
};

drawPage(async () => {
  const { version, result: { settings, command, curves } } = await readData();
  const parts = (setting) => [setting.slice(0, setting.indexOf("=")), setting.slice(setting.indexOf("=") + 1)];
  const keys = curves[0].settings.map((setting) => parts(setting)[0]);
  for (const curve of curves) {
    const { points } = curve.result;
    curve.values = curve.settings.map((setting) => parts(setting)[1]);
    curve.name = curve.settings.join(", ") || curve.topology;
    const top = points.reduce((one, other) => other.accepted > one.accepted ? other : one);
    curve.most = top.accepted;
    curve.accepts = uncertain(top.accepted, top.accepted_ci99);
    curve.saturated = points.find(({ saturated }) => saturated)?.offered;
    curve.carried = points.filter(({ saturated, offered }) => !saturated && !(offered > curve.saturated)).at(-1)?.offered;
  }
  looks(curves).forEach((look, number) => { [curves[number].paint, curves[number].dash] = look; });
  const [{ topology, cycle, result: { traffic, runs, cycles } }] = curves;
  const best = curves.reduce((one, other) => other.most > one.most ? other : one);
  const several = curves.length > 1;
  const until = ({ saturated, carried }) => !saturated ? "not saturated" : carried === undefined ? `saturated at an offered load of ${plain(saturated)}`
    : `saturates between offered loads of ${plain(carried)} and ${plain(saturated)}`;
  const title = `${traffic} traffic on ${[topology, ...settings].join(", ")}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = "traffic";
  const ofKeys = keys.map((name, which) => ({ name: name.split(".").slice(-2).join("."), kind: "text", value: ({ curve }) => curve.values[which] }));
  section("answer", "Result", element("div", { class: "hero" },
    element("p", { class: "answer" }, best.accepts),
    element("p", { class: "sure" }, `phits per cycle and host are accepted at most${several ? `, with ${best.name}` : ""}; ${until(best)}. ` +
      `${counted(runs, "run", "runs")} of ${count(cycles)} cycles of ${plain(cycle * 1e9)}${SPACE}ns each.`),
    several ? table("maxima", [...ofKeys, { name: "accepted at most", kind: "rank", value: ({ curve }) => curve.accepts },
      { name: "saturates between", kind: "rank", value: ({ curve: { carried, saturated } }) => saturated && `${carried ? plain(carried) : "0"}–${plain(saturated)}` }], curves.map((curve) => ({ curve }))) : null)).classList.add("first");
  const all = curves.flatMap((curve) => curve.result.points.map((point) => ({ curve, point })));
  const loads = [...new Set(all.map(({ point }) => point.offered))].sort((one, other) => one - other);
  const curve = (id, name, valueOf, half, most, shown, limit = "") => {
    const drawn = curves.map((curve) => ({ paint: curve.paint, dash: curve.dash, name: curve.values.join(", "),
      points: below(curve.result.points.map((point) => ({ x: point.offered, y: valueOf(point) })), most) }));
    const ends = several ? { right: besideChart(drawn.map((curve) => curve.name)), mark: writeEnds(drawn) } : {};
    return scatterChart({ id, ...ends, title: `${name} against offered load${limit}`,
      label: `${name} against offered load`, scale: () => upTo(most, shown), xTitle: "offered load, phits per cycle and host",
      rows: curves.flatMap((curve) => curve.result.points.filter((point) => valueOf(point) <= most).map((point) => ({ x: point.offered, y: valueOf(point),
        paint: curve.paint, hollow: curve.saturated && point.offered >= curve.saturated,
        text: `${several ? `${curve.name}, ` : ""}offered ${plain(point.offered)}: ${name.toLowerCase()} ${shown(valueOf(point))}` }))),
      lines: [...drawn, ...curves.flatMap(({ paint, result: { points } }) => points.filter((point) => half(point) && valueOf(point) <= most)
        .map((point) => ({ paint, points: [-1, 1].map((side) => ({ x: point.offered, y: Math.max(0, Math.min(most, valueOf(point) + side * half(point))) })) })))],
      xMarks: loads.map((offered) => [offered, plain(offered)]),
      csv: () => [["settings", "offered", name], ...all.map(({ curve, point }) => [curve.settings.join(" "), point.offered, valueOf(point)])] });
  };
  const latency = ({ message_latency: value }) => value;
  // Beyond saturation, latency only says how long the measurement was: lines leave the chart.
  const least = Math.min(...all.map(({ point }) => latency(point)));
  const sound = all.filter(({ curve, point }) => !curve.saturated || point.offered < curve.saturated).map(({ point }) => latency(point));
  const longest = largest(all.map(({ point }) => latency(point)));
  const highest = Math.min(1.1 * longest, Math.max(4 * least, 1.2 * largest([0, ...sound])));
  const inCycles = (value) => `${plain(value)}${SPACE}cycles`;
  const about = `Hollow points are saturated: the whole interval at 99${SPACE}%, a bar, is below ${ACCEPTED * 100}${SPACE}% of the offered load.`;
  section("curves", "Curves", element("p", { class: "faint" }, about), several ? element("ul", { class: "legend" }, element("li", { class: "faint" }, keys.join(", ")),
    curves.map(({ values, paint, dash }) => element("li", {}, piece(paint, dash), values.join(", ")))) : null,
  row(curve("accepted", "Accepted load", ({ accepted }) => accepted, ({ accepted_ci99: half }) => half, 1.1 * largest(loads), plain).figure,
    curve("latency", "Mean latency", latency, ({ message_latency_ci99: half }) => half, highest, inCycles, longest > highest ? `, up to ${count(highest)}${SPACE}cycles` : "").figure));
  section("points", "Points", table("points", [...(several ? ofKeys : []),
    { name: "offered", kind: "number", value: ({ point }) => point.offered },
    { name: "accepted", kind: "rank", value: ({ point }) => uncertain(point.accepted, point.accepted_ci99) },
    { name: "latency", unit: "cycles", kind: "rank", value: ({ point }) => uncertain(latency(point), point.message_latency_ci99) },
    { name: "95 % below", unit: "cycles", kind: "count", value: ({ point }) => point.message_latency_percentiles.p95 },
    { name: "mean use of links", kind: "percent", value: ({ point }) => point.link_use },
    { name: "use of the busiest link", kind: "percent", value: ({ point }) => point.link_use_max },
    { name: "state", kind: "text", value: ({ point }) => point.saturated ? "saturated" : point.accepted < ACCEPTED * point.offered ? "perhaps saturated" : "" },
  ], all, "Loads; ± is half of the interval at 99 %"), repeatedBy("measurement", command));
  const warnings = [...new Set(curves.flatMap(({ result }) => result.warnings))];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${version}`;
});
