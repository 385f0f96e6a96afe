// Points between two axes, with lines through some of them.

const SCATTER = { left: 74, right: 16, top: 18, bottom: 40, height: 300, radius: 4 };

/** The height of a line of text. */
const TEXT = 14;

/** The place of a number between the ends of an axis, as a fraction; on a logarithmic axis if the largest is many times the smallest. */
const scaleOf = (numbers) => {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const isLogarithmic = least > 0 && most / least >= 20;
  const at = (number) => isLogarithmic ? Math.log(number) : number;
  const span = at(most) - at(least);
  return { place: (number) => span > 0 ? (at(number) - at(least)) / span : 0.5, least, most, isLogarithmic };
};

/** An axis of times from zero: the place of each as a fraction, and the marks. */
const fromZero = (times) => ({ place: (number) => number / largest(times), marks: timeMarks(0, largest(times), 5) });

/** A thin line from what a text names to the text. */
const lead = (context, paint, [left, high], [toLeft, toHigh]) => {
  context.lineWidth = 1;
  context.strokeStyle = color(paint);
  context.beginPath();
  context.moveTo(left, high);
  context.lineTo(toLeft, toHigh);
  context.stroke();
};

/** Where a text can stand beside a point: how far its begin and its middle are, for a text of this length. */
const beside = (long) => [[8, 0], [-8 - long, 0], [-long / 2, -13], [-long / 2, 13], ...[13, 26, 39, 52, 65, 78].flatMap((away) =>
  [[8, -away], [8, away], [-8 - long, -away], [-8 - long, away]])];

/**
 * The places of the names of points {left, high, name} that cover neither each other nor a point nor a place of `lines`, in the order of
 * the points; a name without such a place is left out.
 */
const besidePoints = (context, points, lines, width, tall) => {
  const taken = [...points, ...lines].map(({ left, high }) => [left - 5, left + 5, high - 5, high + 5]);
  return points.filter(({ name }) => name).flatMap(({ left, high, name }) => {
    const long = context.measureText(name).width;
    const boxes = beside(long).map(([x, y]) => [left + x, left + x + long, high + y - 7, high + y + 7]);
    const free = boxes.find(([from, until, top, bottom]) => from >= SCATTER.left && until <= width && top >= 0 && bottom <= SCATTER.top + tall &&
      !taken.some(([begin, end, above, below]) => from < end && until > begin && top < below && bottom > above));
    if (!free) return [];
    const near = Math.max(free[0], Math.min(left, free[1]));
    // No other name stands on the line to this one.
    for (let step = 1; step < 6; step += 1) {
      const [x, y] = [left + step / 6 * (near - left), high + step / 6 * (free[2] + 7 - high)];
      taken.push([x - 3, x + 3, y - 3, y + 3]);
    }
    taken.push([free[0] - 8, free[1] + 8, free[2], free[3]]);
    return [{ name, left, high, begin: free[0], line: free[2] + 7, near }];
  });
};

/**
 * A chart of `rows` {x, y, text, paint, hollow, name}: a point of the colour `paint` with its name beside it, if there is room; `lines` are
 * {paint, dash, points}, of which points {x, y} are joined. `xMarks` are pairs of a number and its text; `xTitle` stands below, and `y`
 * is a number on the axis that `scale` makes of all of them, by default a time. `mark(context, to, {wide, tall})` draws what else there
 * is, with room of `right` beside the axes.
 */
const scatterChart = ({ id, title, label, rows, lines, xMarks, xTitle, csv, key = [], scale = fromZero, right = SCATTER.right, mark = () => {} }) => {
  const x = scaleOf([...rows.map((row) => row.x), ...xMarks.map(([at]) => at)]);
  const y = scale(rows.map((row) => row.y));
  const shape = (width) => ({ wide: width - SCATTER.left - right, tall: SCATTER.height - SCATTER.top - SCATTER.bottom });
  const at = (width) => {
    const { wide, tall } = shape(width);
    return (point) => [SCATTER.left + x.place(point.x) * wide, SCATTER.top + (1 - y.place(point.y)) * tall];
  };
  const made = chart({ id, title, label, csv, key, height: SCATTER.height, draw: (context, width, height) => {
    const { wide, tall } = shape(width);
    const to = at(width);
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [number, text] of y.marks) {
      const high = SCATTER.top + (1 - y.place(number)) * tall;
      context.fillStyle = color("line");
      context.fillRect(SCATTER.left, high, wide, 1);
      context.fillStyle = color("faint");
      context.fillText(text, SCATTER.left - 8, high);
    }
    context.textBaseline = "top";
    context.textAlign = "left";
    const marks = xMarks.map(([number, text]) => {
      const long = context.measureText(text).width;
      const begin = Math.min(width - long, to({ x: number, y: 0 })[0] - long / 2);
      return { text, begin, end: begin + long + 8 };
    });
    const last = marks[marks.length - 1];
    let free = 0;
    for (const mark of marks) {
      // Marks that would cover each other are left out; the last one stays.
      if (mark.begin < free || (mark !== last && mark.end > last.begin)) continue;
      free = mark.end;
      context.fillText(mark.text, mark.begin, SCATTER.top + tall + 6);
    }
    context.textAlign = "center";
    context.fillText(x.isLogarithmic ? `${xTitle} (logarithmic axis)` : xTitle, SCATTER.left + wide / 2, height - 16);
    context.lineWidth = 1.5;
    for (const { paint, points, dash = [] } of lines) {
      context.strokeStyle = color(paint);
      context.setLineDash(dash);
      context.beginPath();
      points.map(to).forEach(([left, high], number) => number ? context.lineTo(left, high) : context.moveTo(left, high));
      context.stroke();
    }
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.setLineDash([]);
    mark(context, to, shape(width));
    for (const row of rows) {
      const [left, high] = to(row);
      const paint = color(row.paint || "amount");
      const inner = row.hollow ? SCATTER.radius - 1.5 : 0;
      context.fillStyle = paint;
      context.fillRect(left - SCATTER.radius, high - SCATTER.radius, 2 * SCATTER.radius, 2 * SCATTER.radius);
      context.fillStyle = color("paper");
      if (inner) context.fillRect(left - inner, high - inner, 2 * inner, 2 * inner);
    }
    const points = rows.map((row) => {
      const [left, high] = to(row);
      return { left, high, name: row.name };
    });
    const between = ([[left, high], [toLeft, toHigh]]) => {
      const steps = Math.ceil(Math.hypot(toLeft - left, toHigh - high) / 9);
      return Array.from({ length: steps }, (_, step) => ({ left: left + step / steps * (toLeft - left), high: high + step / steps * (toHigh - high) }));
    };
    const covered = lines.flatMap(({ points: joined }) => joined.slice(1).flatMap((point, which) => between([joined[which], point].map(to))));
    for (const { name, left, high, begin, line, near } of besidePoints(context, points, covered, width, tall)) {
      if (Math.abs(line - high) > TEXT) lead(context, "faint", [left, high], [near, line + (line < high ? 6 : -6)]);
      context.fillStyle = color("paper");
      context.fillRect(begin - 1, line - 7, context.measureText(name).width + 2, TEXT);
      context.fillStyle = color("ink");
      context.fillText(name, begin, line);
    }
  } });
  // The arrow keys walk from point to point, and the pointer looks at the nearest one.
  const sorted = [...rows].sort((one, other) => one.x - other.x || one.y - other.y);
  const nearest = (left, high) => {
    const places = sorted.map(at(made.canvas.clientWidth)).map(([one, other]) => Math.hypot(one - left, other - high));
    return places.indexOf(Math.min(...places));
  };
  inspect(made, () => ({ columns: sorted.length, rows: 1, x: SCATTER.left, y: 0, width: shape(made.canvas.clientWidth).wide, height: SCATTER.height }),
    (column) => sorted[column].text, nearest);
  return made;
};
