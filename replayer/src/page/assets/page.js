// Puts the page together.

drawPage(async () => {
  const data = await readData();
  nameHosts(data.origin.names);
  addSummary(data);
  addComparison(data);
  addJobs(data);
  addTimeline(data);
  addRow(data, addWaiting, addPath);
  addMachine(data);
  addLinks(data);
  addMessages(data);
  addDetails(data);
});
