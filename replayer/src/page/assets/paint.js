// Pictures of activities: as images on the screen, and as shapes in drawings.

/** The names of the activities, which are those of their colours. */
let ACTIVITY_COLORS = [];

/** A colour as a pixel of an image. */
const pixelOf = ([red, green, blue]) => 0xff000000 | blue << 16 | green << 8 | red;

/** Paints bands as an image, or as shapes of SVG. An activity takes as much of a band's height as it has of the cell. */
const paintBands = (context, bands, { x, y, width, height }, across, down) => {
  const paints = [...ACTIVITY_COLORS, "done"].map((name) => rgb(color(name)));
  if (context instanceof SvgDrawing) {
    const tall = height / bands.length;
    bands.forEach((band, row) => {
      for (const [activity, level, first, columns] of stretches(band)) {
        context.fillStyle = css(paints[activity]);
        context.fillRect(x + first / across * width, y + (row + 1 - level / 4) * tall, columns / across * width, level / 4 * tall);
      }
    });
    return;
  }
  const image = new ImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = paints.map(pixelOf);
  bands.forEach(({ which, strength }, row) => {
    const [top, bottom] = [row, row + 1].map((edge) => Math.round(edge * down / bands.length));
    for (let column = 0; column < across; column += 1) {
      const high = Math.max(1, Math.round(strength[column] / 255 * (bottom - top)));
      for (let line = bottom - high; line < bottom; line += 1) pixels[line * across + column] = palette[which[column]];
    }
  });
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [across, down];
  canvas.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, x, y, width, height);
};

/** The shares of the activities of all ranks in each interval of the map. */
const mapTotals = (map, cells) => {
  const totals = new Float32Array(map.intervals * DONE);
  for (let row = 0; row < map.rows; row += 1) {
    for (let place = 0; place < totals.length; place += 1) totals[place] += cells[row * totals.length + place] / (255 * map.rows);
  }
  return totals;
};

/** Paints the shares of all activities over time, stacked from the bottom. */
const paintStrip = (context, totals, intervals, { x, width, height }) => {
  const isDrawing = context instanceof SvgDrawing;
  const across = isDrawing ? intervals : Math.round(width);
  const paints = ACTIVITY_COLORS.map((name) => rgb(color(name)));
  const image = isDrawing ? null : new ImageData(across, height);
  const pixels = image && new Uint32Array(image.data.buffer);
  const done = rgb(color("done"));
  for (let column = 0; column < across; column += 1) {
    const interval = Math.floor(column / across * intervals);
    let bottom = height;
    [...paints, done].forEach((paint, activity) => {
      const top = activity < DONE ? bottom - height * totals[interval * DONE + activity] : 0;
      if (isDrawing && bottom - top > 0.01) {
        context.fillStyle = css(paint);
        context.fillRect(x + column / across * width, top, width / across + 0.2, bottom - top);
      }
      const pixel = pixelOf(paint);
      for (let y = Math.max(0, Math.round(top)); !isDrawing && y < Math.round(bottom); y += 1) pixels[y * across + column] = pixel;
      bottom = top;
    });
  }
  if (isDrawing) return;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [across, height];
  canvas.getContext("2d").putImageData(image, 0, 0);
  context.drawImage(canvas, x, 0, width, height);
};
