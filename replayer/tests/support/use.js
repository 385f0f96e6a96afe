// Uses all that a page has to use: charts with the pointer and the keyboard, buttons, and choices.
(async () => {
  // The files that are saved go nowhere.
  HTMLAnchorElement.prototype.click = () => {};
  const later = () => new Promise((done) => setTimeout(done));
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  await later();
  const at = (canvas, type, x, y, more = {}) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const [clientX, clientY] = [left + x * width, top + y * height];
    const Kind = type === "wheel" ? WheelEvent : type === "dblclick" ? MouseEvent : PointerEvent;
    canvas.dispatchEvent(new Kind(type, { clientX, clientY, bubbles: true, cancelable: true, ...more }));
  };
  const press = (canvas, key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const use = (canvas) => {
    canvas.setPointerCapture = () => {};
    canvas.focus();
    for (let x = 0.05; x < 1; x += 0.06) for (let y = 0.02; y < 1; y += 0.06) at(canvas, "pointermove", x, y);
    for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "+", "-", "=", "PageUp", "PageDown", "x", "0"]) press(canvas, key);
    canvas.blur();
    at(canvas, "wheel", 0.5, 0.5, { deltaY: -200 });
    canvas.focus();
    for (const shiftKey of [false, true]) at(canvas, "wheel", 0.5, 0.5, { deltaY: -200, ctrlKey: true, shiftKey });
    at(canvas, "dblclick", 0.5, 0.5);
    at(canvas, "pointermove", 0.9, 0.5);
    at(canvas, "pointerdown", 0.5, 0.5);
    at(canvas, "pointermove", 0.4, 0.4);
    at(canvas, "pointerup", 0.4, 0.4);
    press(canvas, "0");
  };
  const canvases = [...document.querySelectorAll("canvas")];
  canvases.forEach(use);
  for (const select of document.querySelectorAll("select")) {
    for (const option of select.options) {
      select.value = option.value;
      select.dispatchEvent(new Event("change"));
      canvases.forEach((canvas) => canvas.focus());
    }
  }
  document.querySelectorAll("button").forEach((button) => button.click());
  document.querySelectorAll("input").forEach((input) => input.click());
  document.querySelectorAll("button").forEach((button) => button.click());
  document.activeElement.blur();
  canvases.forEach(use);
  const menu = document.querySelector(".menu");
  for (const leave of [() => press(menu, "Escape"), () => canvases[0].focus()]) {
    menu.open = true;
    menu.querySelector("button").focus();
    leave();
  }
  // Drawings of a part.
  canvases.forEach((canvas) => press(canvas, "+"));
  document.querySelectorAll("button.link").forEach((button) => button.click());
  for (const name of ["resize", "beforeprint", "afterprint"]) dispatchEvent(new Event(name));
  await later();
})();
