// What the host calls, and what scripts ask of it: timers, requests and cookies are answered between two turns.

/** Longest text that a script may write to the console, in characters. */
const MAX_CONSOLE_CHARS = 256 * 1024;

/** Operations asked of the host since the last turn. */
let newOperations = [];
/** Operations without an answer, by id. */
const openOperations = new Map();
/** Timers that run, by id. */
const timers = new Map();
/** Promises that were rejected and that nothing handles, with their reasons. */
const unhandled = new Map();
let nextId = 1;
/** The script in progress; a new object for each. */
let run = null;
const names = new Set(Object.getOwnPropertyNames(globalThis));

function hostOperation(operation) {
  const id = nextId;
  nextId += 1;
  newOperations.push({ id, ...operation });
  return new Promise((resolve, reject) => openOperations.set(id, { resolve, reject }));
}

function hostDynamicValue(name) { return __dynamicValue(name) ?? undefined; }

function startTimer(callback, delay, args, interval) {
  if (typeof callback !== "function") return undefined;
  const id = nextId;
  nextId += 1;
  timers.set(id, { callback, args, due: run.now + Math.max(0, Number(delay) || 0), interval, order: id });
  return id;
}

/** Removes what an earlier script left on the global object. */
function clearGlobals() {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!names.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}

/** Notes a test that ends later; the function that is returned tells how. */
function beginTest(name) {
  const pending = { name };
  run.pending.add(pending);
  return (error) => { if (run.pending.delete(pending)) recordTest(name, error, false); };
}

function recordTest(name, error, skipped) {
  const test = { name: String(name), passed: !error, skipped: Boolean(skipped) };
  if (error) test.error = describeError(error);
  run.tests.push(test);
}

function describeError(error) {
  if (error === null || typeof error !== "object") return { name: "Error", message: String(error) };
  const line = /script:(\d+)/.exec(String(error.stack || ""));
  return { name: String(error.name || "Error"), message: String(error.message), line: line ? Number(line[1]) : undefined };
}

function recordError(error) {
  if (run.isSkipped) return;
  if (!run.error) run.error = describeError(error);
}

function log(level, values) {
  const text = values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ");
  const room = MAX_CONSOLE_CHARS - run.consoleChars;
  if (room <= 0) return;
  run.consoleChars += text.length;
  run.console.push({ level, text: text.length > room ? `${text.slice(0, room)}…` : text });
}

const consoleObject = Object.fromEntries(["log", "info", "warn", "error", "debug", "trace"]
  .map((level) => [level, (...values) => log(level, values)]).concat([["clear", () => {}]]));

/** Thrown by `skipRequest`, so that the rest of the script does not run. */
class SkipSignal {}

function begin(contextText, now) {
  clearGlobals();
  timers.clear();
  openOperations.clear();
  unhandled.clear();
  newOperations = [];
  const context = JSON.parse(contextText);
  const { scopes } = context;
  run = {
    context, now, tests: [], console: [], consoleChars: 0, error: null, next: undefined, isSkipped: false, pending: new Set(),
  };
  run.globals = new VariableScope(scopes.globals);
  run.collection = new VariableScope(scopes.collection);
  run.environment = new VariableScope(scopes.environment);
  run.data = new VariableScope(scopes.data);
  run.local = new VariableScope(scopes.local, [run.data, run.environment, run.collection, run.globals]);
  run.request = new Request(context.request);
  run.response = context.response ? new Response(context.response) : undefined;
  Object.assign(globalThis, scriptGlobals());
}

/** Runs `script`, a function made of the text of the script. */
function start(script) {
  try {
    const result = script();
    if (result && typeof result.then === "function") result.then(undefined, onScriptError);
  } catch (error) {
    onScriptError(error);
  }
}

function onScriptError(error) {
  if (!(error instanceof SkipSignal)) recordError(error);
}

/** Notes a promise that was rejected; `isHandled` when a handler came later. */
function rejected(promise, reason, isHandled) {
  if (isHandled) unhandled.delete(promise); else unhandled.set(promise, reason);
}

/** Tells what the script waits for. */
function poll() {
  for (const reason of unhandled.values()) onScriptError(reason);
  unhandled.clear();
  const operations = newOperations;
  newOperations = [];
  let next = null;
  for (const timer of timers.values()) next = next === null ? timer.due : Math.min(next, timer.due);
  const isDone = run.isSkipped || run.error !== null || openOperations.size === 0 && timers.size === 0;
  return JSON.stringify({ operations, timer: next, isDone });
}

/** Answers an operation. */
function answer(id, text) {
  const operation = openOperations.get(id);
  openOperations.delete(id);
  if (!operation) return;
  const { error, response, value } = JSON.parse(text);
  if (error !== undefined) operation.reject(new Error(error));
  else operation.resolve(response ? new Response(response) : value);
}

/** Runs the timers that are due. */
function tick(now) {
  run.now = now;
  const due = [...timers].filter(([, timer]) => timer.due <= now).sort(([, a], [, b]) => a.due - b.due || a.order - b.order);
  for (const [id, timer] of due) {
    if (!timers.has(id)) continue;
    if (timer.interval === undefined) timers.delete(id); else timer.due = now + Math.max(1, timer.interval);
    try { timer.callback(...timer.args); } catch (error) { onScriptError(error); }
  }
}

/** Ends the script and returns what it did, as JSON. */
function finish() {
  for (const { name } of run.pending) recordTest(name, new Error("it did not end"), false);
  finishLegacyTests();
  return JSON.stringify({
    tests: run.tests,
    console: run.console,
    error: run.error,
    next: run.next,
    isSkipped: run.isSkipped,
    request: run.request,
    scopes: {
      local: run.local.__entries(),
      environment: run.environment.__entries(),
      collection: run.collection.__entries(),
      globals: run.globals.__entries(),
    },
  });
}
