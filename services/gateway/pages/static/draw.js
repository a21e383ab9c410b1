// Watches a draw that is being computed and shows the page anew when it is done.
import { call } from "./session.js";

const job = document.getElementById("job");

async function watch() {
  const states = JSON.parse(job.dataset.states);
  const began = Date.now();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    job.querySelector("[data-seconds]").textContent = `${Math.round((Date.now() - began) / 1000)} s`;
    try {
      const { content } = await call("GET", `/api/v1/jobs/${job.dataset.job}`);
      job.querySelector("[data-state]").textContent = states[content.state] ?? content.state;
      if (content.state !== "queued") job.querySelector("[data-waiting]").textContent = "";
      if (!["queued", "running"].includes(content.state)) {
        location.reload();
        return;
      }
    } catch {
      // No answer for a moment: the job goes on without us.
    }
  }
}

if (job) watch();
