// Curves that patterns and names at their ends tell apart, where colours do not.

/** Patterns of lines that are not told apart by their colours. */
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [15, 5], [7, 2, 2, 2, 2, 2]];

/**
 * The lines of text at the ends {left, high} of curves, from top to bottom as the ends are: as near to them as there is room between
 * `from` and `until`; none if there is not.
 */
const endLines = (ends, from, until) => {
  if (ends.length * TEXT > until - from) return [];
  const sorted = [...ends].sort((one, other) => one.high - other.high || one.left - other.left);
  let free = from;
  for (const end of sorted) {
    end.line = Math.max(free, end.high);
    free = end.line + TEXT;
  }
  free = until;
  for (const end of sorted.reverse()) {
    end.line = Math.min(free, end.line);
    free = end.line - TEXT;
  }
  return sorted;
};

/** Writes the names of curves {name, points} that reach the right end of the axes beside it. */
const writeEnds = (curves) => (context, to, { wide, tall }) => {
  const column = SCATTER.left + wide + 14;
  const ends = curves.filter(({ points }) => points.length).map(({ points, ...curve }) => {
    const [left, high] = to(points[points.length - 1]);
    return { ...curve, left, high };
  }).filter(({ left }) => left > column - 40);
  for (const { name, left, high, line } of endLines(ends, SCATTER.top, SCATTER.top + tall)) {
    lead(context, "line", [left, high], [column - 3, line]);
    context.fillStyle = color("ink");
    context.fillText(name, column, line);
  }
};

/** The room for the longest of these names beside a chart. */
const besideChart = (names) => {
  measuring.font = FONT;
  return SCATTER.right + 14 + largest(names.map((name) => measuring.measureText(name).width));
};
