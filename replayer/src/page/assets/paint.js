// Pictures of activities: as images on the screen, and as shapes in drawings.

/** The names of the activities, which are those of their colours. */
let ACTIVITY_COLORS = [];

/** A colour as a pixel of an image. */
const pixelOf = ([red, green, blue]) => 0xff000000 | blue << 16 | green << 8 | red;

/** Paints bands as an image, or as lines of SVG. */
const paintBands = (context, bands, { x, y, width, height }, across) => {
  const paper = rgb(color("paper"));
  const paints = [...ACTIVITY_COLORS, "done"].map((name) => rgb(color(name)));
  // The less of a cell an activity has, the nearer its colour is to the paper.
  const shade = (activity, strength) => blend(paper, paints[activity], 0.25 + 0.75 * strength);
  if (context instanceof SvgDrawing) {
    const tall = height / bands.length;
    bands.forEach((band, row) => {
      for (const [activity, level, first, columns] of stretches(band)) {
        context.fillStyle = css(shade(activity, level / 4));
        context.fillRect(x + first / across * width, y + row * tall, columns / across * width, tall);
      }
    });
    return;
  }
  const image = new ImageData(across, bands.length);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = new Uint32Array((DONE + 1) * 256);
  for (let activity = 0; activity <= DONE; activity += 1) {
    for (let strength = 0; strength < 256; strength += 1) {
      palette[activity * 256 + strength] = pixelOf(shade(activity, strength / 255));
    }
  }
  bands.forEach(({ which, strength }, row) => {
    for (let column = 0; column < across; column += 1) pixels[row * across + column] = palette[which[column] * 256 + strength[column]];
  });
  const canvas = document.createElement("canvas");
  canvas.width = across;
  canvas.height = bands.length;
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
