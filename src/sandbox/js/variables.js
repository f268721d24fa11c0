// The variable scopes that scripts read and write: `pm.variables`, `pm.environment` and the others.

/** How many rounds of replacing a text gets, so that values may hold placeholders themselves. */
const MAX_ROUNDS = 19;

/** One scope. Values keep their type; `null` and `undefined` are values too. */
class VariableScope {
  constructor(entries, parents = []) {
    this.__values = new Map(entries || []);
    this.__parents = parents;
  }

  has(name) {
    return this.__values.has(String(name)) || this.__parents.some((scope) => scope.has(name));
  }

  get(name) {
    const key = String(name);
    if (this.__values.has(key)) return this.__values.get(key);
    const scope = this.__parents.find((parent) => parent.has(key));
    return scope && scope.get(key);
  }

  set(name, value) {
    if (name === undefined || name === null) return;
    this.__values.set(String(name), typeof value === "function" ? String(value) : value);
  }

  unset(name) { this.__values.delete(String(name)); }

  clear() { this.__values.clear(); }

  toObject() {
    const all = {};
    for (const scope of [...this.__parents].reverse()) Object.assign(all, scope.toObject());
    for (const [name, value] of this.__values) all[name] = value;
    return all;
  }

  toJSON() { return this.toObject(); }

  /** Replaces every `{{name}}` of a text, or of all texts in an object; unknown names stay. */
  replaceIn(template) {
    if (typeof template === "string") return this.__replace(template);
    if (template === null || typeof template !== "object") return template;
    if (Array.isArray(template)) return template.map((item) => this.replaceIn(item));
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, this.replaceIn(value)]));
  }

  __replace(text) {
    let current = text;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      let found = false;
      current = current.replace(/\{\{([^{}]*)\}\}/g, (whole, name) => {
        const key = name.trim();
        let value = this.has(key) ? this.get(key) : undefined;
        if (value === undefined && key.startsWith("$")) value = hostDynamicValue(key);
        if (value === undefined || value === null) return whole;
        found = true;
        return typeof value === "object" ? JSON.stringify(value) : String(value);
      });
      if (!found) break;
    }
    return current;
  }

  __entries() { return [...this.__values]; }
}
