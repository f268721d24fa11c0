// The queries of a script to a page, as the body of a function: one query in, one response out. Nothing remains
// in the page but the mark of `watch`, which is removed when it is read. ECMAScript 5, which all browsers support.
var query = arguments[0];
var squeeze = function (text) { return (text || '').replace(/\s+/g, ' ').trim(); };
var root = document.documentElement;
// Scripts of a driver share nothing with each other but the document.
var MARK = 'data-vigie-mark';
var list = function (found) { return Array.prototype.slice.call(found); };

// Whether an element is visible.
var isVisible = function (element) {
  if (element.checkVisibility && !element.checkVisibility({ visibilityProperty: true })) return false;
  var box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 || element.getClientRects().length > 0;
};
var matching = Element.prototype.matches || Element.prototype.msMatchesSelector;
var usable = function (element) { return isVisible(element) && !matching.call(element, ':disabled'); };

var byXPath = function (expression) {
  if (!document.evaluate) throw new Error('this browser knows no XPath');
  var found = document.evaluate(expression, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  var elements = [];
  for (var at = 0; at < found.snapshotLength; at++) {
    var node = found.snapshotItem(at);
    if (node.nodeType === Node.ELEMENT_NODE) elements.push(node);
  }
  return elements;
};

// The innermost elements with exactly this visible text.
var byText = function (text) {
  var expected = squeeze(text), found = [];
  var walker = document.createTreeWalker(document.body || root, NodeFilter.SHOW_TEXT, null, false);
  // Child elements may split a text: for each part of it, ancestors are checked too, up to six levels.
  for (var node = walker.nextNode(); node; node = walker.nextNode()) {
    var part = squeeze(node.data);
    if (!part || expected.indexOf(part) < 0) continue;
    var ancestor = node.parentNode;
    for (var level = 0; ancestor && ancestor.nodeType === Node.ELEMENT_NODE && level < 6; level++, ancestor = ancestor.parentNode) {
      var whole = squeeze(ancestor.textContent.slice(0, 4 * expected.length + 1000));
      // Parts of one element follow each other.
      if (whole === expected) { if (found[found.length - 1] !== ancestor) found.push(ancestor); break; }
      if (whole.length > expected.length) break;
    }
  }
  return found.filter(function (element) { return ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE'].indexOf(element.tagName) < 0; });
};

// The elements whose attribute has this value.
var byAttribute = function (name, value) {
  return document.querySelectorAll('[' + name + '="' + value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ') + '"]');
};

// Node lists of the browser: an array would create an object for each of a million elements.
var matches = function (locator) {
  var value = locator.value;
  switch (locator.by) {
    case 'id': return byAttribute('id', value);
    case 'css': return document.querySelectorAll(value);
    case 'xpath': return byXPath(value);
    case 'name': return byAttribute('name', value);
    case 'link': return list(document.querySelectorAll('a')).filter(function (a) { return squeeze(a.innerText || a.textContent) === squeeze(value); });
    case 'text': return byText(value);
  }
  return [];
};

// The element of several locators: that of the first with a single match, else the best of all matches.
var find = function (locators) {
  var scores = [], mostMatches = 0;
  var score = function (element, points) {
    for (var at = 0; at < scores.length; at++) {
      if (scores[at].element === element) { scores[at].points += points; return; }
    }
    scores.push({ element: element, points: points });
  };
  for (var index = 0; index < locators.length; index++) {
    var locator = locators[index], found;
    try { found = matches(locator); } catch (error) { return { bad: locator.by + ' `' + locator.value + '`: ' + error.message }; }
    if (found.length === 1) return { element: found[0], by: locator.by };
    mostMatches = Math.max(mostMatches, found.length);
    if (found.length > 1000) continue;
    for (var at = 0; at < found.length; at++) score(found[at], 1 / found.length);
  }
  if (mostMatches === 0) return { none: true };
  var visible = scores.filter(function (one) { return isVisible(one.element); });
  var ranked = (visible.length ? visible : scores).sort(function (a, b) { return b.points - a.points; });
  var best = ranked[0], second = ranked[1];
  // Two locators that agree on one element count like one that matches it alone.
  if (best && best.points >= 0.75 && (!second || second.points < best.points)) return { element: best.element, by: 'score' };
  return { weak: mostMatches };
};

var stateHolds = function (found, state) {
  switch (state) {
    case 'absent': return Boolean(found.none);
    case 'hidden': return Boolean(found.none) || Boolean(found.element && !isVisible(found.element));
    case 'present': return Boolean(found.element);
    case 'visible': return Boolean(found.element && isVisible(found.element));
    case 'enabled': return Boolean(found.element && usable(found.element));
  }
  return false;
};

// The lowest 32 bits of a product; numbers of this language are only exact up to 53 bits.
var multiply = Math.imul || function (a, b) {
  return ((a & 0xffff) * b + (((a >>> 16) * b & 0xffff) << 16)) | 0;
};
// A hash of a text, so that a long text need not be sent to be compared.
var hashOf = function (text) {
  var hash = 0x811c9dc5;
  for (var at = 0; at < text.length; at++) hash = multiply(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
// A reading of a text; done when its hash differs from that of the last reading.
var reading = function (text) {
  var cut = text.slice(0, query.longest), current = hashOf(cut);
  return current === query.last ? { done: false, last: current } : { done: true, last: current, text: cut };
};
// Applies `read` to the requested element, once it exists.
var withElement = function (read) {
  var found = find(query.locators);
  if (found.bad) return { done: true, bad: found.bad };
  if (!found.element) return { done: false, none: Boolean(found.none), weak: found.weak || 0 };
  return read(found.element);
};
var visibleText = function (element) { return squeeze(typeof element.innerText === 'string' ? element.innerText : element.textContent); };

var handlers = {
  // The element, once it is in the requested state.
  element: function () {
    var found = find(query.locators);
    if (found.bad) return { done: true, bad: found.bad };
    var element = found.element || null;
    return { done: stateHolds(found, query.state), element: element, weak: found.weak || 0, none: Boolean(found.none), seen: Boolean(element && isVisible(element)) };
  },
  text: function () {
    if (!query.locators) return reading(squeeze(document.body ? document.body.innerText : root.textContent));
    return withElement(function (element) { return reading(visibleText(element)); });
  },
  // An attribute, or the value of a field.
  attribute: function () {
    return withElement(function (element) {
      var value = query.name === undefined ? element.value : element.getAttribute(query.name);
      return value === null || value === undefined ? { done: false, lacking: true } : reading(String(value));
    });
  },
  count: function () {
    try { return reading(String(matches(query.locators[0]).length)); } catch (error) { return { done: true, bad: error.message }; }
  },
  url: function () { return reading(location.href); },
  title: function () { return reading(squeeze(document.title)); },
  source: function () {
    var kind = document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>\n' : '';
    return reading(kind + (root ? root.outerHTML : ''));
  },
  // A hash of the whole page; its text is not returned. Empty styles are ignored: drivers change and restore styles.
  shape: function () {
    var current = reading(root ? root.outerHTML.replace(/ style=""/g, '') : '');
    return { done: current.done, last: current.last, text: '' };
  },
  // Whether the event of `watch` occurred; a page that was left since then took its mark along.
  noticed: function () {
    var done = root.getAttribute(MARK) !== 'waiting';
    if (done) root.removeAttribute(MARK);
    return { done: done };
  }
};

// Records an event from now on.
if (query.what === 'watch') {
  root.setAttribute(MARK, 'waiting');
  var onEvent = function () {
    document.removeEventListener(query.event, onEvent, true);
    root.setAttribute(MARK, 'came');
  };
  document.addEventListener(query.event, onEvent, true);
  return { done: true };
}

var run = function () { return handlers[query.what](); };
var first = run();
// A browser without promises cannot wait: the query is repeated.
if (first.done || !query.within || typeof Promise === 'undefined') return first;
return new Promise(function (resolve) {
  var ends = performance.now() + query.within;
  var due = false, over = false;
  var check = function () {
    due = false;
    if (over) return;
    var current;
    try { current = run(); } catch (error) { current = { done: true, bad: error.message }; }
    if (current.done || performance.now() >= ends) {
      over = true;
      observer.disconnect();
      clearInterval(timer);
      resolve(current);
    }
  };
  var checkSoon = function () { if (!due && !over) { due = true; setTimeout(check, 10); } };
  var observer = new MutationObserver(checkSoon);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // Styles, values of fields and addresses change without a mutation.
  var timer = setInterval(check, 100);
  setTimeout(check, query.within);
});
