// Keeps a public page fresh without reloading it: results are written into their rows as they are entered, for
// everything else the new tables are taken from the same address. Where no stream gets through, it looks now and then.

const SILENCE = 45000; // three signs of life missed
const BETWEEN_LOOKS = 5000;
const live = document.getElementById("live");

let seen = Number(live.dataset.feed);
let source = null;
let heard = Date.now();
let looked = 0;
let due = null;

function open() {
  source?.close();
  source = new EventSource(`/api/v1/events/${live.dataset.event}/stream?after=${seen}`);
  heard = Date.now();
  source.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  source.addEventListener("beat", () => (heard = Date.now()));
  source.addEventListener("reload", (event) => {
    seen = Number(event.lastEventId) || seen;
    look();
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return; // the browser comes back by itself
    setTimeout(open, 3000 + Math.random() * 7000);
    look();
  });
}

function hear(change) {
  heard = Date.now();
  seen = change.feed_no;
  if (change.kind === "result.recorded" && write(change.data)) look(3000 + Math.random() * 5000);
  else look();
}

// Writes a result into its row; false where this page has no such row to write in.
function write(data) {
  const row = live.querySelector(`tr[data-board="${Number(data.board_id)}"]`);
  const scores = row?.closest("table").dataset.scores;
  if (!scores) return false;
  if (Number(row.dataset.version) >= data.version) return true;
  const words = JSON.parse(scores)[data.result ?? ""];
  const cell = row.querySelector(".result");
  if (!words || !cell) return false;
  row.dataset.version = data.version;
  cell.textContent = words[data.swapped ? 1 : 0];
  cell.removeAttribute("title");
  row.classList.add("fresh");
  return true;
}

// Takes the page anew, soon (spread a little, since all viewers hear at once) but not too often.
function look(pause = Math.random() * 400) {
  if (due !== null && pause >= 3000) return;
  clearTimeout(due);
  due = setTimeout(take, Math.max(pause, looked + BETWEEN_LOOKS - Date.now()));
}

async function take() {
  due = null;
  if (document.hidden) return;
  looked = Date.now();
  const address = new URL(location.href);
  address.searchParams.set("live", seen);
  try {
    const page = await fetch(address, { headers: { Accept: "text/html" } });
    if (!page.ok) return;
    const fresh = new DOMParser().parseFromString(await page.text(), "text/html").getElementById("live");
    if (!fresh) return;
    live.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event("qisai:refreshed"));
  } catch {
    // No network for a moment: the page stays as it is and looks again.
  }
}

open();
setInterval(() => {
  if (Date.now() - heard < SILENCE) return;
  open();
  look();
}, 10000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});
