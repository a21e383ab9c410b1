// Keeps a public page fresh: asks whether the event changed, and if so takes the new tables from the same address.
import { call } from "./session.js";

const PAUSE = 5000;
const live = document.getElementById("live");
let etag = null;

async function look() {
  if (document.hidden) return;
  try {
    const answer = await call("GET", live.dataset.live, { headers: etag ? { "If-None-Match": etag } : {} });
    if (!answer) return;
    const isFirst = etag === null;
    etag = answer.etag;
    if (isFirst) return;
    const page = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!page.ok) return;
    const fresh = new DOMParser().parseFromString(await page.text(), "text/html").getElementById("live");
    if (fresh) {
      live.replaceChildren(...fresh.childNodes);
      document.dispatchEvent(new Event("qisai:refreshed"));
    }
  } catch {
    // No network for a moment: the page stays as it is and looks again.
  }
}

look();
setInterval(look, PAUSE);
document.addEventListener("visibilitychange", look);
