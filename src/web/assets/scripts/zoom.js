// Screenshots of a result: a click shows one large, arrows go to the next, Escape closes. Without this, the links open them.
import { text } from "./texts.js";

const links = [...document.querySelectorAll(".shots a")];
let dialog = null;
let shown = 0;

function button(name, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text(name);
  element.addEventListener("click", action);
  return element;
}

function show(index) {
  shown = (index + links.length) % links.length;
  const link = links[shown];
  const picture = link.querySelector("img");
  const image = dialog.querySelector("img");
  image.src = link.href;
  image.alt = picture.alt;
  dialog.querySelector("figcaption").textContent = text("{picture}, {number} of {count}", { picture: picture.alt, number: shown + 1, count: links.length });
}

function handleKey(event) {
  if (event.key === "ArrowRight") show(shown + 1);
  else if (event.key === "ArrowLeft") show(shown - 1);
  else return;
  event.preventDefault();
}

function makeDialog() {
  dialog = document.createElement("dialog");
  dialog.className = "zoom";
  dialog.setAttribute("aria-label", text("Screenshot"));
  const figure = document.createElement("figure");
  figure.append(document.createElement("img"), document.createElement("figcaption"));
  const buttons = document.createElement("div");
  buttons.append(button("Close", () => dialog.close()));
  if (links.length > 1) {
    buttons.append(button("Previous", () => show(shown - 1)), button("Next", () => show(shown + 1)));
  }
  dialog.append(figure, buttons);
  dialog.addEventListener("keydown", handleKey);
  // A click beside it closes it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => links[shown].focus());
  document.body.append(dialog);
}

function open(event, index) {
  // A new tab or window is what the person asked for then.
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!dialog) makeDialog();
  show(index);
  dialog.showModal();
}

export function zoomScreenshots() {
  links.forEach((link, index) => link.addEventListener("click", (event) => open(event, index)));
}
