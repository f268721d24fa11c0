// What the player asks of a page, as the body of a function: one question in, one answer out. Nothing of it
// stays in the page but the marks of `watch`, which are taken away when they were read.
const [ask] = arguments;
const squeeze = (text) => (text || '').replace(/\s+/g, ' ').trim();
const root = document.documentElement;
// Scripts of a driver share nothing with each other but the document.
const MARK = 'data-vigie-mark';

// Whether a person sees it.
const seen = (element) => {
  if (element.checkVisibility && !element.checkVisibility({ visibilityProperty: true })) return false;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 || element.getClientRects().length > 0;
};
const usable = (element) => seen(element) && !element.matches(':disabled');

const byXPath = (expression) => {
  const kind = XPathResult.ORDERED_NODE_SNAPSHOT_TYPE;
  const found = document.evaluate(expression, document, null, kind, null);
  const elements = [];
  for (let at = 0; at < found.snapshotLength; at++) {
    const node = found.snapshotItem(at);
    if (node.nodeType === Node.ELEMENT_NODE) elements.push(node);
  }
  return elements;
};

// The innermost elements that show exactly this text.
const byText = (text) => {
  const wanted = squeeze(text);
  const found = new Set();
  const walker = document.createTreeWalker(document.body || root, NodeFilter.SHOW_TEXT);
  // A text may be cut in pieces by elements within: those around a piece of it are looked at too, a few levels up.
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const piece = squeeze(node.data);
    if (!piece || !wanted.includes(piece)) continue;
    let around = node.parentElement;
    for (let level = 0; around && level < 6; level++, around = around.parentElement) {
      const whole = squeeze(around.textContent.slice(0, 4 * wanted.length + 1000));
      if (whole === wanted) { found.add(around); break; }
      if (whole.length > wanted.length) break;
    }
  }
  const quiet = (element) => !['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE'].includes(element.tagName);
  return [...found].filter(quiet);
};

// Lists as the browser has them: an array would be an object for each of a million elements.
const matches = ({ by, value }) => {
  switch (by) {
    case 'id': return document.querySelectorAll('#' + CSS.escape(value));
    case 'css': return document.querySelectorAll(value);
    case 'xpath': return byXPath(value);
    case 'name': return document.querySelectorAll('[name="' + CSS.escape(value) + '"]');
    case 'link': return [...document.querySelectorAll('a')].filter((a) => squeeze(a.innerText || a.textContent) === squeeze(value));
    case 'text': return byText(value);
  }
  return [];
};

// The element of several locators: of the first that matches one alone, else of the best of all that match.
const find = (locators) => {
  const scores = new Map();
  let most = 0;
  for (const locator of locators) {
    let found;
    try { found = matches(locator); } catch (error) { return { bad: `${locator.by} \`${locator.value}\`: ${error.message}` }; }
    if (found.length === 1) return { element: found[0], by: locator.by };
    most = Math.max(most, found.length);
    if (found.length > 1000) continue;
    for (const element of found) scores.set(element, (scores.get(element) || 0) + 1 / found.length);
  }
  if (most === 0) return { none: true };
  const visible = [...scores].filter(([element]) => seen(element));
  const ranked = (visible.length ? visible : [...scores]).sort((a, b) => b[1] - a[1]);
  const [best, second] = ranked;
  // Two locators that meet in one element say as much as one that matches it alone.
  if (best && best[1] >= 0.75 && (!second || second[1] < best[1])) return { element: best[0], by: 'score' };
  return { weak: most };
};

const stateHolds = (found, state) => {
  switch (state) {
    case 'absent': return Boolean(found.none);
    case 'hidden': return Boolean(found.none) || Boolean(found.element && !seen(found.element));
    case 'present': return Boolean(found.element);
    case 'visible': return Boolean(found.element && seen(found.element));
    case 'enabled': return Boolean(found.element && usable(found.element));
  }
  return false;
};

// A number that tells texts apart, so that a long one needs not be sent to be compared.
const sum = (text) => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
// A text, done when it is another one than that which was seen last.
const told = (text) => {
  const cut = text.slice(0, ask.longest);
  const now = sum(cut);
  return now === ask.last ? { done: false, last: now } : { done: true, last: now, text: cut };
};

const answers = {
  // The element, once it is in the state that is asked for.
  element() {
    const found = find(ask.locators);
    if (found.bad) return { done: true, bad: found.bad };
    const done = stateHolds(found, ask.state);
    const { element = null, weak = 0, none = false } = found;
    return { done, element, weak, none, seen: Boolean(element && seen(element)) };
  },
  text() {
    if (!ask.locators) return told(squeeze(document.body ? document.body.innerText : root.textContent));
    const found = find(ask.locators);
    if (found.bad) return { done: true, bad: found.bad };
    if (!found.element) return { done: false, none: Boolean(found.none), weak: found.weak || 0 };
    return told(squeeze(found.element.innerText ?? found.element.textContent));
  },
  // An attribute, or what stands in a field.
  attribute() {
    const found = find(ask.locators);
    if (found.bad) return { done: true, bad: found.bad };
    if (!found.element) return { done: false, none: Boolean(found.none), weak: found.weak || 0 };
    const value = ask.name === undefined ? found.element.value : found.element.getAttribute(ask.name);
    return value === null || value === undefined ? { done: false, lacking: true } : told(String(value));
  },
  count() {
    try { return told(String(matches(ask.locators[0]).length)); } catch (error) { return { done: true, bad: error.message }; }
  },
  url: () => told(location.href),
  title: () => told(squeeze(document.title)),
  source() {
    const kind = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\n` : '';
    return told(kind + (root ? root.outerHTML : ''));
  },
  // The page as far as it can change, of which only the number is wanted. Drivers touch styles and put them back.
  shape() {
    const { done, last } = told(root ? root.outerHTML.replaceAll(' style=""', '') : '');
    return { done, last, text: '' };
  },
  // Whether what `watch` waits for came; a page that was left since then took its marks along.
  noticed() {
    const mark = root.getAttribute(MARK);
    const done = mark !== 'waiting';
    if (done) root.removeAttribute(MARK);
    return { done };
  },
};

// Notes an event from now on.
if (ask.what === 'watch') {
  root.setAttribute(MARK, 'waiting');
  document.addEventListener(ask.event, () => { root.setAttribute(MARK, 'came'); }, { capture: true, once: true });
  return { done: true };
}

const answer = () => answers[ask.what]();
const first = answer();
if (first.done || !ask.within) return first;
return new Promise((resolve) => {
  const ends = performance.now() + ask.within;
  let due = false, over = false;
  const look = () => {
    due = false;
    if (over) return;
    let now;
    try { now = answer(); } catch (error) { now = { done: true, bad: error.message }; }
    if (now.done || performance.now() >= ends) {
      over = true;
      observer.disconnect();
      clearInterval(timer);
      resolve(now);
    }
  };
  const soon = () => { if (!due && !over) { due = true; setTimeout(look, 10); } };
  const observer = new MutationObserver(soon);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // Styles, values of fields and addresses change without a mutation.
  const timer = setInterval(look, 100);
  setTimeout(look, ask.within);
});
