// The result against an earlier one: each number with its change, and whether the change is more than the spread of the predictions.

const gain = ({ before, after }) => after - before;
const signed = (value, written = time) => `${value > 0 ? "+" : ""}${value === 0 ? "no change" : written(value)}`;
const better = (value) => value < 0 ? "better" : value > 0 ? "worse" : "";

/** Both results on one axis of time: what the mean rank does. */
const bothChart = ({ simulated_time: whole, activities }) => {
  const colors = Object.entries(activities).map(([name]) => [name, name === "recv" ? "receive" : name]);
  const longest = Math.max(whole.before, whole.after);
  const bars = ["before", "after"].map((when) => {
    const parts = colors.map(([name, paint]) => [name, paint, activities[name][when]]).filter(([, , seconds]) => seconds > 0);
    return { when, parts: [...parts, ["done early", "done", Math.max(0, whole[when] - sum(parts.map(([, , seconds]) => seconds)))]] };
  });
  const left = 52;
  const key = [...colors.filter(([name]) => activities[name].before || activities[name].after), ["done early", "done"]];
  const made = chart({ id: "both", title: "The mean rank in both results, on one axis", label: "Time of the mean rank before and after", key, height: 80 + 22,
    csv: () => [["result", "activity", "time (s)"], ...bars.flatMap(({ when, parts }) => parts.map(([name, , seconds]) => [when, name, seconds]))],
    draw: (context, width) => {
      const scale = (width - left - 4) / longest;
      bars.forEach(({ when, parts }, line) => {
        context.fillStyle = color("ink");
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillText(when, 0, line * 40 + 18);
        let x = left;
        for (const [, paint, seconds] of parts) {
          context.fillStyle = color(paint);
          context.fillRect(x, line * 40 + 4, seconds * scale, 28);
          x += seconds * scale;
        }
      });
      context.fillStyle = color("faint");
      context.textBaseline = "top";
      for (const [at, text] of timeMarks(0, longest, Math.max(2, width / 120))) {
        context.textAlign = at === 0 ? "left" : at * scale + left > width - 24 ? "right" : "center";
        context.fillText(text, left + at * scale, 82);
      }
    } });
  inspect(made, () => ({ columns: 1, rows: 2, x: 0, y: 0, width: made.canvas.clientWidth, height: 80 }), (_, line) =>
    `${bars[line].when}: ${bars[line].parts.map(([name, , seconds]) => `${name} ${time(seconds)}`).join(", ")}`);
  return [legend(key), made.figure];
};

const MOST_DOTS = 256;
/** When each rank is done, in both results. */
const finishesChart = (ranks) => scatterChart({ id: "finishes", title: "When each rank is done; lines are means", label: "When each rank is done, before and after",
  key: [["before", "amount"], ["after", "ink"]], rows: ranks.flatMap(({ rank, before, after }) => [["before", "amount", before], ["after", "ink", after]]
    .map(([when, paint, y]) => ({ x: rank, y, paint, hollow: when === "before", text: `rank ${rank} ${when}: ${time(y)}`, name: rank === ranks.length - 1 ? when : "" }))),
  lines: [["amount", "before"], ["ink", "after"]].map(([paint, when]) =>
    ({ paint, points: [0, ranks.length - 1].map((x) => ({ x, y: sum(ranks.map((rank) => rank[when])) / ranks.length })) })),
  xMarks: ticks(0, ranks.length - 1, 6).all.filter(Number.isInteger).map((rank) => [rank, `${rank}`]), xTitle: "rank",
  csv: () => [["rank", "before (s)", "after (s)"], ...ranks.map(({ rank, before, after }) => [rank, before, after])] });

/** `hasHeadline`: the page says the change already. */
const addComparison = (data, hasHeadline = false) => {
  const { comparison } = data;
  if (!comparison) return;
  const whole = comparison.simulated_time;
  const activities = Object.entries(comparison.activities).filter(([, { before, after }]) => before || after)
    .map(([name, change]) => ({ name, ...change })).sort((one, other) => Math.abs(gain(other)) - Math.abs(gain(one)));
  const most = largest(activities.flatMap(({ before, after }) => [before, after]));
  const made = barChart({ id: "comparison", title: "Mean of all ranks, before and after", label: "Time of each activity before and after", whole: most,
    rows: activities.flatMap(({ name, before, after }) => [
      { name: `${name} before`, value: before, change: null, text: before ? time(before) : NOTHING, parts: [[name === "recv" ? "receive" : name, before]] },
      { name: `${name} after`, value: after, change: after - before, text: `${after ? time(after) : NOTHING} (${signed(after - before)})`,
        parts: [[name === "recv" ? "receive" : name, after]] }]),
    tell: ({ name, value, change }) => `${name}: ${time(value)}${change === null ? "" : `, ${signed(change)}`}`,
    csv: () => [["activity", "before (s)", "after (s)"], ...activities.map(({ name, before, after }) => [name, before, after])] });
  const inOrder = comparison.per_rank.map(({ finish: { before, after } }, rank) => ({ rank, before, after }));
  const ranks = [...inOrder].sort((one, other) => Math.abs(gain(other)) - Math.abs(gain(one)));
  const times = [["before", ({ before }) => before], ["after", ({ after }) => after], ["change", gain]]
    .map(([name, value]) => ({ name, kind: "time", scale: "times", value }));
  const shares = [["before", ({ before }) => before], ["after", ({ after }) => after], ["change", gain]]
    .map(([name, value]) => ({ name, kind: "percent", scale: "shares", value, ...(name === "change" ? { unit: "points" } : {}) }));
  const factors = Object.entries(comparison.efficiencies || {}).map(([name, change]) => ({ name, ...change }));
  const use = (when) => ({ name: `use ${when}`, kind: "percent", value: (row) => row[when] ? row[when].use : 0 });
  const { waits } = comparison;
  section("comparison", "Comparison",
    hasHeadline ? null : element("p", { class: "finding" }, `The predicted time was ${time(whole.before)} and is ${time(whole.after)}: `,
      element("span", { class: better(gain(whole)) }, `${signed(gain(whole))}${whole.before ? ` (${signed(gain(whole) / whole.before, percent)})` : ""}`), "."),
    comparison.remarks.map((remark) => element("p", {}, `${remark[0].toUpperCase()}${remark.slice(1)}.`)),
    bothChart(comparison),
    row(made.figure, inOrder.length > 1 && inOrder.length <= MOST_DOTS ? finishesChart(inOrder).figure : null,
    factors.length ? table("changed-efficiencies", [{ name: "efficiency", kind: "text", value: ({ name }) => name }, ...shares], factors, "Parallel efficiency and its factors") : null,
    waits ? table("changed-causes", [{ name: "cause of waiting", kind: "text", value: causeName },
      ...times], waits.causes, "Causes of waiting that change most") : null,
    table("changed-ranks", [{ name: "rank", kind: "rank", value: ({ rank }) => rank }, ...times], ranks, "When ranks are done"),
    comparison.links.length ? table("changed-links", [{ name: "link", kind: "text", value: ({ name }) => name }, use("before"), use("after")],
        comparison.links, "Busiest links") : null));
};
