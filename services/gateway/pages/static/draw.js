// Tells how far a draw is that is being computed, and shows the page anew when it has ended.

const job = document.getElementById("job");

// Whether somebody is typing here: what is typed is worth more than the newest page, which a link leads to then.
const isTyping = () =>
  [...document.querySelectorAll("main input:not([type=hidden], [type=search], [type=checkbox]), main textarea")].some(
    (field) => field.value.trim() !== "",
  );

async function look() {
  try {
    const answer = await fetch(job.dataset.look, {
      headers: { Accept: "text/html" },
      cache: "no-store",
      signal: AbortSignal.timeout(20000),
    });
    if (!answer.ok) return null;
    return new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("how-far");
  } catch {
    return null; // no answer for a moment: the job goes on without us
  }
}

async function watch() {
  for (let pause = 500; ; pause = 1000) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const fresh = await look();
    if (!fresh) continue;
    if (!("active" in fresh.dataset) && !isTyping()) {
      location.replace(job.dataset.page);
      return;
    }
    document.getElementById("how-far").replaceWith(fresh);
    if (!("active" in fresh.dataset)) {
      for (const part of job.querySelectorAll("[data-runs]")) part.hidden = true;
      return;
    }
  }
}

if (job) watch();
