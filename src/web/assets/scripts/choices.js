// The monitors that a person chose in the list stay chosen: while their rows are updated, and when they leave the page.
// Shift chooses a range.
import { text } from "./texts.js";

const chosen = new Set();
let lastBox = null;

function boxes() {
  return [...document.querySelectorAll('.choice input[type="checkbox"]')];
}

function remember(box) {
  if (box.checked) chosen.add(box.name);
  else chosen.delete(box.name);
}

// Sets all boxes between the one that was changed last and `box`.
function chooseRange(box) {
  const all = boxes();
  const ends = [all.findIndex((other) => other.name === lastBox), all.indexOf(box)];
  if (ends[0] < 0) return;
  for (const other of all.slice(Math.min(...ends), Math.max(...ends) + 1)) {
    other.checked = box.checked;
    remember(other);
  }
}

// Shows what is chosen, and has the form send what has no box on the page now.
function show() {
  const form = document.getElementById("bulk");
  const all = boxes();
  for (const box of all) {
    const isChosen = chosen.has(box.name);
    if (box.checked !== isChosen) box.checked = isChosen;
  }
  if (!form) return;
  form.querySelectorAll("input[data-absent]").forEach((input) => input.remove());
  const shown = new Set(all.map((box) => box.name));
  for (const name of [...chosen].filter((name) => !shown.has(name))) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value: "on" });
    input.dataset.absent = "";
    form.append(input);
  }
  form.querySelector('option[value="chosen"]').textContent = text("the {count} chosen", { count: chosen.size });
}

export function keepChoices() {
  if (!document.getElementById("list")) return;
  // A browser that goes back shows the boxes as they were left.
  boxes().forEach(remember);
  show();
  document.addEventListener("click", (event) => {
    if (!event.target.matches?.(".choice input")) return;
    if (event.shiftKey) chooseRange(event.target);
    remember(event.target);
    lastBox = event.target.name;
    show();
  });
  document.addEventListener("htmx:after:swap", show);
}
