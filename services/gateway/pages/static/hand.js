// Changing a draft: choose two entrants in the list or drag one onto the other; what it would come to shows at once.
import { call, isSignedOut, signInAgain } from "./session.js";

const form = document.getElementById("edit");
const { kind, a, b, reason } = form.elements;
const preview = document.getElementById("preview");
const places = [...document.querySelectorAll("[data-pick]")];
let chosenKind = false;
let asked = 0;
let due = null;

form.querySelector("[data-hint]").hidden = false;
for (const place of places) {
  place.tabIndex = 0;
  place.draggable = true;
  place.setAttribute("role", "button");
  place.addEventListener("click", () => pick(place));
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick(place);
  });
  place.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", place.dataset.pick));
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    const from = event.dataTransfer.getData("text/plain");
    if (from === place.dataset.pick) return;
    a.value = from;
    b.value = place.dataset.pick;
    propose();
    changed();
  });
}

const offers = (name) => [...kind.options].some((option) => option.value === name);
const needsTwo = () => !["unpair", "bye"].includes(kind.value);

function pick(place) {
  const number = place.dataset.pick;
  if (a.value === number) a.value = "";
  else if (b.value === number) b.value = "";
  else if (!a.value || !needsTwo()) a.value = number;
  else b.value = number;
  if (!a.value) [a.value, b.value] = [b.value, ""];
  propose();
  changed();
}

// What two chosen entrants most likely are to do, unless somebody chose that: two without a place meet, two who meet
// change sides, all others change places.
function propose() {
  if (chosenKind || !a.value || !b.value) return;
  const [one, two] = [a.value, b.value].map((number) => places.find((place) => place.dataset.pick === number));
  const row = one?.closest("tr");
  if (one?.closest(".left-over") && two?.closest(".left-over")) kind.value = "pair";
  else if (row && row === two?.closest("tr")) kind.value = offers("sides") ? "sides" : "swap";
  else kind.value = "swap";
}

function mark(numbers) {
  for (const place of places) {
    const isChosen = numbers.includes(place.dataset.pick);
    place.classList.toggle("chosen", isChosen);
    place.setAttribute("aria-pressed", String(isChosen));
  }
}

function changed() {
  form.querySelector("[data-second]").hidden = !needsTwo();
  const numbers = needsTwo() ? [a.value, b.value] : [a.value];
  mark(numbers);
  form.classList.toggle("active", numbers.some(Boolean));
  clearTimeout(due);
  asked += 1;
  if (numbers.every(Boolean)) due = setTimeout(() => look(asked), 250);
  else say("");
}

function say(markup) {
  preview.innerHTML = markup;
  const needed = preview.querySelector("[data-needs-reason]") !== null;
  reason.required = needed;
  form.classList.toggle("needs-reason", needed);
}

function complain(text) {
  const line = document.createElement("p");
  line.className = "note error";
  line.textContent = text;
  preview.replaceChildren(line);
}

async function look(number) {
  const typed = new FormData(form);
  typed.set("look", "1");
  typed.set("fragment", "1");
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(typed), headers: { Accept: "text/html" } });
    if (number !== asked) return;
    if (answer.status === 412) form.requestSubmit(form.elements.look); // somebody else was first: the page says who
    else if (answer.status === 401 || answer.status === 403) await again(number);
    else if (answer.ok || answer.status === 422) say(await answer.text());
  } catch {
    // No network: the change can still be tried by its button when it is back.
  }
}

async function again(number) {
  try {
    await call("GET", "/api/v1/me");
  } catch (error) {
    if (isSignedOut(error) && (await signInAgain())) look(number);
  }
}

kind.addEventListener("change", () => {
  chosenKind = true;
  changed();
});
for (const field of [a, b]) {
  field.addEventListener("input", () => {
    const typed = field.value.replace(/[０-９]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0));
    field.value = typed.replace(/\D/g, "");
    changed();
    if (field.value !== typed) complain(form.dataset.digits);
  });
  field.addEventListener("change", () => {
    const isKnown = places.some((place) => place.dataset.pick === field.value);
    if (field.value && !isKnown) complain(form.dataset.unknown.replace("{number}", field.value));
  });
}
if (a.value) {
  chosenKind = true;
  mark([a.value, b.value]);
}
form.querySelector("[data-second]").hidden = !needsTwo();
