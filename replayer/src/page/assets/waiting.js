// Why ranks wait: the causes of waiting by kind and place, and the patterns.

const PATTERNS = { "late-sender": "a sender is late", "wrong-order": "messages in the wrong order", "late-receiver": "a receiver is late",
  "late-progress": "no progress outside of MPI", transfer: "a message is under way", "wait-at-barrier": "a member is late at a barrier",
  "barrier-completion": "messages of a barrier", "wait-at-nxn": "a member is late at an all-to-all collective",
  "nxn-completion": "messages of an all-to-all collective",
  "late-broadcast": "the root is late", "early-reduce": "the root is early", "early-scan": "an earlier member is late",
  "collective-completion": "messages of a collective",
  "late-post": "a window is not posted", "late-complete": "accesses are not completed", lock: "a lock", accesses: "accesses to a window", storage: "files",
  thread: "another thread", other: "other" };

const CAUSE_COLORS = { compute: "compute", sleep: "compute", overhead: "overhead", latency: "latency", transfer: "bytes", contention: "sharing", storage: "file", other: "amount" };

const addWaiting = (data) => {
  const found = data.result.analyses && data.result.analyses["wait-states"];
  if (!found || found.waiting === 0) return;
  const { waiting, causes, patterns } = found;
  const groups = grouped(causes, causeName, ({ seconds }) => seconds).filter(({ value }) => value > 0);
  const ranksOf = ({ rows }) => new Set(rows.map(({ rank }) => rank).filter((rank) => rank !== OTHERS)).size;
  const about = (group) => `${data.is_shortened ? "at least " : ""}${counted(ranksOf(group), "rank", "ranks")}: ${ranges(group.rows.map(({ rank }) => rank))}`;
  const explained = sum(groups.map(({ value }) => value));
  const rows = groups.slice(0, 5).map((group) => ({ group, name: group.key, value: group.value, text: percent(group.value / waiting),
    parts: [[CAUSE_COLORS[group.rows[0].kind], group.value]] }));
  const made = barChart({ id: "causes", title: `What ranks wait for, in any call: of ${time(waiting)}, ${percent(waiting / (data.result.simulated_time * data.result.ranks))} of the time of all ranks`,
    label: "Causes of waiting, the largest first", rows, whole: waiting,
    tell: ({ name, value, group }) => `${name}: ${time(value)}, because of ${about(group)}`,
    csv: () => [["cause", "waiting (s)", "ranks"], ...groups.map((group) => [group.key, group.value, ranksOf(group)])] });
  const unknown = waiting - explained;
  const waited = patterns.filter(({ seconds }) => seconds > 0).map(({ pattern, seconds }) => ({ name: PATTERNS[pattern] || words(pattern), value: seconds }));
  const times = waited.map(({ value }) => value);
  const others = { name: "in other ways", value: sum(times.slice(5)) };
  const kinds = [...waited.slice(0, 5), ...(others.value > 0 ? [others] : [])]
    .map((one) => ({ ...one, text: percent(one.value / waiting), parts: [["amount", one.value]] }));
  const how = barChart({ id: "patterns", title: "How they wait", label: "Patterns of waiting, the largest first", rows: kinds, whole: waiting,
    tell: ({ name, value }) => `${name}: ${time(value)} of all ranks together`,
    csv: () => [["pattern", "waiting (s)"], ...patterns.map(({ pattern, seconds }) => [pattern, seconds])] });
  section("why", "Why ranks wait", rows.length ? made.figure : null,
    flameChart("cause-sites", "Call sites that others wait for, above their callers", causes.map(({ call_site: site, seconds }) => [site, seconds])),
    unknown > 0.005 * waiting && rows.length ? element("p", { class: "faint" }, `The rest, ${percent(unknown / waiting)}, has no known cause.`) : null,
    kinds.length ? how.figure : null);
};
