// The result against an earlier one: each number with its change, and whether the change is more than the spread of the predictions.

const gain = ({ before, after }) => after - before;
const signed = (value, written = time) => `${value > 0 ? "+" : ""}${value === 0 ? "no change" : written(value)}`;
const better = (value) => value < 0 ? "better" : value > 0 ? "worse" : "";

const addComparison = (data) => {
  const { comparison } = data;
  if (!comparison) return;
  const whole = comparison.simulated_time;
  const activities = Object.entries(comparison.activities).filter(([, { before, after }]) => before || after)
    .map(([name, change]) => ({ name, ...change })).sort((one, other) => Math.abs(gain(other)) - Math.abs(gain(one)));
  const most = largest(activities.flatMap(({ before, after }) => [before, after]));
  const made = barChart({ id: "comparison", title: "Mean of all ranks, before and after", label: "Time of each activity before and after", whole: most,
    rows: activities.flatMap(({ name, before, after }) => [
      { name: `${name} before`, value: before, change: null, text: before ? time(before) : NOTHING, parts: [["done", before]] },
      { name: `${name} after`, value: after, change: after - before, text: `${after ? time(after) : NOTHING} (${signed(after - before)})`,
        parts: [[name === "recv" ? "receive" : name, after]] }]),
    tell: ({ name, value, change }) => `${name}: ${time(value)}${change === null ? "" : `, ${signed(change)}`}`,
    csv: () => [["activity", "before (s)", "after (s)"], ...activities.map(({ name, before, after }) => [name, before, after])] });
  const ranks = comparison.per_rank.map(({ finish }, rank) => ({ rank, ...finish })).sort((one, other) => Math.abs(gain(other)) - Math.abs(gain(one)));
  const times = [{ name: "before", kind: "time", value: ({ before }) => before }, { name: "after", kind: "time", value: ({ after }) => after },
    { name: "change", kind: "time", value: gain }];
  const use = (when) => ({ name: `use ${when}`, kind: "percent", value: (row) => row[when] ? row[when].use : 0 });
  const { waits } = comparison;
  section("comparison", "Comparison",
    element("p", { class: "finding" }, `The predicted time was ${time(whole.before)} and is ${time(whole.after)}: `,
      element("span", { class: better(gain(whole)) }, `${signed(gain(whole))}${whole.before ? ` (${signed(gain(whole) / whole.before, percent)})` : ""}`), "."),
    comparison.remarks.map((remark) => element("p", {}, `${remark[0].toUpperCase()}${remark.slice(1)}.`)),
    element("div", { class: "columns" }, made.figure,
    waits ? table("changed-causes", [{ name: "cause of waiting", kind: "text", value: causeName },
      ...times], waits.causes, "Causes of waiting that change most") : null,
    table("changed-ranks", [{ name: "rank", kind: "rank", value: ({ rank }) => rank }, ...times], ranks, "When ranks are done"),
    comparison.links.length ? table("changed-links", [{ name: "link", kind: "text", value: ({ name }) => name }, use("before"), use("after")],
        comparison.links, "Busiest links") : null));
};
