// Findings of analyses, a comparison with another result, and what the result was made from.

const MOST_ROWS = 40;

const words = (name) => name.replaceAll("_", " ").replaceAll("-", " ");
const titled = (name) => words(name).replace(/^./, (letter) => letter.toUpperCase());

/** The units of numbers, by their keys. */
let units = {};
const isTime = (key, value) => typeof value === "number" && units[key] === "seconds";

/** A value of a finding as people read it. */
const finding = (key, value) => {
  if (typeof value !== "number") return value === null ? "none" : String(value);
  const shown = { seconds: time, bytes: volume, count }[units[key]];
  return shown ? shown(value) : value.toPrecision(4);
};

const isPlain = (value) => value === null || typeof value !== "object";
const sumOf = (row) => Object.entries(row).reduce((sum, [key, value]) =>
  sum + (isTime(key, value) ? Math.abs(value) : 0), 0);

/** Rows with the same columns; those with most time first. */
const rowsOf = (rows) => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => isPlain(row[key]))))];
  const deeper = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => !isPlain(row[key]))))];
  const sorted = [...rows].sort((one, other) => sumOf(other) - sumOf(one)).slice(0, MOST_ROWS);
  const all = [...columns, ...deeper].filter((key) => rows.some((row) => row[key] !== 0 && row[key] !== null && row[key] !== undefined));
  return [
    table(all.map(words), sorted.map((row) => all.map((key) => isPlain(row[key]) ? finding(key, row[key] ?? null) : inline(row[key])))),
    rows.length > MOST_ROWS ? element("p", { class: "faint" }, `and ${count(rows.length - MOST_ROWS)} more, which --json has`) : null,
  ];
};

/** A value within a table. */
const inline = (value) => {
  if (isPlain(value)) return finding("", value);
  if (Array.isArray(value)) return value.slice(0, 4).map(inline).join("; ") + (value.length > 4 ? "; …" : "");
  return Object.entries(value).map(([key, inner]) => `${words(key)} ${isPlain(inner) ? finding(key, inner) : inline(inner)}`).join(", ");
};

const render = (value, depth = 0) => {
  if (isPlain(value)) return element("p", {}, finding("", value));
  if (Array.isArray(value)) {
    if (value.length === 0) return element("p", { class: "faint" }, "none");
    return value.every((row) => !isPlain(row) && !Array.isArray(row)) ? rowsOf(value) : element("p", {}, inline(value));
  }
  const entries = Object.entries(value);
  const plain = entries.filter(([, inner]) => isPlain(inner));
  const times = plain.filter(([key, inner]) => isTime(key, inner));
  const most = times.reduce((max, [, inner]) => Math.max(max, Math.abs(inner)), 0) || 1;
  const lines = plain.filter(([, inner]) => inner !== 0 || times.length < 2).map(([key, inner]) => [words(key), finding(key, inner),
    isTime(key, inner) && times.length > 1 ? meter(Math.abs(inner) / most) : ""]);
  return [
    lines.length ? table(["", "", ""], lines) : null,
    entries.filter(([, inner]) => !isPlain(inner)).map(([key, inner]) =>
      [element(depth ? "h4" : "h3", {}, titled(key)), render(inner, depth + 1)]),
  ].flat(3);
};

const addFindings = (data) => {
  units = data.units;
  for (const [name, found] of Object.entries(data.result.analyses || {})) {
    if (name === "matrix") continue;
    section(`finding-${name}`, titled(name), ...[render(found)].flat(3)).classList.add("long");
  }
};

const addComparison = (data) => {
  const { comparison } = data;
  if (!comparison) return;
  const gain = ({ before, after }) => after - before;
  const part = (change) => change.before ? `${gain(change) > 0 ? "+" : ""}${(100 * gain(change) / change.before).toFixed(1)} %` : "new";
  const signed = (change) => element("span", { class: gain(change) < 0 ? "better" : gain(change) > 0 ? "worse" : "" },
    `${gain(change) > 0 ? "+" : ""}${time(gain(change))}`);
  const line = (name, change) => [name, time(change.before), time(change.after), signed(change), part(change)];
  const columns = ["", "before", "after", "change", ""];
  const activities = Object.entries(comparison.activities).filter(([, { before, after }]) => before || after)
    .sort(([, one], [, other]) => Math.abs(gain(other)) - Math.abs(gain(one)));
  const ranks = comparison.per_rank.map((parts, rank) => [rank, parts.finish]).filter(([, change]) => change)
    .sort(([, one], [, other]) => Math.abs(gain(other)) - Math.abs(gain(one))).slice(0, 10);
  const share = (link) => link ? `${percent(link.use)}, ${volume(link.bytes)}` : "less than others";
  const whole = comparison.simulated_time;
  section("comparison", "Comparison",
    element("p", {}, `The predicted time was ${time(whole.before)} and is ${time(whole.after)}: `, signed(whole), ` (${part(whole)}).`),
    table(columns, activities.map(([name, change]) => line(name, change)), "Mean of all ranks"),
    table(columns, ranks.map(([rank, change]) => line(`rank ${rank} done after`, change)), "Ranks that change most"),
    comparison.links.length ? table(["link", "before", "after"], comparison.links.map(({ name, before, after }) => [name, share(before), share(after)]), "Busiest links") : null);
};

const addOrigin = (data) => {
  const { origin, result } = data;
  section("origin", "Platform and options",
    element("pre", {}, origin.command.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ")),
    element("p", {}, `Platform ${origin.platform}: a ${result.network.topology} with ${count(result.network.hosts)} hosts, ${result.network.model} model.`),
    element("details", {}, element("summary", {}, "The platform file"), element("pre", {}, origin.platform_text))).classList.add("long");
  document.getElementById("footer").textContent = `Made by titr ${data.version} in ${time(result.replay.wall_seconds)}, ` +
    `${count(result.replay.events_per_second)} events a second.`;
};
