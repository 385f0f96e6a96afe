// Points between two axes, with a line through some of them.

const SCATTER = { left: 74, right: 16, top: 10, bottom: 40, height: 300, radius: 3.5 };

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
 * A chart of `rows` {x, y, text}; `line` is an array of {x, y} that are joined. `xMarks` are pairs of a number and its text; `xTitle`
 * stands below, and `y` is a time, on the axis that `times` makes of them.
 */
const scatterChart = ({ id, title, label, rows, line, xMarks, xTitle, csv, times = fromZero }) => {
  const x = scaleOf([...rows.map((row) => row.x), ...xMarks.map(([at]) => at)]);
  const y = times(rows.map((row) => row.y));
  const shape = (width) => ({ wide: width - SCATTER.left - SCATTER.right, tall: SCATTER.height - SCATTER.top - SCATTER.bottom });
  const made = chart({ id, title, label, csv, height: SCATTER.height, draw: (context, width, height) => {
    const { wide, tall } = shape(width);
    const [toX, toY] = [(number) => SCATTER.left + x.place(number) * wide, (number) => SCATTER.top + (1 - y.place(number)) * tall];
    context.font = FONT;
    context.fillStyle = color("line");
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [at, text] of y.marks) {
      context.fillStyle = color("line");
      context.fillRect(SCATTER.left, toY(at), wide, 1);
      context.fillStyle = color("faint");
      context.fillText(text, SCATTER.left - 8, toY(at));
    }
    context.textBaseline = "top";
    let free = 0;
    xMarks.forEach(([at, text]) => {
      const half = context.measureText(text).width / 2;
      // Marks that would cover each other are left out.
      if (toX(at) - half < free) return;
      free = toX(at) + half + 8;
      context.textAlign = toX(at) + half > width ? "right" : "center";
      context.fillText(text, toX(at), SCATTER.top + tall + 6);
    });
    context.textAlign = "center";
    context.fillText(xTitle, SCATTER.left + wide / 2, height - 16);
    context.strokeStyle = color("worse");
    context.lineWidth = 1.5;
    context.beginPath();
    line.forEach((point, number) => number ? context.lineTo(toX(point.x), toY(point.y)) : context.moveTo(toX(point.x), toY(point.y)));
    context.stroke();
    context.fillStyle = color("accent");
    for (const row of rows) {
      context.fillRect(toX(row.x) - SCATTER.radius, toY(row.y) - SCATTER.radius, 2 * SCATTER.radius, 2 * SCATTER.radius);
    }
  } });
  // The arrow keys walk from point to point, and the pointer looks at the column below it.
  const sorted = [...rows].sort((one, other) => one.x - other.x || one.y - other.y);
  inspect(made, () => ({ columns: sorted.length, rows: 1, x: SCATTER.left, y: 0, width: shape(made.canvas.clientWidth).wide, height: SCATTER.height }),
    (column) => sorted[column].text);
  return made;
};
