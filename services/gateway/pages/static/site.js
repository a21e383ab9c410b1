// What every page does: find in a list, choose from a list at once, and send forms without losing what was typed.
import { NoNetwork, call, isSignedOut, signInAgain } from "./session.js";

document.documentElement.classList.add("js");

// On a phone the tabs scroll: show the one that is open.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
  tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
}

for (const input of document.querySelectorAll("input[data-find]")) {
  const none = document.querySelector(`[data-none="${input.dataset.find}"]`);
  const find = () => {
    const wanted = input.value.trim().toLowerCase();
    let left = 0;
    for (const row of document.querySelectorAll(`${input.dataset.find} tbody tr`)) {
      row.hidden = wanted !== "" && !`${row.textContent} ${row.dataset.letters ?? ""}`.toLowerCase().includes(wanted);
      if (!row.hidden) left += 1;
    }
    if (none) none.textContent = left || wanted === "" ? "" : none.dataset.text;
  };
  input.addEventListener("input", find);
  document.addEventListener("qisai:refreshed", find);
}

// A secret that is shown once: taken by one press where the browser allows it, else ready to be copied.
for (const input of document.querySelectorAll("input[data-select]")) input.addEventListener("focus", () => input.select());
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  });
}

for (const select of document.querySelectorAll("select[data-go]")) {
  select.addEventListener("change", () => select.form.submit());
}

// A form is sent only while there is a network and a sign-in: else what was typed would be lost with the page.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post" || "plain" in form.dataset || form.dataset.sure === "yes") return;
  event.preventDefault();
  const button = event.submitter;
  if (form.dataset.sending === "yes") return;
  if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) return;
  form.dataset.sending = "yes";
  const offline = document.getElementById("offline");
  if (offline) offline.hidden = true;
  try {
    await call("GET", "/api/v1/me");
  } catch (error) {
    form.dataset.sending = "no";
    if (error instanceof NoNetwork && offline) {
      offline.hidden = false;
      offline.scrollIntoView({ block: "nearest" });
      return;
    }
    if (!isSignedOut(error) || !(await signInAgain())) return;
  }
  form.dataset.sure = "yes";
  form.requestSubmit(button);
});

window.addEventListener("pageshow", () => {
  for (const form of document.forms) {
    form.dataset.sending = "no";
    form.dataset.sure = "no";
  }
});

// Times that are of no event stand in the reader's own zone.
for (const time of document.querySelectorAll("time[data-local]")) {
  const parts = { month: "2-digit", day: "2-digit" };
  if (time.dataset.local === "day") parts.year = "numeric";
  else Object.assign(parts, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  time.title = time.textContent;
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, parts);
}
