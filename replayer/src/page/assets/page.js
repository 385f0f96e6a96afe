// Puts the page together.

drawPage(async () => {
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
  const unfold = (isOpen) => document.querySelectorAll("details.short").forEach((part) => { part.open = isOpen; });
  addEventListener("beforeprint", () => {
    unfold(true);
    redrawAll();
  });
  addEventListener("afterprint", () => {
    unfold(false);
    redrawSoon();
  });
});
