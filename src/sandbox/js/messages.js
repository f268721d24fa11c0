// Requests and responses as scripts see them: `pm.request` and `pm.response`.

/** A list of header fields or parameters; names are compared without case where `ignoreCase` is set. */
class PropertyList {
  constructor(entries, ignoreCase) {
    this.__entries = (entries || []).map((entry) => ({ ...entry }));
    this.__ignoreCase = ignoreCase;
  }

  __is(entry, name) {
    const key = String(entry.key);
    return this.__ignoreCase ? key.toLowerCase() === String(name).toLowerCase() : key === String(name);
  }

  __active() { return this.__entries.filter((entry) => !entry.disabled); }

  one(name) { return [...this.__active()].reverse().find((entry) => this.__is(entry, name)); }

  get(name) { const entry = this.one(name); return entry && entry.value; }

  has(name, value) {
    return this.__active().some((entry) => this.__is(entry, name) && (value === undefined || entry.value === value));
  }

  all() { return this.__entries.map((entry) => ({ ...entry })); }

  count() { return this.__entries.length; }

  idx(at) { return this.__entries[at]; }

  add(entry) { this.__entries.push(this.__parse(entry)); }

  append(entry) { this.add(entry); }

  insert(entry) { this.add(entry); }

  prepend(entry) { this.__entries.unshift(this.__parse(entry)); }

  __parse(entry) {
    if (typeof entry !== "string") return { ...entry, value: entry.value === undefined ? undefined : String(entry.value) };
    const at = entry.indexOf(":");
    return at < 0 ? { key: entry, value: "" } : { key: entry.slice(0, at).trim(), value: entry.slice(at + 1).trim() };
  }

  upsert(entry) {
    const parsed = this.__parse(entry);
    const old = this.__entries.find((other) => this.__is(other, parsed.key));
    if (old) Object.assign(old, parsed); else this.__entries.push(parsed);
  }

  remove(which) {
    const matches = typeof which === "function" ? which : (entry) => this.__is(entry, which && which.key !== undefined ? which.key : which);
    this.__entries = this.__entries.filter((entry) => !matches(entry));
  }

  clear() { this.__entries = []; }

  each(callback) { this.all().forEach((entry) => callback(entry)); }

  map(callback) { return this.all().map((entry) => callback(entry)); }

  filter(callback) { return this.all().filter((entry) => callback(entry)); }

  find(callback) { return this.all().find((entry) => callback(entry)); }

  reduce(callback, start) { return this.all().reduce(callback, start); }

  toObject() { return Object.fromEntries(this.__active().map((entry) => [entry.key, entry.value])); }

  toString() { return this.__active().map((entry) => `${entry.key}: ${entry.value}`).join("\n"); }

  toJSON() { return this.all(); }
}

/** The URL of a request. Its parts are those of the collection; texts are taken apart at the first use. */
class RequestUrl {
  constructor(source) {
    Object.assign(this, typeof source === "string" ? parseUrl(source) : { ...source });
    if (typeof this.host === "string") this.host = this.host.split(".");
    if (typeof this.path === "string") this.path = this.path.replace(/^\//, "").split("/");
    if (!this.host && typeof this.raw === "string") Object.assign(this, { ...parseUrl(this.raw), variable: this.variable });
    this.query = new PropertyList(Array.isArray(this.query) ? this.query : [], false);
    this.variables = new PropertyList(Array.isArray(this.variable) ? this.variable : [], false);
    delete this.variable;
  }

  getHost() { return (this.host || []).join("."); }

  getPath() {
    const values = this.variables.toObject();
    const parts = (this.path || []).map((part) => (typeof part === "object" ? part.value : part));
    return `/${parts.map((part) => (part[0] === ":" && part.slice(1) in values ? values[part.slice(1)] : part)).join("/")}`;
  }

  getQueryString() {
    return this.query.filter((entry) => !entry.disabled)
      .map(({ key, value }) => (value === null || value === undefined ? key : `${key}=${value}`)).join("&");
  }

  getPathWithQuery() { const query = this.getQueryString(); return this.getPath() + (query ? `?${query}` : ""); }

  getRemote() { return this.getHost() + (this.port ? `:${this.port}` : ""); }

  addQueryParams(params) { (typeof params === "string" ? parseQuery(params) : [].concat(params)).forEach((entry) => this.query.add(entry)); }

  removeQueryParams(names) { [].concat(names).forEach((name) => this.query.remove(name)); }

  update(source) { Object.keys(this).forEach((key) => delete this[key]); Object.assign(this, new RequestUrl(source)); }

  toString() {
    const path = this.path ? this.getPath() : "";
    const query = this.getQueryString();
    return `${this.protocol ? `${this.protocol}://` : ""}${this.getRemote()}${path}${query ? `?${query}` : ""}${this.hash ? `#${this.hash}` : ""}`;
  }

  toJSON() {
    const { query, variables, ...parts } = this;
    return { ...parts, raw: this.toString(), query: query.all(), variable: variables.all() };
  }
}

function parseQuery(text) {
  return text.split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? { key: part, value: null } : { key: part.slice(0, at), value: part.slice(at + 1) };
  });
}

function parseUrl(text) {
  const parts = /^(?:([^:/?#{}]+):\/\/)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(?:#(.*))?$/s.exec(text.trim()) || [];
  const [, protocol, authority = "", path, query, hash] = parts;
  const port = /:(\d+|\{\{[^{}]*\}\})$/.exec(authority);
  const host = port ? authority.slice(0, port.index) : authority;
  return {
    raw: text,
    protocol,
    host: host.split("."),
    port: port ? port[1] : undefined,
    path: path === undefined ? undefined : path.slice(1).split("/"),
    query: query ? parseQuery(query) : [],
    hash,
  };
}

/** The body of a request. */
class RequestBody {
  constructor(source) { this.update(source); }

  update(source) { Object.assign(this, typeof source === "string" ? { mode: "raw", raw: source } : source || {}); }

  isEmpty() { return !this.mode || this[this.mode] === undefined || this[this.mode] === ""; }

  toString() {
    const content = this[this.mode];
    if (typeof content === "string") return content;
    if (this.mode === "urlencoded") {
      return (content || []).filter((entry) => !entry.disabled).map(({ key, value }) => `${key}=${value}`).join("&");
    }
    return content === undefined ? "" : JSON.stringify(content);
  }
}

/** A request: that of the item in prerequest scripts, the one that was sent in test scripts. */
class Request {
  constructor(source) {
    const { url, method, header, body, ...rest } = typeof source === "string" ? { url: source } : source || {};
    Object.assign(this, rest);
    this.url = new RequestUrl(url || "");
    this.method = String(method || "GET").toUpperCase();
    const entries = typeof header === "string" ? header.split("\n").filter(Boolean).map((line) => PropertyList.prototype.__parse(line))
      : header && !Array.isArray(header) ? Object.entries(header).map(([key, value]) => ({ key, value: String(value) })) : header;
    this.headers = new PropertyList(entries, true);
    this.body = body === undefined || body === null ? undefined : new RequestBody(body);
  }

  addHeader(entry) { this.headers.add(entry); }

  upsertHeader(entry) { this.headers.upsert(entry); }

  removeHeader(name) { this.headers.remove(name); }

  getHeaders() { return this.headers.toObject(); }

  addQueryParams(params) { this.url.addQueryParams(params); }

  removeQueryParams(names) { this.url.removeQueryParams(names); }

  forEachHeader(callback) { this.headers.each(callback); }

  toJSON() {
    const { headers, to, ...rest } = this;
    return { ...rest, header: headers.all() };
  }
}

/** A response. */
class Response {
  constructor({ code, status, headers, body, responseTime, responseSize, cookies }) {
    this.code = code;
    this.status = status;
    this.headers = new PropertyList(headers, true);
    this.responseTime = responseTime;
    this.responseSize = responseSize;
    this.cookies = new CookieList(cookies);
    Object.defineProperty(this, "__body", { value: body });
    Object.defineProperty(this, "to", { get: () => responseExpectations(this) });
  }

  text() { return this.__body; }

  get stream() { return { toString: () => this.__body, length: this.responseSize }; }

  reason() { return this.status; }

  size() { return { body: this.responseSize, header: this.headers.toString().length, total: this.responseSize + this.headers.toString().length }; }

  json(reviver) {
    try {
      return JSON.parse(this.__body.replace(/^\uFEFF/, ""), reviver);
    } catch (error) {
      throw new SyntaxError(`the response is not JSON: ${error.message}`);
    }
  }

  contentInfo() {
    const type = String(this.headers.get("content-type") || "text/plain");
    return { mimeType: type.split(";")[0].trim(), charset: (/charset=([^;\s]+)/i.exec(type) || [])[1] || "utf8" };
  }

  toJSON() {
    return { code: this.code, status: this.status, header: this.headers.all(), body: this.__body, responseTime: this.responseTime };
  }
}

/** The cookies that apply to the URL of the request. */
class CookieList {
  constructor(entries) { this.__entries = (entries || []).map(([name, value]) => ({ name, value, key: name })); }

  get(name) { const cookie = this.__entries.find((entry) => entry.name === name); return cookie && cookie.value; }

  has(name) { return this.__entries.some((entry) => entry.name === name); }

  one(name) { return this.__entries.find((entry) => entry.name === name); }

  all() { return this.__entries.map((entry) => ({ ...entry })); }

  each(callback) { this.all().forEach((entry) => callback(entry)); }

  toObject() { return Object.fromEntries(this.__entries.map(({ name, value }) => [name, value])); }

  jar() { return new CookieJar(); }
}

/** All cookies of the run, at any URL. Each call is answered after the script has returned to the host. */
class CookieJar {
  __call(action, url, parts, callback) {
    const promise = hostOperation({ kind: "cookie", action, url: String(url), ...parts });
    if (typeof callback !== "function") return promise;
    promise.then((value) => callback(null, value), (error) => callback(error));
    return undefined;
  }

  get(url, name, callback) { return this.__call("get", url, { name }, callback); }

  getAll(url, options, callback) { return this.__call("getAll", url, {}, typeof options === "function" ? options : callback); }

  set(url, name, value, callback) {
    const [cookie, done] = typeof name === "object" ? [name, value] : [{ name, value }, callback];
    return this.__call("set", url, { name: cookie.name, value: String(cookie.value) }, typeof value === "function" ? value : done);
  }

  unset(url, name, callback) { return this.__call("unset", url, { name }, callback); }

  clear(url, callback) { return this.__call("clear", url, {}, callback); }
}
