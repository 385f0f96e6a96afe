// The answer: how long, how sure, what the time is made of, how efficient, and what to try.

const PARTS = [["compute", "compute"], ["send", "send"], ["receive", "recv"], ["wait", "wait"], ["file", "file"],
  ["collective", "collective"], ["done early", null]];
const partColor = (name) => name === "done early" || name === "not running" ? "done" : name;
/** The time of a rank in a part; where there are jobs, the last one is that in which its job has not started, or is done. */
const partOf = ({ simulated_time: whole, jobs = [] }, shares, key) => {
  if (key !== null) return shares[key];
  return Math.max(0, whole - (jobs.length ? sum(PARTS.filter(([, other]) => other).map(([, other]) => shares[other])) : shares.finish));
};

/** The parts of the time that any rank has: the mean over the ranks, the extremes, and the rank with most. */
const timeParts = (result) => PARTS.map(([part, key]) => {
  const { per_rank: ranks, jobs = [] } = result;
  const name = key === null && jobs.length ? "not running" : part;
  const values = ranks.map((shares) => partOf(result, shares, key));
  const rank = values.reduce((best, value, which) => value > values[best] ? which : best, 0);
  const least = values.reduce((min, value) => Math.min(min, value), Infinity);
  return { name, key, mean: sum(values) / Math.max(1, values.length), least, most: values[rank] || 0, rank };
}).filter(({ most }) => most > 0);

const bits = (bytesASecond) => {
  const [unit, factor] = unitOf([["Tbit/s", 8e-12], ["Gbit/s", 8e-9], ["Mbit/s", 8e-6], ["kbit/s", 8e-3]], bytesASecond);
  return `${Number((bytesASecond * factor).toPrecision(3))}${SPACE}${unit}`;
};

/** How sure the predicted time is. */
const uncertaintyOf = ({ uncertainty: deviation, runs, simulated_time: first }) => {
  const recorded = deviation ? `, ± ${percent(deviation)} (one standard deviation)` : "";
  const sure = `predicted${recorded}; communication by a data sheet is typically 33 % wrong (TRUTH.md)`;
  return runs ? `${sure}; ${time(runs.mean)}${SPACE}±${SPACE}${time((runs.interval[1] - runs.interval[0]) / 2)} (99${SPACE}%) in the mean of ${runs.times.length} runs. What follows is the first run, ${time(first)}` : sure;
};

/** The changes of the program that were tried in further replays and, after them, the one of the machine that saves most. */
const suggestions = ({ changes, best, program = [] }, whole) => {
  const saved = ({ saves }) => saves >= 0.001 ? `−${time(saves * whole)} (${percent(saves)})` : "nothing";
  const lines = program.slice(0, 3).map((tried) => `${tried.change}: ${saved(tried)}`);
  if (best && best.set) lines.push(`${best.change}: ${saved(best)} (--set '${best.set}')`);
  if (lines.length) return lines;
  return [changes === 0 ? "titr advise, as each trial of a change takes about as long as this replay" : `nothing: no change of the ${changes} that were tried saves 1${SPACE}%`];
};

const partsChart = (parts, whole) => {
  const all = sum(parts.map(({ mean }) => mean)) || 1;
  const title = "Where the ranks’ time goes, mean of all ranks";
  const made = chart({ id: "parts", title, height: (width) => 34 + 18 * Math.ceil(parts.length / Math.max(1, Math.floor(width / 150))),
    label: `${title}: ${parts.map(({ name, mean }) => `${name} ${percent(mean / all)}`).join(", ")}`,
    csv: () => [["activity", "mean (s)", "share", "least (s)", "most (s)", "rank with most"],
      ...parts.map(({ name, mean, least, most, rank }) => [name, mean, mean / all, least, most, rank])],
    draw: (context, width) => {
      let x = 0;
      const across = Math.max(1, Math.floor(width / 150));
      parts.forEach(({ name, mean }, place) => {
        const long = mean / all * width;
        context.fillStyle = color(partColor(name));
        context.fillRect(x, 0, Math.max(1, long - 1), 26);
        x += long;
        const [left, top] = [place % across * (width / across), 34 + 18 * Math.floor(place / across)];
        context.fillRect(left, top + 1, 11, 11);
        context.font = FONT;
        context.textAlign = "left";
        context.textBaseline = "top";
        context.fillStyle = color("ink");
        context.fillText(`${name} ${percent(mean / all)}`, left + 17, top);
      });
    } });
  inspect(made, () => ({ columns: 400, rows: 1, x: 0, y: 0, width: made.canvas.clientWidth, height: made.canvas.clientHeight }), (column) => {
    let until = 0;
    const here = parts.find((part) => {
      until += part.mean / all;
      return (column + 0.5) / 400 <= until;
    });
    const { name, mean, least, most, rank } = here || parts[parts.length - 1];
    return `${name}: ${time(mean)} in the mean of ${time(whole)}; from ${time(least)} to ${time(most)} (rank ${rank})`;
  });
  return made;
};

const EFFICIENCIES = [
  ["parallel efficiency", "parallel", "the part of the time in which a rank computes"],
  ["= load balance", "load_balance", "the mean computation of a rank, divided by the largest"],
  ["× communication", "communication", "the largest computation of a rank, divided by the time"],
  ["× serialisation", "serialisation", "the largest computation of a rank, divided by the time on an ideal network: ranks wait for each other"],
  ["× transfer", "transfer", "the time on an ideal network, divided by the time: messages and MPI itself"],
];
/** The factors; communication is left out if its own factors are known. */
const efficienciesOf = (found) => EFFICIENCIES.filter(([, key]) => found[key] !== undefined && (key !== "communication" || found.transfer === undefined));

const efficiencyChart = (found) => barChart({ id: "efficiency", title: "Parallel efficiency and its factors", label: "Parallel efficiency and its factors",
  whole: 1, rows: efficienciesOf(found).map(([name, key, what]) => ({ name, what, value: found[key], text: percent(found[key]),
    parts: [["amount", found[key]]] })),
  tell: ({ name, what, text }) => `${name.replace(/^[=×] /, "")} ${text}: ${what}`,
  csv: () => [["efficiency", "fraction"], ...EFFICIENCIES.map(([, key]) => [key, found[key] ?? null])] });

const PARAMETERS = { "host-speed": ["hosts 10 % faster", 1.1], bandwidth: ["bandwidth 10 % higher", 1.1],
  latency: ["latency 10 % lower", 0.9], overheads: ["MPI overheads 10 % lower", 0.9] };

/** What the predicted time would change by if a parameter were a tenth better. */
const improvements = (path, whole) => path.sensitivities.map(({ parameter, links, path: onPath, replays }) => {
  const [name, factor] = PARAMETERS[parameter];
  const elasticity = replays ?? onPath ?? 0;
  // What falls with the parameter is in proportion to its inverse.
  const change = whole * Math.abs(elasticity) * ((elasticity < 0 ? 1 / factor : factor) - 1);
  return { name: links ? `${name}: ${links}` : name, elasticity, change, checked: replays !== null && replays !== undefined };
}).sort((one, other) => one.change - other.change);

const improvementChart = (path, whole) => {
  const rows = improvements(path, whole).slice(0, 6).map((row) => ({ ...row, value: row.change,
    ...(Math.abs(row.change / whole) < 5e-5 ? { text: NOTHING, parts: [] } : { text: `${time(row.change)} (${percent(row.change / whole)})`, parts: [["amount", row.change]] }) }));
  return barChart({ id: "improvements", title: "What a machine that is 10 % better in one respect would change" +
    (rows.every(({ checked }) => checked) ? "" : ", by the critical path"), rows,
    label: "Change of the predicted time by parameters of the machine", csv: () => [["parameter", "elasticity", "change (s)", "checked by replays"],
      ...improvements(path, whole).map(({ name, elasticity, change, checked }) => [name, elasticity, change, checked ? "yes" : "no"])],
    tell: ({ name, elasticity, checked }) => `${name}: elasticity ${elasticity.toFixed(2)}, ` +
      (checked ? "from replays with changed parameters" : "from the critical path as it is") });
};

const addSummary = (data) => {
  const { result, origin, cause } = data;
  const { network, simulated_time: whole } = result;
  const machine = [network.topology, origin.bandwidth > 0 ? bits(origin.bandwidth) : null].filter((part) => part).join(", ");
  const program = (result.jobs || []).map(({ name }) => name).join(", ") || origin.program;
  const title = `${program}: ${time(whole)} on ${counted(result.ranks, "rank", "ranks")}, ${network.topology}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = program.replace(/[^\w.-]+/g, "_");
  const parts = timeParts(result);
  const path = result.analyses && result.analyses["critical-path"];
  const facts = [["Program", program], ["Machine", machine],
    ["Ranks", `${count(result.ranks)} on ${count(result.hosts_used)} of ${count(network.hosts)} hosts, ${network.model} model`],
    ["Traffic", `${counted(result.messages, "message", "messages")}, ${volume(result.bytes)}`],
    ["Computation", result.recording ? `counted in ${result.recording.counted}` : "as the trace says"]];
  const best = path ? improvements(path, whole)[0] : null;
  const [waiting, rest] = [result.waiting_ranks, result.warnings.slice(3)];
  const ended = result.recording && result.recording.ended;
  const warnings = (list) => element("ul", { class: "warnings" }, list.map((warning) => element("li", {}, unbroken(warning))));
  const made = section("answer", "Result",
    element("div", { class: "hero" },
      element("p", { class: "answer" }, waiting > 0 ? "no prediction" : time(result.runs ? result.runs.mean : whole)),
      element("p", { class: "sure" }, waiting > 0 ? `${counted(waiting, "rank waits", "ranks wait")} for ever` : unbroken(uncertaintyOf(result))),
      ended ? element("p", { class: "finding" }, `Not finished: ${ended}; the replay ends where the trace does.`) : null,
      element("dl", {}, facts.map(([name, what]) => [element("dt", {}, name), element("dd", {}, what)]))),
    element("div", { class: "made-of" },
      cause ? element("p", { class: "finding" }, `Mostly ${unbroken(cause)}.`) : null,
      parts.length ? partsChart(parts, whole).figure : null,
      result.efficiencies ? efficiencyChart(result.efficiencies).figure : null),
    element("div", { class: "to-try" },
      result.tried ? element("p", { class: "finding" }, "To try") : null,
      result.tried ? element("ul", {}, suggestions(result.tried, whole).map((line) => element("li", {}, unbroken(line)))) : null,
      best ? improvementChart(path, whole).figure : null),
    result.warnings.length ? element("div", { class: "warned" }, element("h3", {}, "Assumptions and limits"), warnings(result.warnings.slice(0, 3)),
      rest.length ? folded(`${rest.length} more`, () => warnings(rest)) : null) : null);
  made.classList.add("first");
};
