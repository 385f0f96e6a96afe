// The page of the difference of two results.

drawPage(async () => {
  const { version, names, result } = await readData();
  const { before, after } = result.simulated_time;
  const [from, to] = names.map((name) => name.split("/").pop());
  const title = from === to ? `${names[1]} against ${names[0]}` : `${to} against ${from}`;
  document.title = `${title} – titr`;
  document.getElementById("title").textContent = title;
  fileName = "difference";
  section("answer", "Result", element("div", { class: "hero" },
    element("p", { class: `answer ${better(after - before)}` }, signed(before ? after / before - 1 : 0, percent)),
    element("p", { class: "sure" }, `${time(after)} after, ${time(before)} before`))).classList.add("first");
  addComparison({ comparison: result }, true);
  document.getElementById("footer").textContent = `titr ${version}`;
});
