// The form of an event: what the choices mean follows along, and another game or system brings its own fields.
const form = document.getElementById("event-form");
let asked = 0;

// Asks for the page as it would be, and takes these parts of it.
async function show(...parts) {
  const turn = ++asked;
  const typed = new FormData(form);
  typed.set("preview", "1");
  try {
    const answer = await fetch(location.href, { method: "POST", body: typed, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (turn !== asked || !page.getElementById("event-form")) return;
    for (const selector of parts) {
      const old = document.querySelector(selector);
      const fresh = page.querySelector(selector);
      if (!old || !fresh) continue;
      const open = [...old.querySelectorAll("details")].map((one) => one.open);
      [...fresh.querySelectorAll("details")].forEach((one, place) => (one.open ||= open[place] ?? false));
      const focused = old.contains(document.activeElement) ? document.activeElement.name : "";
      old.replaceWith(fresh);
      if (focused) form.elements[focused]?.focus();
    }
  } catch {
    // Without an answer the preview stays as it was; nothing typed is touched.
  }
}

form?.addEventListener("change", (event) => {
  if ("anew" in event.target.dataset) show("#regulations", "#preview", 'input[name="shown_game"]');
  else show("#preview");
});
