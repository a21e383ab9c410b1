// The desk: says while somebody types whom Enter would check in, and ticks all that are shown.
const rows = [...document.querySelectorAll("#entrants tbody tr")];
const form = document.getElementById("check-in");

function fits(row, typed) {
  const [whole, initials] = (row.dataset.letters ?? "").split(" ");
  const letters = typed.replaceAll(" ", "");
  const name = (row.dataset.name ?? "").toLowerCase();
  return name.includes(typed) || whole?.startsWith(letters) || initials?.startsWith(letters);
}

if (form) {
  const field = form.elements.letters;
  const says = form.querySelector("output");
  const tell = () => {
    const typed = field.value.trim().toLowerCase();
    const found = typed ? rows.filter((row) => row.dataset.state === form.dataset.state && fits(row, typed)) : [];
    if (!typed || !("whole" in form.dataset)) says.textContent = ""; // others may fit who are not shown
    else if (found.length === 1) says.textContent = says.dataset.one.replace("{name}", found[0].dataset.name);
    else if (found.length) says.textContent = says.dataset.many.replace("{count}", found.length);
    else says.textContent = says.dataset.none;
    for (const row of rows) row.classList.toggle("found", found.includes(row));
  };
  field.addEventListener("input", tell);
  // Enter pressed twice: the page that says what the first did stays.
  form.addEventListener("submit", (event) => {
    if (!event.submitter?.name && !field.value.trim()) event.preventDefault();
  });
  tell();
}

const all = document.querySelector("#entrants [data-all]");
const boxes = () => [...document.querySelectorAll('#entrants tbody input[type="checkbox"]')];
const count = () => {
  const says = document.querySelector("#bulk [data-count]");
  const ticked = boxes().filter((box) => box.checked).length;
  if (says) says.textContent = ticked ? `(${ticked})` : "";
};
all?.addEventListener("change", () => {
  for (const box of boxes()) box.checked = all.checked && !box.closest("tr").hidden;
  count();
});
document.getElementById("entrants")?.addEventListener("change", count);
count();
