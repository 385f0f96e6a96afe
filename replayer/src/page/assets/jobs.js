// The jobs that share the machine: the time of each with the others and alone, and the links on which its messages met others.

const JOB_COLORS = 3;
const jobColor = (which) => `job-${which % JOB_COLORS}`;
/** The number of the job of a rank; -1 if all ranks are of one program. */
const jobOf = (jobs, rank) => jobs.findIndex(({ first, ranks }) => rank >= first && rank < first + ranks);

const addJobs = (data) => {
  const jobs = data.result.jobs || [];
  if (jobs.length === 0) return;
  const slowdown = ({ slowdown: factor }) => factor === undefined ? NOTHING : `${factor.toFixed(3)} ×`;
  const rows = jobs.map((job, which) => ({ job, name: job.name, value: Math.max(job.simulated_time, job.alone),
    text: `${time(job.simulated_time)}, ${slowdown(job)} alone`,
    parts: [[jobColor(which), Math.min(job.alone, job.simulated_time)], ["sharing", Math.max(0, job.simulated_time - job.alone)]] }));
  const met = ({ shared_links: links }) => [...new Set(links.map(({ with: other }) => other))].map((other) => {
    const [longest] = links.filter(({ with: one }) => one === other);
    return `${other}: ${time(longest.time)} on ${longest.link}`;
  });
  const made = barChart({ id: "jobs", title: "Time of each job: alone, and, brown, what the others add to it", rows,
    label: "Time of each job, alone and together with the others",
    tell: ({ job }) => `${job.name}: ${time(job.simulated_time)} together, ${time(job.alone)} alone; ` +
      (job.shared_links.length ? `met ${met(job).join("; ")}` : "met nobody on a link"),
    csv: () => [["job", "ranks", "start (s)", "together (s)", "alone (s)", "slowdown"],
      ...jobs.map((job) => [job.name, job.ranks, job.start, job.simulated_time, job.alone, job.slowdown ?? null])] });
  const columns = [{ name: "job", kind: "text", value: ({ name }) => name },
    { name: "ranks", kind: "rank", value: ({ first, ranks }) => ranks === 1 ? first : `${first}–${first + ranks - 1}` },
    { name: "start", kind: "time", value: ({ start }) => start },
    { name: "together", kind: "time", value: (job) => job.simulated_time },
    { name: "alone", kind: "time", value: ({ alone }) => alone },
    { name: "slowdown", kind: "number", value: (job) => job.slowdown },
    { name: "efficiency", kind: "percent", value: ({ efficiencies: found }) => found && found.parallel },
    { name: "met on a link", kind: "text long", value: (job) => met(job).join("; "), title: (job) => met(job).join("; ") }];
  section("jobs", "Jobs", made.figure, table("jobs", columns, jobs));
};
