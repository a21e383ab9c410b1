// The page's session: calls of the API with its CSRF token, and signing in again in place when it has ended.

const token = () => document.querySelector('meta[name="csrf-token"]');

export class Refused extends Error {
  constructor(status, problem, headers) {
    super(problem?.detail ?? String(status));
    this.status = status;
    this.problem = problem ?? {};
    this.retryAfter = Number(headers?.get("Retry-After")) || 3;
  }
}

export class NoNetwork extends Error {}

// Sends one call. Throws NoNetwork where no answer came, Refused for a problem. `null` for 304.
export async function call(method, path, { body, headers = {} } = {}) {
  const all = { Accept: "application/json", "Accept-Language": document.documentElement.lang, ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (method !== "GET" && token()) all["X-CSRF-Token"] = token().content;
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(20000),
    });
  } catch {
    throw new NoNetwork();
  }
  if (answer.status === 304) return null;
  let content = null;
  try {
    content = answer.status === 204 ? null : await answer.json();
  } catch {
    if (answer.ok) throw new NoNetwork();
  }
  if (!answer.ok) throw new Refused(answer.status, content, answer.headers);
  return { content, etag: answer.headers.get("ETag") };
}

// Whether a refusal means that the person has to sign in again.
export const isSignedOut = (error) =>
  error instanceof Refused && (error.status === 401 || (error.status === 403 && error.problem.type?.endsWith(":csrf")));

// Gives the focus back to where somebody was typing when a dialog opened. Browsers do that themselves, but a field that
// gets its focus back by a click elsewhere may be left without a caret, so that typing goes nowhere.
export function giveBack(field) {
  setTimeout(() => {
    field?.blur?.();
    field?.focus?.();
  });
}

let asking = null;

// Asks to sign in again, here on the page. Resolves to whether it was done; nothing on the page is touched.
export function signInAgain() {
  asking ??= ask().finally(() => {
    asking = null;
  });
  return asking;
}

function ask() {
  const dialog = document.getElementById("sign-in-again");
  if (!dialog) return Promise.resolve(false);
  const form = dialog.querySelector("form");
  const fault = dialog.querySelector(".note");
  return new Promise((resolve) => {
    const typing = document.activeElement;
    const done = (signedIn) => {
      form.removeEventListener("submit", send);
      dialog.close();
      giveBack(typing);
      resolve(signedIn);
    };
    const send = async (event) => {
      event.preventDefault();
      fault.hidden = true;
      try {
        const { login, password } = Object.fromEntries(new FormData(form));
        const { content } = await call("POST", "/api/v1/sessions", { body: { login, password } });
        renew(content.csrf_token);
        form.reset();
        done(true);
      } catch (error) {
        fault.textContent = error instanceof Refused ? error.message : document.getElementById("offline").textContent;
        fault.hidden = false;
      }
    };
    form.addEventListener("submit", send);
    dialog.querySelector("[data-close]").onclick = () => done(false);
    dialog.oncancel = () => done(false);
    dialog.showModal();
  });
}

function renew(csrf) {
  token().content = csrf;
  for (const field of document.querySelectorAll('input[name="csrf_token"]')) field.value = csrf;
}
