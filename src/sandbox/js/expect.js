// `pm.expect`: the BDD assertions of chai 4, without its plugins. Part of one function scope with the other files.

/** Thrown by a failed assertion; tests show its name and message. */
class AssertionError extends Error {
  constructor(message) {
    super(message);
    this.name = "AssertionError";
  }
}

/** The type of a value as chai names it. */
function typeOf(value) {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (typeof value !== "object") return typeof value;
  return Object.prototype.toString.call(value).slice(8, -1).toLowerCase();
}

/** Shows a value in a message, at most three levels deep and 300 characters long. */
function inspect(value, depth = 3) {
  const text = inspectWhole(value, depth, new Set());
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function inspectWhole(value, depth, seen) {
  switch (typeOf(value)) {
    case "string": return `'${value}'`;
    case "function": return value.name ? `[Function ${value.name}]` : "[Function]";
    case "symbol": return String(value);
    case "regexp": return String(value);
    case "date": return isNaN(value) ? "Invalid Date" : value.toISOString();
    case "error": return `[${value.name}: ${value.message}]`;
    default:
  }
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (seen.has(value)) return "[Circular]";
  seen.add(value);
  const isList = Array.isArray(value);
  if (depth === 0) return isList ? "[Array]" : "[Object]";
  const entries = isList
    ? value.slice(0, 50).map((item) => inspectWhole(item, depth - 1, seen))
    : Object.keys(value).slice(0, 50).map((key) => {
      const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : `'${key}'`;
      return `${name}: ${inspectWhole(value[key], depth - 1, seen)}`;
    });
  seen.delete(value);
  if (isList) return entries.length ? `[ ${entries.join(", ")} ]` : "[]";
  return entries.length ? `{ ${entries.join(", ")} }` : "{}";
}

/** Deep equality as in chai: types count, `NaN` equals itself, cycles end. */
function deepEqual(a, b, seen = []) {
  if (Object.is(a, b)) return true;
  if (a === 0 && b === 0) return false;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  if (type === "date") return Object.is(a.getTime(), b.getTime());
  if (type === "regexp") return String(a) === String(b);
  if (type === "error") return a === b;
  if (seen.some(([x, y]) => x === a && y === b)) return true;
  const inner = [...seen, [a, b]];
  if (type === "set" || type === "map") return deepEqual([...a].sort(), [...b].sort(), inner);
  const keys = enumerableKeys(a);
  if (Array.isArray(a) && a.length !== b.length) return false;
  if (keys.length !== enumerableKeys(b).length) return false;
  return keys.every((key) => key in b && deepEqual(a[key], b[key], inner));
}

function enumerableKeys(value) {
  const keys = [];
  for (const key in value) keys.push(key);
  return keys;
}

/** The values at `path` such as `a.b[0]`; `found` is false where it ends early. */
function nestedValue(value, path) {
  const parts = String(path).match(/[^.[\]]+/g) || [];
  let found = true;
  for (const part of parts) {
    if (value === null || value === undefined || !(part in Object(value))) { found = false; value = undefined; break; }
    value = value[part];
  }
  return { found, value };
}

const CHAINS = ["to", "be", "been", "is", "and", "has", "have", "with", "that", "which", "at", "of", "same", "but", "does",
  "still", "also"];
const FLAGS = ["not", "deep", "nested", "own", "ordered"];

/** One assertion in progress: a value and the flags set by the chain before. */
class Assertion {
  constructor(value, message, flags = {}) {
    this.__value = value;
    this.__message = message;
    this.__flags = flags;
  }

  __check(holds, text, negated) {
    const isNegated = Boolean(this.__flags.not);
    if (Boolean(holds) !== isNegated) return wrap(this);
    const reason = isNegated ? negated : text;
    throw new AssertionError(this.__message ? `${this.__message}: ${reason}` : reason);
  }

  __with(flag, value = true) {
    return wrap(new Assertion(this.__value, this.__message, { ...this.__flags, [flag]: value }));
  }

  __on(value) { return wrap(new Assertion(value, this.__message, this.__flags)); }

  __same(a, b) { return this.__flags.deep ? deepEqual(a, b) : a === b; }
}

/** An unknown property of a chain is a mistake in the script, not a passed test. */
function wrap(assertion) {
  return new Proxy(assertion, {
    get(target, name) {
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name, target);
      if (name === "then" || name === "toJSON" || name === "inspect") return undefined;
      throw new Error(`Invalid Chai property: ${name}`);
    },
  });
}

function property(name, getter) {
  Object.defineProperty(Assertion.prototype, name, { get: getter, configurable: true });
}

function methods(names, method) {
  for (const name of names) Object.defineProperty(Assertion.prototype, name, { value: method, configurable: true });
}

/** A method that is also a link of the chain, such as `include` and `a`. */
function chainable(names, method, flag) {
  for (const name of names) {
    property(name, function () {
      const linked = flag ? this.__with(flag) : wrap(this);
      const call = (...args) => method.apply(this, args);
      return new Proxy(call, { get: (_, key) => linked[key] });
    });
  }
}

CHAINS.forEach((name) => property(name, function () { return wrap(this); }));
FLAGS.forEach((name) => property(name, function () { return this.__with(name); }));
property("any", function () { return this.__with("any").__with("all", false); });
property("all", function () { return this.__with("all").__with("any", false); });

const IS = {
  true: (v) => v === true, false: (v) => v === false, null: (v) => v === null, undefined: (v) => v === undefined,
  NaN: (v) => Number.isNaN(v), finite: (v) => typeof v === "number" && isFinite(v),
};
Object.keys(IS).forEach((name) => property(name, function () {
  const shown = inspect(this.__value);
  return this.__check(IS[name](this.__value), `expected ${shown} to be ${name}`, `expected ${shown} to not be ${name}`);
}));
property("ok", function () {
  const shown = inspect(this.__value);
  return this.__check(this.__value, `expected ${shown} to be truthy`, `expected ${shown} to be falsy`);
});
const exists = function () {
  const shown = inspect(this.__value);
  const found = this.__value !== null && this.__value !== undefined;
  return this.__check(found, `expected ${shown} to exist`, `expected ${shown} to not exist`);
};
property("exist", exists);
property("exists", exists);
property("empty", function () {
  const value = this.__value;
  const type = typeOf(value);
  if (["null", "undefined", "number", "boolean", "function"].includes(type)) {
    throw new TypeError(`.empty was passed non-string primitive ${inspect(value)}`);
  }
  const size = typeof value === "string" || Array.isArray(value) ? value.length : value.size ?? Object.keys(value).length;
  return this.__check(size === 0, `expected ${inspect(value)} to be empty`, `expected ${inspect(value)} not to be empty`);
});

chainable(["a", "an"], function (type, message) {
  if (message) this.__message = message;
  const name = String(type).toLowerCase();
  const article = "aeiou".includes(name[0]) ? "an" : "a";
  const shown = inspect(this.__value);
  return this.__check(typeOf(this.__value) === name, `expected ${shown} to be ${article} ${name}`,
    `expected ${shown} not to be ${article} ${name}`);
});

chainable(["include", "includes", "contain", "contains"], function (wanted, message) {
  if (message) this.__message = message;
  const value = this.__value;
  let holds;
  switch (typeOf(value)) {
    case "string": holds = value.includes(wanted); break;
    case "array": holds = value.some((item) => this.__same(item, wanted)); break;
    case "set": case "map": holds = [...value.values()].some((item) => this.__same(item, wanted)); break;
    default:
      if (value === null || typeof value !== "object" && typeof value !== "function") {
        throw new AssertionError(`object tested must be an array, a map, an object, a set, a string, or a weakset, but ${typeOf(value)} given`);
      }
      holds = Object.keys(wanted).every((key) => {
        const at = this.__flags.nested ? nestedValue(value, key) : { found: key in value, value: value[key] };
        return at.found && this.__same(at.value, wanted[key]);
      });
  }
  const deep = this.__flags.deep ? "deep " : "";
  return this.__check(holds, `expected ${inspect(value)} to ${deep}include ${inspect(wanted)}`,
    `expected ${inspect(value)} to not ${deep}include ${inspect(wanted)}`);
}, "contains");

methods(["equal", "equals", "eq"], function (wanted, message) {
  if (message) this.__message = message;
  if (this.__flags.deep) return this.eql(wanted);
  return this.__check(this.__value === wanted, `expected ${inspect(this.__value)} to equal ${inspect(wanted)}`,
    `expected ${inspect(this.__value)} to not equal ${inspect(wanted)}`);
});
methods(["eql", "eqls"], function (wanted, message) {
  if (message) this.__message = message;
  return this.__check(deepEqual(this.__value, wanted), `expected ${inspect(this.__value)} to deeply equal ${inspect(wanted)}`,
    `expected ${inspect(this.__value)} to not deeply equal ${inspect(wanted)}`);
});

const COMPARISONS = [
  [["above", "gt", "greaterThan"], (a, b) => a > b, "above", "at most"],
  [["least", "gte", "greaterThanOrEqual"], (a, b) => a >= b, "at least", "below"],
  [["below", "lt", "lessThan"], (a, b) => a < b, "below", "at least"],
  [["most", "lte", "lessThanOrEqual"], (a, b) => a <= b, "at most", "above"],
];
for (const [names, compare, text, negated] of COMPARISONS) {
  methods(names, function (bound, message) {
    if (message) this.__message = message;
    const isLength = this.__flags.length;
    const value = isLength ? lengthOf(this.__value) : this.__value;
    const types = [typeOf(value), typeOf(bound)];
    if (!["number", "date"].includes(types[0])) throw new AssertionError(`expected ${inspect(value)} to be a number or a date`);
    if (types[1] !== types[0]) throw new AssertionError(`the argument to ${names[0]} must be a ${types[0]}`);
    const shown = isLength ? `${inspect(this.__value)} to have a length` : `${inspect(value)} to be`;
    const got = isLength ? ` but got ${value}` : "";
    return this.__check(compare(value, bound), `expected ${shown} ${text} ${inspect(bound)}${got}`,
      `expected ${shown} ${negated} ${inspect(bound)}`);
  });
}
methods(["within"], function (low, high, message) {
  if (message) this.__message = message;
  const value = this.__flags.length ? lengthOf(this.__value) : this.__value;
  const shown = this.__flags.length ? `${inspect(this.__value)} to have a length` : `${inspect(value)} to be`;
  return this.__check(value >= low && value <= high, `expected ${shown} within ${low}..${high}`,
    `expected ${shown.replace(/ to /, " to not ")} within ${low}..${high}`);
});
methods(["closeTo", "approximately"], function (wanted, delta, message) {
  if (message) this.__message = message;
  const text = `be close to ${wanted} +/- ${delta}`;
  return this.__check(Math.abs(this.__value - wanted) <= delta, `expected ${inspect(this.__value)} to ${text}`,
    `expected ${inspect(this.__value)} not to ${text}`);
});

function lengthOf(value) {
  const length = value === null || value === undefined ? undefined : value.length ?? value.size;
  if (length === undefined) throw new AssertionError(`expected ${inspect(value)} to have property 'length'`);
  return length;
}
chainable(["length", "lengthOf"], function (wanted, message) {
  if (message) this.__message = message;
  const length = lengthOf(this.__value);
  const shown = inspect(this.__value);
  return this.__check(length === wanted, `expected ${shown} to have a length of ${wanted} but got ${length}`,
    `expected ${shown} to not have a length of ${wanted}`);
}, "length");

methods(["property", "ownProperty", "haveOwnProperty"], function (name, ...rest) {
  const value = this.__value;
  if (value === null || value === undefined) throw new AssertionError("Target cannot be null or undefined.");
  const at = this.__flags.nested ? nestedValue(value, name)
    : { found: this.__flags.own ? Object.hasOwn(value, name) : name in Object(value), value: value[name] };
  const kind = `${this.__flags.deep ? "deep " : ""}${this.__flags.nested ? "nested " : ""}${this.__flags.own ? "own " : ""}property ${inspect(name)}`;
  const shown = inspect(value);
  if (rest.length === 0) {
    this.__check(at.found, `expected ${shown} to have ${kind}`, `expected ${shown} to not have ${kind}`);
  } else {
    const wanted = rest[0];
    if (!at.found && !this.__flags.not) throw new AssertionError(`expected ${shown} to have ${kind}`);
    this.__check(at.found && this.__same(at.value, wanted),
      `expected ${shown} to have ${kind} of ${inspect(wanted)}, but got ${inspect(at.value)}`,
      `expected ${shown} to not have ${kind} of ${inspect(wanted)}`);
  }
  return this.__flags.not ? wrap(this) : this.__on(at.value);
});
methods(["match", "matches"], function (pattern, message) {
  if (message) this.__message = message;
  return this.__check(pattern.exec(this.__value), `expected ${inspect(this.__value)} to match ${pattern}`,
    `expected ${inspect(this.__value)} not to match ${pattern}`);
});
methods(["string"], function (text, message) {
  if (message) this.__message = message;
  return this.__check(typeof this.__value === "string" && this.__value.includes(text),
    `expected ${inspect(this.__value)} to contain ${inspect(text)}`, `expected ${inspect(this.__value)} to not contain ${inspect(text)}`);
});
methods(["keys", "key"], function (...args) {
  const keys = args.length === 1 && typeof args[0] === "object"
    ? Array.isArray(args[0]) ? args[0] : Object.keys(args[0]) : args;
  if (keys.length === 0) throw new AssertionError("keys required");
  const value = this.__value;
  const actual = value instanceof Map || value instanceof Set ? [...value.keys()] : Object.keys(value);
  const present = keys.filter((key) => actual.some((name) => deepEqual(name, typeOf(value) === "map" ? key : String(key))));
  const holds = this.__flags.any ? present.length > 0
    : present.length === keys.length && (this.__flags.contains || actual.length === keys.length);
  const list = keys.map((key) => inspect(key)).join(", ");
  const verb = this.__flags.contains ? "contain" : "have";
  const text = `${verb} ${keys.length > 1 ? "keys" : "key"} ${list}`;
  return this.__check(holds, `expected ${inspect(value)} to ${text}`, `expected ${inspect(value)} to not ${text}`);
});
methods(["members"], function (wanted, message) {
  if (message) this.__message = message;
  const rest = [...this.__value];
  const same = (a, b) => this.__same(a, b);
  const holds = this.__flags.ordered
    ? wanted.every((item, at) => same(rest[at], item)) && (this.__flags.contains || rest.length === wanted.length)
    : wanted.every((item) => {
      const at = rest.findIndex((other) => same(other, item));
      if (at >= 0 && !this.__flags.contains) rest.splice(at, 1);
      return at >= 0;
    }) && (this.__flags.contains || rest.length === 0);
  const text = this.__flags.contains ? "be a superset of" : `have the same ${this.__flags.ordered ? "ordered " : ""}members as`;
  return this.__check(holds, `expected ${inspect(this.__value)} to ${text} ${inspect(wanted)}`,
    `expected ${inspect(this.__value)} to not ${text} ${inspect(wanted)}`);
});
methods(["oneOf"], function (list, message) {
  if (message) this.__message = message;
  const value = this.__value;
  const holds = this.__flags.contains ? list.some((item) => value.includes(item)) : list.some((item) => this.__same(value, item));
  const text = `be one of ${inspect(list)}`;
  return this.__check(holds, `expected ${inspect(value)} to ${text}`, `expected ${inspect(value)} to not ${text}`);
});
methods(["satisfy", "satisfies"], function (predicate, message) {
  if (message) this.__message = message;
  return this.__check(predicate(this.__value), `expected ${inspect(this.__value)} to satisfy ${inspect(predicate)}`,
    `expected ${inspect(this.__value)} to not satisfy ${inspect(predicate)}`);
});
methods(["instanceof", "instanceOf"], function (constructor, message) {
  if (message) this.__message = message;
  return this.__check(this.__value instanceof constructor, `expected ${inspect(this.__value)} to be an instance of ${constructor.name}`,
    `expected ${inspect(this.__value)} to not be an instance of ${constructor.name}`);
});
methods(["respondTo", "respondsTo"], function (name) {
  const target = typeof this.__value === "function" && !this.__flags.itself ? this.__value.prototype : this.__value;
  return this.__check(typeof target[name] === "function", `expected ${inspect(this.__value)} to respond to ${inspect(name)}`,
    `expected ${inspect(this.__value)} to not respond to ${inspect(name)}`);
});
methods(["throw", "throws", "Throw"], function (expected, text) {
  let thrown;
  let threw = false;
  try { this.__value(); } catch (error) { thrown = error; threw = true; }
  const message = thrown && thrown.message !== undefined ? thrown.message : String(thrown);
  const matches = (pattern) => pattern === undefined || (pattern instanceof RegExp ? pattern.test(message) : message.includes(pattern));
  const isKind = typeof expected === "function" ? thrown instanceof expected && matches(text) : expected instanceof Error ? thrown === expected : matches(expected);
  const wanted = expected === undefined ? "an error" : typeof expected === "function" ? expected.name : inspect(expected);
  const got = threw ? ` but ${inspect(thrown)} was thrown` : "";
  return this.__check(threw && isKind, `expected ${inspect(this.__value)} to throw ${wanted}${got}`,
    `expected ${inspect(this.__value)} to not throw ${wanted}${got}`);
});

function expect(value, message) { return wrap(new Assertion(value, message)); }
expect.fail = (message) => { throw new AssertionError(typeof message === "string" ? message : "expect.fail()"); };
