// The texts of scripts in the language of the page, which has those that are not in English.

const texts = JSON.parse(document.documentElement.dataset.texts ?? "{}");

// Returns a text with `values` in place of its names in braces.
export function text(english, values = {}) {
  return (texts[english] ?? english).replace(/\{(\w+)\}/g, (name, key) => values[key] ?? name);
}

// Writes a number with the decimal mark of the language.
export function decimal(number) {
  return document.documentElement.lang === "en" ? String(number) : String(number).replace(".", ",");
}
