// The globals of scripts: `pm`, `console`, timers, `require`, and the older `postman`, `tests` and `responseBody`.

/** Packages that scripts may `require`; all stand in one vendored bundle, which is loaded at the first use. */
const PACKAGES = ["ajv", "assert", "atob", "backbone", "btoa", "buffer", "chai", "cheerio", "crypto-js", "csv-parse/lib/sync",
  "events", "lodash", "moment", "path", "postman-collection", "punycode", "querystring", "stream", "string_decoder", "timers",
  "tv4", "url", "util", "uuid", "xml2js"];

let bundle = null;

function libraries(name) {
  if (!PACKAGES.includes(name)) throw new Error(`Cannot find package '${name}'`);
  bundle ??= __loadBundle();
  return bundle(name);
}

function test(name, body) {
  if (typeof body !== "function") { recordTest(name, null, false); return pm(); }
  if (body.length > 0) {
    const end = beginTest(name);
    const done = (error) => end(error || null);
    try { body(done); } catch (error) { done(error); }
    return pm();
  }
  let result;
  try { result = body(); } catch (error) { recordTest(name, error, false); return pm(); }
  if (result && typeof result.then === "function") {
    const end = beginTest(name);
    result.then(() => end(null), (error) => end(error || new Error("rejected")));
  } else {
    recordTest(name, null, false);
  }
  return pm();
}
test.skip = (name) => { recordTest(name, null, true); return pm(); };
test.index = () => run.tests.length;

function sendRequest(request, callback) {
  const promise = request ? hostOperation({ kind: "request", request: JSON.parse(JSON.stringify(new Request(request))) })
    : Promise.reject(new Error("sendrequest: nothing to request"));
  if (typeof callback !== "function") return promise;
  promise.then((response) => callback(null, response), (error) => callback(error)).catch(onScriptError);
  return undefined;
}

function notAvailable(name) {
  return () => { throw new Error(`${name} is not available in a monitor`); };
}

function pm() { return globalThis.pm; }

function scriptGlobals() {
  const { context } = run;
  const { info } = context;
  const location = Object.assign([...info.location], { current: info.location[info.location.length - 1] });
  const api = {
    info: { eventName: info.event, iteration: info.iteration, iterationCount: info.iterationCount, requestName: info.requestName, requestId: info.requestId },
    globals: run.globals,
    environment: Object.assign(run.environment, { name: info.environmentName }),
    collectionVariables: run.collection,
    variables: run.local,
    iterationData: run.data,
    request: run.request,
    cookies: new CookieList(context.cookies),
    test,
    expect,
    sendRequest,
    execution: {
      location,
      setNextRequest(name) { run.next = name === undefined ? undefined : name === null ? null : String(name); },
      skipRequest() {
        if (info.event !== "prerequest") throw new TypeError("pm.execution.skipRequest is not a function");
        run.isSkipped = true;
        throw new SkipSignal();
      },
      runRequest: notAvailable("pm.execution.runRequest"),
    },
    require: (name) => libraries(name),
    visualizer: { set() {}, clear() {} },
    vault: { get: notAvailable("pm.vault"), set: notAvailable("pm.vault"), unset: notAvailable("pm.vault") },
    datasets: notAvailable("pm.datasets"),
  };
  if (run.response) api.response = run.response;
  return {
    pm: api,
    console: consoleObject,
    require: libraries,
    setTimeout: (callback, delay, ...args) => startTimer(callback, delay, args),
    setInterval: (callback, delay, ...args) => startTimer(callback, delay, args, Math.max(0, Number(delay) || 0)),
    setImmediate: (callback, ...args) => startTimer(callback, 0, args),
    clearTimeout: (id) => { timers.delete(id); },
    clearInterval: (id) => { timers.delete(id); },
    clearImmediate: (id) => { timers.delete(id); },
    ...legacyGlobals(),
  };
}

/** Globals of scripts written before `pm`; packages among them load at their first use. */
function legacyGlobals() {
  const { response, request } = run;
  const globals = {
    postman: {
      setEnvironmentVariable: (name, value) => run.environment.set(name, value),
      getEnvironmentVariable: (name) => run.environment.get(name),
      clearEnvironmentVariable: (name) => run.environment.unset(name),
      clearEnvironmentVariables: () => run.environment.clear(),
      setGlobalVariable: (name, value) => run.globals.set(name, value),
      getGlobalVariable: (name) => run.globals.get(name),
      clearGlobalVariable: (name) => run.globals.unset(name),
      clearGlobalVariables: () => run.globals.clear(),
      setNextRequest: (name) => { run.next = name === null || name === undefined ? null : String(name); },
      getResponseHeader: (name) => response && response.headers.get(name),
      getResponseCookie: (name) => new CookieList(run.context.cookies).one(name),
    },
    tests: {},
    environment: run.environment.toObject(),
    globals: run.globals.toObject(),
    data: run.data.toObject(),
    iteration: run.context.info.iteration,
    request: { url: request.url.toString(), method: request.method, headers: request.headers.toObject(), data: request.body ? request.body.toString() : {} },
    xml2Json: (text) => xmlToObject(text),
    atob: (text) => __atob(String(text)),
    btoa: (text) => __btoa(String(text)),
  };
  if (response) {
    globals.responseBody = response.text();
    globals.responseCode = { code: response.code, name: response.status, detail: "" };
    globals.responseHeaders = response.headers.toObject();
    globals.responseTime = response.responseTime;
    globals.responseCookies = new CookieList(run.context.cookies).all();
  }
  defineLazily({ _: "lodash", CryptoJS: "crypto-js", tv4: "tv4", cheerio: "cheerio", Backbone: "backbone", Buffer: "buffer" });
  return globals;
}

function defineLazily(packages) {
  for (const [name, packageName] of Object.entries(packages)) {
    const load = () => (name === "Buffer" ? libraries(packageName).Buffer : libraries(packageName));
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        const value = load();
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
        return value;
      },
      set(value) { Object.defineProperty(globalThis, name, { value, writable: true, configurable: true }); },
    });
  }
}

function xmlToObject(text) {
  let result = {};
  libraries("xml2js").parseString(text, { explicitArray: false, async: false, trim: true, mergeAttrs: false }, (_, value) => { result = value; });
  return result;
}

/** Turns `tests["name"] = value` into tests. */
function finishLegacyTests() {
  const legacy = globalThis.tests;
  if (legacy === null || typeof legacy !== "object") return;
  for (const name of Object.keys(legacy)) {
    const holds = Boolean(legacy[name]);
    recordTest(name, holds ? null : new AssertionError("expected false to be truthy"), false);
  }
}

names.add("__host");
Object.defineProperty(globalThis, "__host", { value: Object.freeze({ begin, start, poll, answer, tick, finish, rejected }) });
