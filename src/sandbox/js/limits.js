// Native searches that the engine does not interrupt: those that would take too long are errors instead.

/** Most steps of one search, about a second. */
const MAX_SEARCH_STEPS = 1e9;
/** Longest list that is searched, so that an object that only claims a length cannot hold the engine. */
const MAX_LIST_LENGTH = 1e7;

for (const name of ["indexOf", "lastIndexOf", "includes", "split", "replace", "replaceAll"]) {
  const original = String.prototype[name];
  const call = Function.prototype.call.bind(original);
  Object.defineProperty(String.prototype, name, {
    configurable: true,
    writable: true,
    value: { [name](...args) {
      const [wanted] = args;
      if (!(wanted instanceof RegExp)) {
        const steps = String(this).length * String(wanted).length;
        if (steps > MAX_SEARCH_STEPS) throw new RangeError(`${name} of such long texts takes too long`);
      }
      return call(this, ...args);
    } }[name],
  });
}

for (const name of ["indexOf", "lastIndexOf", "includes", "fill", "reverse", "copyWithin", "find", "findIndex", "findLast",
  "findLastIndex", "every", "some", "forEach", "map", "filter", "reduce", "reduceRight", "join", "sort", "splice", "slice",
  "unshift", "shift", "flat", "flatMap", "toReversed", "toSorted", "toSpliced", "with"]) {
  const original = Array.prototype[name];
  if (typeof original !== "function") continue;
  const call = Function.prototype.call.bind(original);
  Object.defineProperty(Array.prototype, name, {
    configurable: true,
    writable: true,
    value: { [name](...args) {
      if (this !== null && this !== undefined && Number(this.length) > MAX_LIST_LENGTH) {
        throw new RangeError(`${name} of so long a list takes too long`);
      }
      return call(this, ...args);
    } }[name],
  });
}
