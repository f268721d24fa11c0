// What may follow `pm.response.to` and `pm.expect(pm.response).to`: statuses, headers, bodies, JSON schemas.

const STATUS_CHECKS = {
  info: ["1XX", (code) => code >= 100 && code < 200],
  success: ["2XX", (code) => code >= 200 && code < 300],
  redirection: ["3XX", (code) => code >= 300 && code < 400],
  clientError: ["4XX", (code) => code >= 400 && code < 500],
  serverError: ["5XX", (code) => code >= 500 && code < 600],
  error: ["4XX or 5XX", (code) => code >= 400 && code < 600],
  ok: ["200", (code) => code === 200],
  accepted: ["202", (code) => code === 202],
  badRequest: ["400", (code) => code === 400],
  unauthorized: ["401", (code) => code === 401],
  forbidden: ["403", (code) => code === 403],
  notFound: ["404", (code) => code === 404],
  rateLimited: ["429", (code) => code === 429],
};

function isResponse(value) { return value instanceof Response; }

/** Replaces a property of the chain for responses, and leaves it as it is for anything else. */
function overrideProperty(name, forResponse) {
  const original = Object.getOwnPropertyDescriptor(Assertion.prototype, name);
  property(name, function () {
    if (isResponse(this.__value)) return forResponse.call(this, this.__value);
    if (original) return original.get.call(this);
    throw new Error(`Invalid Chai property: ${name}`);
  });
}

for (const name of Object.keys(STATUS_CHECKS)) {
  const [wanted, holds] = STATUS_CHECKS[name];
  overrideProperty(name, function (response) {
    return this.__check(holds(response.code), `expected response to have status code ${wanted} but got ${response.code}`,
      `expected response to not have status code ${wanted} but got ${response.code}`);
  });
}
overrideProperty("withBody", function (response) {
  return this.__check(response.text() !== "", "expected response to have content in body", "expected response to not have content in body");
});
overrideProperty("json", function (response) {
  let isJson = true;
  try { response.json(); } catch { isJson = false; }
  return this.__check(isJson, "expected response body to be a valid json", "expected response body not to be a valid json");
});

methods(["status"], function (wanted) {
  const { code, status } = this.__value;
  if (typeof wanted === "number") {
    return this.__check(code === wanted, `expected response to have status code ${wanted} but got ${code}`,
      `expected response to not have status code ${wanted} but got ${code}`);
  }
  return this.__check(status === wanted, `expected response to have status reason ${inspect(wanted)} but got ${inspect(status)}`,
    `expected response to not have status reason ${inspect(wanted)} but got ${inspect(status)}`);
});
methods(["header"], function (name, value) {
  const { headers } = this.__value;
  if (arguments.length < 2) {
    return this.__check(headers.has(name), `expected response to have header with key '${name}'`,
      `expected response to not have header with key '${name}'`);
  }
  if (!headers.has(name)) throw new AssertionError(`expected response to have header with key '${name}'`);
  return this.__check(headers.get(name) === value,
    `expected ${inspect(headers.get(name))} to equal ${inspect(value)} for the response header '${name}'`,
    `expected the response header '${name}' to not be ${inspect(value)}`);
});
methods(["body"], function (wanted) {
  const text = this.__value.text();
  if (arguments.length === 0) {
    return this.__check(text !== "", "expected response to have content in body", "expected response to not have content in body");
  }
  if (wanted instanceof RegExp) {
    return this.__check(wanted.test(text), `expected response body text ${inspect(text)} to match ${wanted}`,
      `expected response body text ${inspect(text)} to not match ${wanted}`);
  }
  const expected = typeof wanted === "string" ? wanted : JSON.stringify(wanted);
  return this.__check(text === expected, `expected response body to equal ${inspect(expected)} but got ${inspect(text)}`,
    `expected response body to not equal ${inspect(expected)}`);
});
methods(["jsonBody"], function (wanted, value) {
  if (arguments.length === 0) return wrap(this).json;
  const body = this.__value.json();
  if (typeof wanted === "object") {
    return this.__check(deepEqual(body, wanted), `expected response body json to equal ${inspect(wanted)} but got ${inspect(body)}`,
      `expected response body json to not equal ${inspect(wanted)}`);
  }
  const at = nestedValue(body, wanted);
  if (arguments.length < 2) {
    return this.__check(at.found, `expected ${inspect(body)} in response to contain property '${wanted}'`,
      `expected ${inspect(body)} in response to not contain property '${wanted}'`);
  }
  return this.__check(at.found && deepEqual(at.value, value),
    `expected response body json at '${wanted}' to contain ${inspect(value)} but got ${inspect(at.value)}`,
    `expected response body json at '${wanted}' to not contain ${inspect(value)}`);
});
methods(["jsonSchema"], function (schema, options) {
  const Ajv = libraries("ajv");
  const validate = new Ajv({ allErrors: true, logger: false, ...options }).compile(schema);
  const value = isResponse(this.__value) ? this.__value.json() : this.__value;
  const holds = validate(value);
  const reasons = (validate.errors || []).map((error) => `data${error.dataPath} ${error.message}`).join(", ");
  return this.__check(holds, `expected data to satisfy schema but found following errors: \n${reasons}`,
    "expected data to not satisfy schema");
});

/** What `pm.response.to` is: the chain on the response itself. */
function responseExpectations(response) { return expect(response).to; }
