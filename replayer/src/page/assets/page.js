// Puts the page together.

const start = async () => {
  const data = await readData();
  addSummary(data);
  addComparison(data);
  addFindings(data);
  addRanks(data);
  addGantt(data);
  addMatrix(data);
  addLinks(data);
  addOrigin(data);
  redrawAll();
  addEventListener("resize", redrawSoon);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redrawAll);
  addEventListener("beforeprint", redrawAll);
  addEventListener("afterprint", redrawSoon);
  document.documentElement.dataset.ready = "yes";
};

start().catch((error) => {
  const failure = document.getElementById("failure");
  failure.hidden = false;
  failure.textContent = `The page cannot be drawn: ${error.message}`;
  throw error;
});
