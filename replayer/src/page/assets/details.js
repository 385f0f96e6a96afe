// Everything in full: tables of the findings of all analyses, the ranks, the platform, and how to repeat the replay.

const isPlain = (value) => value === null || typeof value !== "object";
const UNIT_KINDS = { seconds: "time", bytes: "bytes", count: "count", number: "number" };

/** A value within a cell. */
const inline = (value) => {
  if (value === null || value === undefined) return "";
  if (isPlain(value)) return String(value);
  if (Array.isArray(value)) return value.slice(0, 4).map(inline).join("; ") + (value.length > 4 ? "; …" : "");
  return Object.entries(value).map(([key, inner]) => `${words(key)} ${inline(inner)}`).join(", ");
};

/** The columns of rows with the same keys: names and numbers of ranks first, then times, the total before its parts. */
const columnsOf = (rows, units) => {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isText = (key) => rows.some((row) => !isPlain(row[key]) || typeof row[key] === "string");
  const kindOf = (key) => key === "rank" ? "rank" : isText(key) ? "text" : UNIT_KINDS[units[key]] || "text";
  const columns = keys.map((key) => ({ name: key === "seconds" ? "time" : words(key), kind: kindOf(key),
    scale: UNIT_KINDS[units[key]], value: (row) => key === "rank" && row[key] === OTHERS ? "others" : isPlain(row[key]) ? row[key] : inline(row[key]) }));
  const order = ({ kind, name }) => name === "time" ? 2 : ["text", "rank"].includes(kind) ? 1 : 3;
  return columns.sort((one, other) => order(one) - order(other));
};

/** The tables of a finding of any shape: one for its numbers, and one for each list. */
const findingTables = (name, value, units) => {
  if (Array.isArray(value)) {
    if (value.length === 0 || value.some(isPlain)) return [];
    const columns = columnsOf(value, units);
    const first = columns.find(({ kind }) => kind === "time");
    const rows = first ? [...value].sort((one, other) => Math.abs(first.value(other)) - Math.abs(first.value(one))) : value;
    return [table(name, columns, rows, titled(name.replace(/^.*\./, "")))];
  }
  const entries = Object.entries(value);
  const plain = entries.filter(([, inner]) => isPlain(inner) && inner !== 0);
  const shown = { seconds: time, bytes: volume, count };
  const total = ([key, inner]) => `${words(key)} ${shown[units[key]] ? shown[units[key]](inner) : inner}`;
  return [plain.length ? element("p", {}, titled(plain.map(total).join(", ")) + ".") : null,
    ...entries.filter(([, inner]) => !isPlain(inner)).flatMap(([key, inner]) => findingTables(`${name}.${key}`, inner, units))];
};

const rankTable = ({ result }) => {
  const { per_rank: ranks } = result;
  const columns = [{ name: "rank", kind: "rank", value: ({ rank }) => rank }, { name: "finish", kind: "time", value: ({ rank }) => ranks[rank].finish },
    ...timeParts(result).map(({ name, key }) => ({ name, kind: "time", value: ({ rank }) => partOf(result, ranks[rank], key) }))];
  const rows = ranks.map((_, rank) => ({ rank })).sort((one, other) => ranks[other.rank].finish - ranks[one.rank].finish);
  return table("per-rank", columns, rows, "Time of each rank, the last one first");
};

const addDetails = (data) => {
  const { origin, result, units, version } = data;
  const analyses = Object.entries(result.analyses || {}).filter(([name]) => name !== "matrix");
  section("details", "Details",
    data.is_shortened ? element("p", { class: "faint" }, "Of long lists, the largest rows are shown one by one; of the others, causes and parts of the critical path are joined by place. " +
      "titr replay --json has all.") : null,
    repeatedBy("replay", origin.command),
    folded("Ranks", () => rankTable(data)),
    analyses.map(([name, found]) => folded(titled(name), () => findingTables(name, found, units))),
    folded(`Platform file ${origin.platform}`, () => element("pre", {}, origin.platform_text)));
  document.getElementById("footer").textContent = `Made by titr ${version} from ${origin.trace}: ` +
    `${counted(result.events, "event", "events")} replayed in ${time(result.replay.wall_seconds)}.`;
};
