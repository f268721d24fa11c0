// The form of a monitor: buttons that change lists or check what it holds work in place, items are dragged, and inputs
// without effect are hidden. Without this script, each button loads the page again.
import { text } from "./texts.js";

let dragged = null;

// Shows the response to the button `action` in place; `null` when it is not the form, such as after a sign-out.
async function send(form, action) {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("do", action);
  const response = await fetch(form.action, { method: "POST", body: fields });
  const html = await response.text();
  return new DOMParser().parseFromString(html, "text/html").getElementById("form-page");
}

function foldKey(fold) {
  return `${fold.closest("[data-path]")?.dataset.path ?? ""} ${fold.closest("fieldset")?.querySelector("legend")?.textContent}`;
}

async function act(form, action) {
  form.setAttribute("aria-busy", "true");
  // What is typed meanwhile would be lost.
  form.inert = true;
  const page = await send(form, action).catch(() => null);
  if (!page) {
    // The browser shows what the server has to say.
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name: "do", value: action });
    form.append(input);
    form.submit();
    return;
  }
  const open = new Set([...form.querySelectorAll("details[open]")].map(foldKey));
  const shown = document.adoptNode(page);
  const next = shown.querySelector("[role=alert], [autofocus]");
  // A page that has a focus already does without: the browser would complain.
  shown.querySelectorAll("[autofocus]").forEach((element) => element.removeAttribute("autofocus"));
  document.getElementById("form-page").replaceWith(shown);
  for (const fold of shown.querySelectorAll("details")) fold.open ||= open.has(foldKey(fold));
  window.htmx?.process(shown);
  prepare();
  if (next) {
    if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  } else {
    shown.querySelector("form").querySelector(`button[value="${CSS.escape(action)}"]`)?.focus();
  }
}

function valueOf(element) {
  return element.type === "checkbox" ? String(element.checked) : element.value;
}

// Hides the inputs that have no effect now. Those that hold something, and those with an error, stay.
function showWhatMatters(form) {
  for (const input of form.querySelectorAll("[data-when]")) {
    const path = input.querySelector('[id^="f-"]')?.id.slice(2) ?? "";
    const decides = form.elements.namedItem(path.slice(0, path.lastIndexOf(".") + 1) + input.dataset.when);
    if (!decides) continue;
    const value = valueOf(decides);
    const allowed = input.dataset.values.split("|");
    const matters = allowed.includes("*") ? value.trim() !== "" : allowed.includes(value);
    const isNeeded = "changed" in input.dataset || input.querySelector(".error");
    input.hidden = !matters && !isNeeded;
  }
}

function addGrips(form) {
  for (const head of form.querySelectorAll(".item-head")) {
    if (head.querySelector(".grip")) continue;
    const grip = document.createElement("span");
    Object.assign(grip, { className: "grip", draggable: true, textContent: "⠿", title: text("Drag to move") });
    grip.setAttribute("aria-hidden", "true");
    head.prepend(grip);
  }
}

function prepare() {
  const form = document.querySelector("#form-page form");
  if (!form) return;
  addGrips(form);
  showWhatMatters(form);
}

function dropTarget(event) {
  const item = event.target.closest?.("li.item");
  const sibling = dragged && [...dragged.parentElement.children].find((other) => other.contains(item));
  return sibling === dragged ? null : sibling;
}

export function prepareForm() {
  if (!document.getElementById("form-page")) return;
  prepare();
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button?.name !== "do" || !event.target.closest("#form-page")) return;
    event.preventDefault();
    if (event.target.getAttribute("aria-busy") !== "true") act(event.target, button.value);
  });
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => event.target.form && showWhatMatters(event.target.form));
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-reload]")) act(event.target.form, "show form");
  });
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.matches?.(".grip") ? event.target.closest("li.item") : null;
    dragged?.classList.add("dragged");
  });
  document.addEventListener("dragover", (event) => {
    if (dropTarget(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const target = dropTarget(event);
    if (!target) return;
    event.preventDefault();
    const place = [...target.parentElement.children].indexOf(target);
    act(target.closest("form"), `move ${dragged.dataset.path} ${place}`);
  });
  document.addEventListener("dragend", () => dragged?.classList.remove("dragged"));
}
