// Imports without losing the chosen file: sends it with progress, and shows the report below the form that still holds it.
import { call, isSignedOut, signInAgain } from "./session.js";

const form = document.getElementById("import");
const progress = document.getElementById("progress");
const bar = progress?.querySelector("progress");
const says = progress?.querySelector("span");

function send(body) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const began = Date.now();
    const clock = setInterval(() => {
      if (bar.hasAttribute("value")) return;
      says.textContent = `${says.dataset.work} ${Math.round((Date.now() - began) / 1000)} s`;
    }, 500);
    request.open("POST", location.href);
    request.setRequestHeader("Accept", "text/html");
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = (100 * event.loaded) / event.total;
      says.textContent = says.dataset.up;
    };
    request.upload.onload = () => bar.removeAttribute("value");
    request.onloadend = () => {
      clearInterval(clock);
      if (request.status) resolve(request.responseText);
      else reject(new Error("no answer"));
    };
    request.send(body);
  });
}

async function submit(more) {
  const offline = document.getElementById("offline");
  const body = new FormData(form);
  for (const [name, value] of more) if (name !== "file" && name !== "kept") body.set(name, value);
  body.set("nokeep", "1");
  offline.hidden = true;
  progress.hidden = false;
  for (const button of document.querySelectorAll("#import button, #apply button")) button.disabled = true;
  try {
    await call("GET", "/api/v1/me");
    const page = new DOMParser().parseFromString(await send(body), "text/html");
    const report = page.getElementById("report");
    if (!report) throw new Error("no report");
    document.getElementById("report").replaceWith(report);
    report.querySelector("[tabindex]")?.focus();
  } catch (error) {
    if (isSignedOut(error) && (await signInAgain())) return submit([...more].filter(([name]) => name !== "csrf_token"));
    offline.hidden = false;
    offline.scrollIntoView({ block: "nearest" });
  } finally {
    progress.hidden = true;
    for (const button of document.querySelectorAll("#import button, #apply button")) button.disabled = false;
  }
}

document.addEventListener(
  "submit",
  (event) => {
    if (!["import", "apply"].includes(event.target.id)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const more = event.target.id === "apply" ? new FormData(event.target, event.submitter) : new FormData();
    submit(more);
  },
  { capture: true },
);
