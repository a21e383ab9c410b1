// The round's clock: counts on from the server's time, which the page brought with it, whatever this machine's clock says.
import { call } from "./session.js";

const all = () => document.querySelectorAll(".clock[data-round]");
const BETWEEN_LOOKS = 10000;
const first = document.querySelector(".clock[data-now]");
// How far the server's clock is ahead. Taken once: pages that follow may be shared, and older than they arrive.
let ahead = first?.dataset.now ? new Date(first.dataset.now) - Date.now() : 0;

function left(clock) {
  if (clock.dataset.runs !== "true") return Number(clock.dataset.left) * 1000;
  return Math.max(0, new Date(clock.dataset.ends) - (Date.now() + ahead));
}

function show() {
  for (const clock of all()) {
    const seconds = Math.ceil(left(clock) / 1000);
    const two = (number) => String(number).padStart(2, "0");
    const text = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    const time = clock.querySelector(".time");
    if (time.textContent !== text) time.textContent = text;
    clock.classList.toggle("over", seconds === 0);
  }
}

// Pages that do not follow the event by themselves ask now and then whether somebody paused it.
async function look() {
  if (document.hidden) return;
  for (const clock of document.querySelectorAll(".clock[data-poll]")) {
    try {
      const { content } = await call("GET", `/api/v1/events/${clock.dataset.event}/rounds/${clock.dataset.round}`);
      const found = content.clock;
      clock.hidden = !found;
      if (!found) continue;
      ahead = new Date(found.now) - Date.now();
      clock.dataset.runs = String(found.runs);
      clock.dataset.left = found.left_seconds;
      clock.dataset.ends = found.ends_at ?? "";
    } catch {
      // No answer for a moment: it counts on.
    }
  }
  show();
}

show();
setInterval(show, 500);
setInterval(look, BETWEEN_LOOKS);
document.addEventListener("qisai:refreshed", show);
document.addEventListener("visibilitychange", look);
