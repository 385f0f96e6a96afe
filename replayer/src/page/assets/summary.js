// The answer, what the time is made of, and the ranks as a heat map.

const PARTS = [["compute", "compute"], ["send", "send"], ["receive", "recv"], ["wait", "wait"], ["file", "file"],
  ["collective", "collective"], ["done early", null]];
const PART_COLORS = { "done early": "done" };
const partColor = (name) => color(PART_COLORS[name] || name);

const partOf = (shares, key, whole) => key === null ? Math.max(0, whole - shares.finish) : shares[key];

const legend = (names) => element("ul", { class: "legend" }, names.map((name) =>
  element("li", {}, element("i", { style: `background: var(--${PART_COLORS[name] || name})` }), name)));

const addSummary = (data) => {
  const { result } = data;
  const { network, per_rank: ranks, simulated_time: whole } = result;
  document.title = `${time(whole)} – titr`;
  document.getElementById("title").textContent = "titr: predicted time";
  const sums = PARTS.map(([name, key]) => {
    const values = ranks.map((shares) => partOf(shares, key, whole));
    const sum = values.reduce((one, other) => one + other, 0);
    const most = values.reduce((best, value, rank) => value > values[best] ? rank : best, 0);
    return { name, mean: sum / Math.max(1, ranks.length), most: values[most] || 0, rank: most };
  });
  const all = sums.reduce((sum, part) => sum + part.mean, 0) || 1;
  const present = sums.filter((part) => part.mean > 0);
  const cause = present.filter((part) => part.name !== "compute").sort((a, b) => b.mean - a.mean)[0];
  const compute = sums[0];
  const imbalance = compute.mean > 0 ? compute.most / compute.mean - 1 : 0;
  const runs = result.runs;
  section("answer", "Result",
    element("p", { class: "answer" }, `${digitsOf(whole)}`),
    runs ? element("p", {}, `${runs.times.length} runs: ${time(runs.mean)} in the mean, ` +
      `${time(runs.interval[0])} to ${time(runs.interval[1])} (99 %)`) : null,
    element("p", {}, `${count(result.ranks)} ranks on a ${network.topology}, ` +
      `${count(result.hosts_used)} of ${count(network.hosts)} hosts, ${network.model} model. ` +
      `${count(result.events)} events, ${count(result.messages)} messages, ${volume(result.bytes)}.`),
    element("p", {}, `${percent(compute.mean / all)} of the ranks' time is computation` +
      (cause ? `; most of the rest is ${cause.name} (${percent(cause.mean / all)}).` : ".") +
      (imbalance > 0.001 ? ` The most computing rank (${compute.rank}) computes ${percent(imbalance)} more than the mean.` : "")),
    element("div", { class: "bar", role: "img", "aria-label": present.map((part) => `${part.name} ${percent(part.mean / all)}`).join(", ") },
      present.map((part) => element("span", {
        style: `flex: ${part.mean / all}; background: var(--${PART_COLORS[part.name] || part.name})`, title: `${part.name}: ${time(part.mean)}`,
      }))),
    legend(present.map((part) => part.name)),
    table(["", "mean of all ranks", "share", "most", "by rank"],
      present.map((part) => [part.name, time(part.mean), percent(part.mean / all), time(part.most), String(part.rank)])),
    result.warnings.length ? [element("h3", {}, "Not as in the program"),
      element("ul", {}, result.warnings.map((warning) => element("li", {}, warning)))] : null);
};

/** Seconds with all digits that the summary of the command has. */
const digitsOf = (seconds) => `${seconds.toFixed(9)} s`;

const addRanks = (data) => {
  const { per_rank: ranks, simulated_time: whole } = data.result;
  if (ranks.length < 2) return;
  const columns = Math.ceil(Math.sqrt(ranks.length * 2.5));
  const rows = Math.ceil(ranks.length / columns);
  let [name, key] = PARTS[0];
  const value = (rank) => name === "finish" ? ranks[rank].finish : partOf(ranks[rank], key, whole);
  const cell = (width) => Math.max(2, Math.min(48, width / columns));
  let last = 800;
  const output = element("output");
  const scale = element("p", { class: "faint" });
  const made = chart("Ranks by what they spend time on; arrow keys go from rank to rank", (width) => Math.min(520, Math.ceil(cell(width) * rows)),
    (context, width, height) => {
      last = width;
      const side = cell(width);
      const tall = height / rows;
      const values = ranks.map((_, rank) => value(rank));
      const [least, most] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
      const paint = ramp();
      values.forEach((number, rank) => {
        context.fillStyle = css(paint(most > least ? (number - least) / (most - least) : 0.5));
        const gap = side > 6 ? 1 : 0;
        context.fillRect((rank % columns) * side, Math.floor(rank / columns) * tall, side - gap, tall - gap);
      });
      scale.textContent = `${name}: from ${time(least)} (nearest to the paper's colour) to ${time(most)}; ` +
        "rank 0 is at the top left, and the others follow row by row.";
    }, { id: "ranks-chart" });
  const tell = (column, row) => {
    const rank = row * columns + column;
    if (rank >= ranks.length) return "";
    const shares = PARTS.filter(([, other]) => partOf(ranks[rank], other, whole) > 0)
      .map(([part, other]) => `${part} ${time(partOf(ranks[rank], other, whole))}`);
    return `rank ${rank}: ${shares.join(", ")}; done after ${time(ranks[rank].finish)}`;
  };
  inspect(made, output, () => ({ columns, rows, x: 0, y: 0, width: cell(last) * columns, height: made.canvas.clientHeight }), tell);
  const names = [...PARTS.filter(([, other]) => ranks.some((shares) => partOf(shares, other, whole) > 0)).map(([part]) => part), "finish"];
  section("ranks", "Ranks",
    element("div", { class: "controls" }, choice("Shown:", names, (chosen) => {
      name = chosen;
      key = (PARTS.find(([part]) => part === chosen) || [null, null])[1];
      made.redraw();
    })),
    element("div", { class: "chart" }, made.canvas), scale, output);
};
