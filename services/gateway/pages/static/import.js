// Imports without losing the chosen file: sends it with progress, and shows the report below the form that still holds it.
import { call, isSignedOut, signInAgain } from "./session.js";

const form = document.getElementById("import");
const progress = document.getElementById("progress");
const bar = progress?.querySelector("progress");
const says = progress?.querySelector("span");

let lastCheck = null; // milliseconds that the service worked on the last check

// Lines of a CSV file that hold something, without the header; null where only the service can tell: of a workbook.
async function rowsOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!bytes.length || (bytes[0] === 0x50 && bytes[1] === 0x4b)) return null;
  let lines = 0;
  let isBlank = true;
  for (const byte of bytes) {
    if (byte !== 0x0a && byte !== 0x0d) isBlank = false;
    else if (!isBlank) [lines, isBlank] = [lines + 1, true];
  }
  return Math.max(1, lines + (isBlank ? 0 : 1) - 1);
}

const seconds = (milliseconds) => Math.round(milliseconds / 1000);

// The answer's text. What the service does nobody can see from here: an import is measured by what its check took.
function send(body, { work, isImport }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let began = null;
    const tell = () => {
      if (began === null) return;
      const spent = performance.now() - began;
      const took = lastCheck === null ? "" : ` ${says.dataset.took.replace("{}", seconds(lastCheck))}`;
      says.textContent = `${work} ${seconds(spent)} s${took}`;
      if (isImport && lastCheck !== null) bar.value = Math.min(95, (100 * spent) / Math.max(lastCheck, 1));
    };
    const clock = setInterval(tell, 500);
    request.open("POST", location.href);
    request.setRequestHeader("Accept", "text/html");
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = (100 * event.loaded) / event.total;
      says.textContent = `${says.dataset.up} ${Math.round(bar.value)} %`;
    };
    request.upload.onload = () => {
      bar.removeAttribute("value");
      began = performance.now();
      tell();
    };
    request.onloadend = () => {
      clearInterval(clock);
      if (!isImport && request.status === 200 && began !== null) lastCheck = performance.now() - began;
      if (request.status) resolve(request.responseText);
      else reject(new Error("no answer"));
    };
    request.send(body);
  });
}

// What the service is about to do, in words.
async function workOf(body, isImport) {
  const content = body.get("file")?.size ? body.get("file") : new Blob([body.get("text") ?? ""]);
  const rows = isImport ? Number(document.getElementById("apply").dataset.rows) : await rowsOf(content);
  if (rows === null) return says.dataset.check;
  const text = isImport ? says.dataset.importRows : says.dataset.checkRows;
  return text.replace("{}", rows.toLocaleString(document.documentElement.lang));
}

async function submit(more) {
  const offline = document.getElementById("offline");
  const body = new FormData(form);
  for (const [name, value] of more) if (name !== "file" && name !== "kept") body.set(name, value);
  body.set("nokeep", "1");
  const isImport = body.has("apply");
  offline.hidden = true;
  progress.hidden = false;
  for (const button of document.querySelectorAll("#import button, #apply button")) button.disabled = true;
  try {
    const work = await workOf(body, isImport);
    await call("GET", "/api/v1/me");
    const page = new DOMParser().parseFromString(await send(body, { work, isImport }), "text/html");
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
