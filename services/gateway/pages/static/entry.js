// Entering results: by keyboard or by button, saved one by one, each with the version it was typed on.
//
// What is typed goes into a queue that survives a lost network, an ended sign-in and a closed page. A result leaves it
// only when the server has it, when the referee chose the other one in a conflict, or when the referee lets it go.
import { NoNetwork, Refused, call, giveBack, isSignedOut, signInAgain } from "./session.js";

const table = document.getElementById("boards");
const texts = JSON.parse(table.dataset.texts);
const keys = JSON.parse(table.dataset.keys);
const api = `/api/v1/events/${table.dataset.event}/rounds/${table.dataset.round}/boards`;
const storeName = `qisai-unsent:${table.dataset.event}:${table.dataset.round}:${table.dataset.who}`;
const isOpen = table.dataset.open === "true";
const rows = new Map([...table.tBodies[0].rows].map((row) => [Number(row.dataset.id), row]));
const byNumber = new Map([...rows.values()].map((row) => [Number(row.dataset.number), row]));

let unsent = load(); // [{board, version, result, state: "waiting" | "refused", detail}]
let sending = false;
let etag = null;

function load() {
  try {
    return JSON.parse(localStorage.getItem(storeName) ?? "[]").filter(
      (item) => rows.has(item.board) && !("foreign" in rows.get(item.board).dataset),
    );
  } catch {
    return [];
  }
}

function keep() {
  try {
    localStorage.setItem(storeName, JSON.stringify(unsent));
  } catch {
    // A full or forbidden store: the queue lives as long as the page.
  }
  const waiting = unsent.filter((item) => item.state === "waiting").length;
  const note = document.getElementById("unsent");
  note.hidden = waiting === 0;
  note.textContent = texts.unsent.replace("%", waiting);
}

const words = (row, result) => (result ? JSON.parse(row.dataset.words)[result] : texts.none);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const time = (moment) =>
  new Date(moment).toLocaleTimeString(document.documentElement.lang, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: table.dataset.zone,
  });

function show(row) {
  const item = unsent.find((one) => one.board === Number(row.dataset.id));
  const result = item ? item.result : row.dataset.result || null;
  row.querySelector(".shown").textContent = result ? words(row, result) : item ? texts.none : "–";
  row.classList.toggle("pending", item?.state === "waiting");
  row.classList.toggle("refused", item?.state === "refused");
  for (const button of row.querySelectorAll("button[name=result]")) {
    button.setAttribute("aria-pressed", String(result !== null && button.value === result));
    button.disabled = !isOpen;
  }
  const state = row.querySelector(".state");
  if (item?.state === "waiting") state.textContent = texts.waiting;
  if (item?.state === "refused") {
    state.textContent = `${item.detail} `;
    const drop = document.createElement("button");
    drop.type = "button";
    drop.className = "quiet";
    drop.textContent = texts.drop;
    drop.onclick = () => {
      unsent = unsent.filter((one) => one !== item);
      keep();
      saved(row);
      show(row);
    };
    const page = row.querySelector("td a")?.cloneNode();
    if (page) page.textContent = `${texts.open} `; // where a reason can be given
    state.append(page ?? "", drop);
  }
}

function saved(row) {
  row.querySelector(".state").textContent = row.dataset.result
    ? `${row.dataset.at ? time(row.dataset.at) : ""} ${row.dataset.by ?? ""}`.trim()
    : "";
}

// Takes what the server says about a board; what is typed and not sent stays on top of it.
function take(board, { fresh = false } = {}) {
  const row = rows.get(board.id);
  if (!row || Number(row.dataset.version) > board.version) return;
  const changed = row.dataset.version !== String(board.version);
  row.dataset.version = board.version;
  row.dataset.result = board.result ?? "";
  row.dataset.at = board.updated_at ?? "";
  row.dataset.by = board.updated_by ?? "";
  const seen = row.querySelector("input[name=version]"); // boards of others have no form
  if (seen) seen.value = board.version;
  if (!unsent.some((item) => item.board === board.id)) saved(row);
  show(row);
  if (changed && fresh) {
    row.classList.remove("fresh");
    void row.offsetWidth;
    row.classList.add("fresh");
  }
  count();
}

function count() {
  const reported = [...rows.values()].filter((row) => row.dataset.result).length;
  document.getElementById("reported").textContent = reported;
}

function write(row, result) {
  const board = Number(row.dataset.id);
  const waiting = unsent.find((item) => item.board === board && item.state === "waiting");
  if (waiting && !waiting.sent) {
    waiting.result = result; // typed anew before it was sent: still on the version first seen
  } else {
    unsent = unsent.filter((item) => item.board !== board || item.sent);
    unsent.push({ board, version: Number(row.dataset.version), result, state: "waiting" });
  }
  keep();
  show(row);
  flush();
}

async function flush() {
  if (sending) return;
  sending = true;
  try {
    for (;;) {
      const item = unsent.find((one) => one.state === "waiting");
      if (!item || !(await send(item))) return;
    }
  } finally {
    sending = false;
  }
}

// Sends one result; says whether to go on with the next.
async function send(item) {
  const row = rows.get(item.board);
  item.sent = true;
  try {
    const { content } = await call("PUT", `/api/v1/boards/${item.board}/result`, {
      body: { result: item.result },
      headers: { "If-Match": `"v${item.version}"` },
    });
    leave(item);
    // What was typed while this was on its way was typed on what this one made.
    for (const later of unsent) if (later.board === item.board) later.version = content.version;
    take(content);
    return true;
  } catch (error) {
    item.sent = error instanceof NoNetwork; // it may have arrived: sending the same again is then answered as done
    keep();
    if (isSignedOut(error)) return signInAgain();
    if (error instanceof NoNetwork || error.status === 429 || error.status >= 500) {
      row.querySelector(".state").textContent = texts.offline;
      setTimeout(flush, 1000 * (error.retryAfter ?? 3));
      return false;
    }
    if (error.status === 412) return conflict(item, error.problem.current ?? {});
    if (error.status === 403) {
      leave(item); // not this referee's board: kept, it could never be sent
      show(row);
      row.querySelector(".state").textContent = error.message;
      return true;
    }
    item.state = "refused";
    item.detail = error instanceof Refused ? error.message : String(error);
    keep();
    show(row);
    return true;
  }
}

function leave(item) {
  unsent = unsent.filter((one) => one !== item);
  keep();
}

async function conflict(item, current) {
  const row = rows.get(item.board);
  const dialog = document.getElementById("conflict");
  document.getElementById("conflict-says").textContent = fill(texts.conflict, {
    board: row.dataset.number,
    who: current.updated_by || "–",
    time: current.updated_at ? time(current.updated_at) : "–",
    theirs: words(row, current.result),
    mine: words(row, item.result),
  });
  // The title gets the focus, not a button: whoever is typing the next board must not choose by their Enter.
  const typing = document.activeElement;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  giveBack(typing);
  if (dialog.returnValue === "mine") {
    item.version = current.version;
    item.sent = false;
    keep();
    return true;
  }
  if (dialog.returnValue === "theirs") leave(item);
  else {
    item.state = "refused"; // closed without a choice: it stays on the page
    item.detail = texts.undecided;
    keep();
  }
  take({ ...current, id: item.board });
  show(row);
  return true;
}

async function poll() {
  if (document.hidden) return;
  try {
    const answer = await call("GET", api, { headers: etag ? { "If-None-Match": etag } : {} });
    if (!answer) return;
    const isFirst = etag === null;
    etag = answer.etag;
    for (const board of answer.content.items) take(board, { fresh: !isFirst });
  } catch {
    // The next look comes soon; what is typed does not depend on it.
  }
}

// By keyboard: board number, Enter, key of the result, Enter.
const quick = document.getElementById("quick");
const boardField = quick.elements.board;
const resultField = quick.elements.result;
const says = document.getElementById("quick-says");
let chosen; // undefined: nothing yet; null: no result

function target() {
  const row = byNumber.get(Number(boardField.value));
  return row && "foreign" in row.dataset ? undefined : row;
}

function mark(row) {
  for (const one of table.querySelectorAll("tr.here")) one.classList.remove("here");
  row?.classList.add("here");
  row?.scrollIntoView({ block: "nearest" });
}

function describe() {
  const row = target();
  if (!boardField.value) says.textContent = "";
  else if (!row) says.textContent = texts.unknown;
  else {
    const [first, second] = [...row.querySelectorAll(".player")].map((one) => one.textContent.trim());
    const now = chosen === undefined ? "" : ` → ${words(row, chosen)}`;
    says.textContent = `${first} – ${second}${now}`;
  }
  mark(row);
}

boardField.addEventListener("input", () => {
  const typed = boardField.value.replace(/[０-９]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0));
  boardField.value = typed.replace(/\D/g, "");
  chosen = undefined;
  resultField.value = "";
  describe();
  if (boardField.value !== typed) says.textContent = texts.digits;
});
boardField.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    if (target()) resultField.focus();
    else describe();
  }
});
resultField.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    commit();
  } else if (event.key === "Escape") {
    back();
  } else if (event.key === "Backspace" || event.key === "Delete") {
    event.preventDefault();
    choose("", null);
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    press(event.key);
  }
});
resultField.addEventListener("input", () => {
  // Keyboards of phones send no keys, only what was typed.
  const key = resultField.value.slice(-1);
  if (key) press(key);
});
quick.addEventListener("submit", (event) => {
  event.preventDefault();
  if (document.activeElement === resultField) commit();
});

function press(key) {
  if (key in keys) return choose(key, keys[key]);
  resultField.value = "";
  chosen = undefined;
  describe();
  says.textContent = texts.keys;
}

function choose(key, result) {
  chosen = result;
  resultField.value = key;
  describe();
}

function commit() {
  const row = target();
  if (!row || chosen === undefined) return;
  const said = says.textContent;
  write(row, chosen);
  back();
  says.textContent = said;
}

function back() {
  boardField.value = "";
  resultField.value = "";
  chosen = undefined;
  says.textContent = "";
  mark(null);
  boardField.focus();
}

table.addEventListener("submit", (event) => {
  event.preventDefault();
  const row = event.target.closest("tr");
  if (event.submitter && isOpen) {
    write(row, event.submitter.value || null);
    event.target.querySelector("details").open = false;
  }
});
document.getElementById("only-open").addEventListener("change", (event) => {
  table.classList.toggle("only-open", event.target.checked);
});
window.addEventListener("online", flush);
window.addEventListener("beforeunload", (event) => {
  if (unsent.some((item) => item.state === "waiting")) event.preventDefault();
});
document.addEventListener("visibilitychange", poll);

quick.hidden = !isOpen;
for (const item of unsent) item.sent = item.sent ?? false;
for (const row of rows.values()) show(row);
keep();
if (isOpen) boardField.focus({ preventScroll: Boolean(location.hash) });
poll();
setInterval(poll, 2000);
flush();
