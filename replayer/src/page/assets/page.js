// Puts the page together.

const start = async () => {
  const data = await readData();
  addSummary(data);
  addComparison(data);
  addJobs(data);
  addTimeline(data);
  const columns = element("div", { class: "columns" });
  document.getElementById("main").append(columns);
  place = columns;
  addWaiting(data);
  addPath(data);
  addMachine(data);
  addLinks(data);
  addMessages(data);
  place = null;
  addDetails(data);
  redrawAll();
  addEventListener("resize", redrawSoon);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redrawAll);
  const unfold = (isOpen) => document.querySelectorAll("details.short").forEach((part) => { part.open = isOpen; });
  addEventListener("beforeprint", () => {
    unfold(true);
    redrawAll();
  });
  addEventListener("afterprint", () => {
    unfold(false);
    redrawSoon();
  });
  document.documentElement.dataset.ready = "yes";
};

start().catch((error) => {
  const failure = document.getElementById("failure");
  failure.hidden = false;
  failure.textContent = `The page cannot be drawn: ${error.message}`;
  throw error;
});
