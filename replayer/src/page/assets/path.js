// The critical path: what it is made of, and where in the program.

const addPath = (data) => {
  const path = data.result.analyses && data.result.analyses["critical-path"];
  if (!path || path.length === 0) return;
  const kinds = Object.entries(path.by_kind).filter(([, seconds]) => seconds > 0).sort(([, one], [, other]) => other - one);
  const made = barChart({ id: "path", title: `What the critical path of ${time(path.length)} is made of`,
    label: "Parts of the critical path, the largest first", whole: path.length,
    rows: kinds.map(([kind, seconds]) => ({ name: kindName(kind), value: seconds, text: percent(seconds / path.length),
      parts: [[CAUSE_COLORS[kind], seconds]] })),
    tell: ({ name, value }) => `${name}: ${time(value)} of the critical path`,
    csv: () => [["kind", "time (s)"], ...kinds] });
  const places = grouped(path.segments, (segment) => placeName(segment) || kindName(segment.kind), ({ seconds }) => seconds);
  const hasPlaces = path.segments.some(({ region, call_site: site }) => region || site);
  const where = hasPlaces ? barChart({ id: "path-places", title: "Where in the program it is",
    label: "Places of the program on the critical path", whole: path.length,
    rows: places.slice(0, 5).map(({ key, value, rows }) => ({ name: key, value, rows, text: percent(value / path.length),
      parts: grouped(rows, ({ kind }) => kind, ({ seconds }) => seconds).map((part) => [CAUSE_COLORS[part.key], part.value]) })),
    tell: ({ name, value, rows }) => `${name}: ${time(value)} on ranks ${ranges(rows.map(({ rank }) => rank))}`,
    csv: () => [["place", "time (s)"], ...places.map(({ key, value }) => [key, value])] }) : null;
  const ranks = [...path.ranks].sort((one, other) => other.seconds - one.seconds);
  const half = ranks.reduce(({ seconds, many }, rank) => seconds >= path.length / 2 ? { seconds, many }
    : { seconds: seconds + rank.seconds, many: many + 1 }, { seconds: 0, many: 0 });
  section("path", "Critical path", made.figure, where ? where.figure : null,
    flameChart("path-sites", "Call sites on the critical path, above their callers", (path.call_sites || []).map(({ call_site: site, seconds }) => [site, seconds])),
    element("p", { class: "faint" }, `It visits ${counted(ranks.length, "rank", "ranks")} by ${counted(path.messages, "message", "messages")}; ` +
      `half of it is on ${counted(half.many, "rank", "ranks")} (${ranges(ranks.slice(0, half.many).map(({ rank }) => rank))}). ` +
      `Work that is not on the path could take slightly longer without delaying the end.`));
};
