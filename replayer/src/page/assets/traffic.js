// The page of synthetic traffic: latency and accepted load against the load that is offered.

/** Colours of curves, one after the other. */
const PAINTS = ["amount", "job-0", "job-2", "job-1"];

const plain = (number) => String(Number(number.toPrecision(3)));

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
  const { version, result: curves } = await readData();
  for (const [place, curve] of curves.entries()) {
    const { points } = curve.result;
    curve.paint = PAINTS[place % PAINTS.length];
    curve.name = curve.settings.join(", ") || curve.topology;
    curve.short = curve.settings.map((setting) => setting.slice(setting.indexOf("=") + 1)).join(", ");
    curve.most = largest(points.map(({ accepted }) => accepted));
    curve.saturated = points.find(({ saturated }) => saturated)?.offered;
  }
  const [{ topology, cycle, result: { traffic, runs, cycles } }] = curves;
  const best = curves.reduce((one, other) => other.most > one.most ? other : one);
  const several = curves.length > 1;
  const until = ({ saturated }) => saturated ? `saturated from an offered load of ${plain(saturated)} on` : "not saturated";
  const title = `${traffic} traffic on ${topology}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = "traffic";
  section("answer", "Result", element("div", { class: "hero" },
    element("p", { class: "answer" }, plain(best.most)),
    element("p", { class: "sure" }, `phits per cycle and host are accepted at most${several ? `, with ${best.name}` : ""}; ${until(best)}. ` +
      `${counted(runs, "run", "runs")} of ${count(cycles)} cycles of ${plain(cycle * 1e9)}${SPACE}ns each.`),
    several ? element("dl", {}, curves.flatMap((curve) => [element("dt", {}, curve.name),
      element("dd", {}, `${plain(curve.most)} at most, ${until(curve)}`)])) : null)).classList.add("first");
  const all = curves.flatMap((curve) => curve.result.points.map((point) => ({ curve, point })));
  const loads = [...new Set(all.map(({ point }) => point.offered))].sort((one, other) => one - other);
  const curve = (id, name, valueOf, most, shown) => scatterChart({ id, title: `${name} against offered load${several ? "" : "; saturated from the line on"}`,
    label: `${name} against offered load`, scale: () => upTo(most, shown), xTitle: "offered load, phits per cycle and host",
    rows: curves.flatMap((curve) => {
      const rows = curve.result.points.filter((point) => valueOf(point) <= most).map((point) => ({ x: point.offered, y: valueOf(point),
        paint: several ? curve.paint : curve.saturated && point.offered >= curve.saturated ? "worse" : "amount",
        text: `${several ? `${curve.name}, ` : ""}offered ${plain(point.offered)}: ${name.toLowerCase()} ${shown(valueOf(point))}` }));
      if (several && rows.length) rows[rows.length - 1].name = curve.short;
      return rows;
    }),
    lines: [...curves.map((curve) => ({ paint: curve.paint,
      points: below(curve.result.points.map((point) => ({ x: point.offered, y: valueOf(point) })), most) })),
      ...(several || !best.saturated ? [] : [{ paint: "worse", points: [0, most].map((y) => ({ x: best.saturated, y })) }])],
    xMarks: loads.map((offered) => [offered, plain(offered)]),
    csv: () => [["settings", "offered", name], ...all.map(({ curve, point }) => [curve.settings.join(" "), point.offered, valueOf(point)])] });
  const latency = ({ message_latency: value }) => value;
  // Beyond saturation, latency only says how long the measurement was: lines leave the chart.
  const least = Math.min(...all.map(({ point }) => latency(point)));
  const sound = all.filter(({ curve, point }) => !curve.saturated || point.offered < curve.saturated).map(({ point }) => latency(point));
  const highest = Math.min(1.1 * largest(all.map(({ point }) => latency(point))), Math.max(4 * least, 1.2 * largest([0, ...sound])));
  const inCycles = (value) => `${plain(value)}${SPACE}cycles`;
  section("curves", "Curves", row(curve("accepted", "Accepted load", ({ accepted }) => accepted, largest(loads), plain).figure,
    curve("latency", "Mean latency of messages", latency, highest, inCycles).figure));
  section("points", "Points", table("points", [
    ...(several ? [{ name: "settings", kind: "text", value: ({ curve }) => curve.settings.join(" ") }] : []),
    { name: "offered", kind: "number", value: ({ point }) => point.offered }, { name: "accepted", kind: "number", value: ({ point }) => point.accepted },
    { name: "latency, cycles", kind: "number", value: ({ point }) => latency(point) },
    { name: "busiest channel", kind: "percent", value: ({ point }) => point.channel_use_max },
  ], all, "Loads"));
  const warnings = [...new Set(curves.flatMap(({ result }) => result.warnings))];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${version}`;
});
