// The command palette: Ctrl-K opens it, arrows choose, Enter goes there.

const dialog = document.getElementById("palette");
const input = dialog?.querySelector("input");

function links() {
  return [...dialog.querySelectorAll("a")];
}

function move(step) {
  const all = links();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement);
  const next = at + step;
  (next < 0 ? input : all[Math.min(next, all.length - 1)]).focus();
}

function handleKey(event) {
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Enter" && document.activeElement === input) links()[0]?.click();
  else return;
  event.preventDefault();
}

// Returns whether the page has one.
export function openPalette() {
  if (!dialog) return false;
  if (dialog.open) return true;
  input.value = "";
  dialog.showModal();
  htmx.trigger(input, "opened");
  return true;
}

export function preparePalette() {
  if (!dialog) return;
  dialog.addEventListener("keydown", handleKey);
  // A click beside it closes it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}
