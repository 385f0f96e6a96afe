// Points between two axes, with lines through some of them.

const SCATTER = { left: 74, right: 16, top: 18, bottom: 40, height: 300, radius: 4 };

/** The place of a number between the ends of an axis, as a fraction; on a logarithmic axis if the largest is many times the smallest. */
const scaleOf = (numbers) => {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const isLogarithmic = least > 0 && most / least >= 20;
  const at = (number) => isLogarithmic ? Math.log(number) : number;
  const span = at(most) - at(least);
  return { place: (number) => span > 0 ? (at(number) - at(least)) / span : 0.5, least, most };
};

/** An axis of times from zero: the place of each as a fraction, and the marks. */
const fromZero = (times) => ({ place: (number) => number / largest(times), marks: timeMarks(0, largest(times), 5) });

/**
 * A chart of `rows` {x, y, text, paint, name}: a point of the colour `paint` with its name beside it, if there is room; `lines` are
 * {paint, points}, of which points {x, y} are joined. `xMarks` are pairs of a number and its text; `xTitle` stands below, and `y` is
 * a number on the axis that `scale` makes of all of them, by default a time.
 */
const scatterChart = ({ id, title, label, rows, lines, xMarks, xTitle, csv, key = [], scale = fromZero }) => {
  const x = scaleOf([...rows.map((row) => row.x), ...xMarks.map(([at]) => at)]);
  const y = scale(rows.map((row) => row.y));
  const shape = (width) => ({ wide: width - SCATTER.left - SCATTER.right, tall: SCATTER.height - SCATTER.top - SCATTER.bottom });
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
    let free = 0;
    xMarks.forEach(([number, text]) => {
      const half = context.measureText(text).width / 2;
      const [left] = to({ x: number, y: 0 });
      // Marks that would cover each other are left out.
      if (left - half < free) return;
      free = left + half + 8;
      context.textAlign = left + half > width ? "right" : "center";
      context.fillText(text, left, SCATTER.top + tall + 6);
    });
    context.textAlign = "center";
    context.fillText(xTitle, SCATTER.left + wide / 2, height - 16);
    context.lineWidth = 1.5;
    for (const { paint, points } of lines) {
      context.strokeStyle = color(paint);
      context.beginPath();
      points.map(to).forEach(([left, high], number) => number ? context.lineTo(left, high) : context.moveTo(left, high));
      context.stroke();
    }
    for (const row of rows) {
      const [left, high] = to(row);
      context.fillStyle = color(row.paint || "amount");
      context.fillRect(left - SCATTER.radius, high - SCATTER.radius, 2 * SCATTER.radius, 2 * SCATTER.radius);
    }
    const taken = [];
    context.textBaseline = "middle";
    context.fillStyle = color("ink");
    for (const row of rows.filter(({ name }) => name)) {
      const [left, high] = to(row);
      const long = context.measureText(row.name).width;
      const begin = Math.min(left + 2, width - long);
      const line = [high - 12, high + 13].find((middle) => !taken.some(([from, until, other]) =>
        begin < until && begin + long > from && Math.abs(other - middle) < 13));
      if (line === undefined) continue;
      taken.push([begin, begin + long, line]);
      context.textAlign = "left";
      context.fillText(row.name, begin, line);
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
