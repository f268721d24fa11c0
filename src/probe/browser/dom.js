// What the player asks of a page, as the body of a function: one question in, one answer out. Nothing of it
// stays in the page but the marks of `watch`, which are taken away when they were read. ECMAScript 5, as all browsers
// understand it.
var ask = arguments[0];
var squeeze = function (text) { return (text || '').replace(/\s+/g, ' ').trim(); };
var root = document.documentElement;
// Scripts of a driver share nothing with each other but the document.
var MARK = 'data-vigie-mark';
var list = function (found) { return Array.prototype.slice.call(found); };

// Whether a person sees it.
var seen = function (element) {
  if (element.checkVisibility && !element.checkVisibility({ visibilityProperty: true })) return false;
  var box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 || element.getClientRects().length > 0;
};
var matching = Element.prototype.matches || Element.prototype.msMatchesSelector;
var usable = function (element) { return seen(element) && !matching.call(element, ':disabled'); };

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

// The innermost elements that show exactly this text.
var byText = function (text) {
  var wanted = squeeze(text), found = [];
  var walker = document.createTreeWalker(document.body || root, NodeFilter.SHOW_TEXT, null, false);
  // A text may be cut in pieces by elements within: those around a piece of it are looked at too, a few levels up.
  for (var node = walker.nextNode(); node; node = walker.nextNode()) {
    var piece = squeeze(node.data);
    if (!piece || wanted.indexOf(piece) < 0) continue;
    var around = node.parentNode;
    for (var level = 0; around && around.nodeType === Node.ELEMENT_NODE && level < 6; level++, around = around.parentNode) {
      var whole = squeeze(around.textContent.slice(0, 4 * wanted.length + 1000));
      // Pieces of one element follow each other.
      if (whole === wanted) { if (found[found.length - 1] !== around) found.push(around); break; }
      if (whole.length > wanted.length) break;
    }
  }
  return found.filter(function (element) { return ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE'].indexOf(element.tagName) < 0; });
};

// An attribute of this value.
var having = function (name, value) {
  return document.querySelectorAll('[' + name + '="' + value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ') + '"]');
};

// Lists as the browser has them: an array would be an object for each of a million elements.
var matches = function (locator) {
  var value = locator.value;
  switch (locator.by) {
    case 'id': return having('id', value);
    case 'css': return document.querySelectorAll(value);
    case 'xpath': return byXPath(value);
    case 'name': return having('name', value);
    case 'link': return list(document.querySelectorAll('a')).filter(function (a) { return squeeze(a.innerText || a.textContent) === squeeze(value); });
    case 'text': return byText(value);
  }
  return [];
};

// The element of several locators: of the first that matches one alone, else of the best of all that match.
var find = function (locators) {
  var scores = [], most = 0;
  var score = function (element, points) {
    for (var at = 0; at < scores.length; at++) {
      if (scores[at].element === element) { scores[at].points += points; return; }
    }
    scores.push({ element: element, points: points });
  };
  for (var which = 0; which < locators.length; which++) {
    var locator = locators[which], found;
    try { found = matches(locator); } catch (error) { return { bad: locator.by + ' `' + locator.value + '`: ' + error.message }; }
    if (found.length === 1) return { element: found[0], by: locator.by };
    most = Math.max(most, found.length);
    if (found.length > 1000) continue;
    for (var at = 0; at < found.length; at++) score(found[at], 1 / found.length);
  }
  if (most === 0) return { none: true };
  var visible = scores.filter(function (one) { return seen(one.element); });
  var ranked = (visible.length ? visible : scores).sort(function (a, b) { return b.points - a.points; });
  var best = ranked[0], second = ranked[1];
  // Two locators that meet in one element say as much as one that matches it alone.
  if (best && best.points >= 0.75 && (!second || second.points < best.points)) return { element: best.element, by: 'score' };
  return { weak: most };
};

var stateHolds = function (found, state) {
  switch (state) {
    case 'absent': return Boolean(found.none);
    case 'hidden': return Boolean(found.none) || Boolean(found.element && !seen(found.element));
    case 'present': return Boolean(found.element);
    case 'visible': return Boolean(found.element && seen(found.element));
    case 'enabled': return Boolean(found.element && usable(found.element));
  }
  return false;
};

// The lowest 32 bits of a product, which numbers of this language do not have beyond 53.
var times = Math.imul || function (a, b) {
  return ((a & 0xffff) * b + (((a >>> 16) * b & 0xffff) << 16)) | 0;
};
// A number that tells texts apart, so that a long one needs not be sent to be compared.
var sum = function (text) {
  var hash = 0x811c9dc5;
  for (var at = 0; at < text.length; at++) hash = times(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
// A text, done when it is another one than that which was seen last.
var told = function (text) {
  var cut = text.slice(0, ask.longest), now = sum(cut);
  return now === ask.last ? { done: false, last: now } : { done: true, last: now, text: cut };
};
// What `tell` says of the element that is asked for, once it is there.
var ofElement = function (tell) {
  var found = find(ask.locators);
  if (found.bad) return { done: true, bad: found.bad };
  if (!found.element) return { done: false, none: Boolean(found.none), weak: found.weak || 0 };
  return tell(found.element);
};
var shown = function (element) { return squeeze(typeof element.innerText === 'string' ? element.innerText : element.textContent); };

var answers = {
  // The element, once it is in the state that is asked for.
  element: function () {
    var found = find(ask.locators);
    if (found.bad) return { done: true, bad: found.bad };
    var element = found.element || null;
    return { done: stateHolds(found, ask.state), element: element, weak: found.weak || 0, none: Boolean(found.none), seen: Boolean(element && seen(element)) };
  },
  text: function () {
    if (!ask.locators) return told(squeeze(document.body ? document.body.innerText : root.textContent));
    return ofElement(function (element) { return told(shown(element)); });
  },
  // An attribute, or what stands in a field.
  attribute: function () {
    return ofElement(function (element) {
      var value = ask.name === undefined ? element.value : element.getAttribute(ask.name);
      return value === null || value === undefined ? { done: false, lacking: true } : told(String(value));
    });
  },
  count: function () {
    try { return told(String(matches(ask.locators[0]).length)); } catch (error) { return { done: true, bad: error.message }; }
  },
  url: function () { return told(location.href); },
  title: function () { return told(squeeze(document.title)); },
  source: function () {
    var kind = document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>\n' : '';
    return told(kind + (root ? root.outerHTML : ''));
  },
  // The page as far as it can change, of which only the number is wanted. Drivers touch styles and put them back.
  shape: function () {
    var now = told(root ? root.outerHTML.replace(/ style=""/g, '') : '');
    return { done: now.done, last: now.last, text: '' };
  },
  // Whether what `watch` waits for came; a page that was left since then took its marks along.
  noticed: function () {
    var done = root.getAttribute(MARK) !== 'waiting';
    if (done) root.removeAttribute(MARK);
    return { done: done };
  }
};

// Notes an event from now on.
if (ask.what === 'watch') {
  root.setAttribute(MARK, 'waiting');
  var came = function () {
    document.removeEventListener(ask.event, came, true);
    root.setAttribute(MARK, 'came');
  };
  document.addEventListener(ask.event, came, true);
  return { done: true };
}

var answer = function () { return answers[ask.what](); };
var first = answer();
// A browser without promises cannot be waited for: it is asked again.
if (first.done || !ask.within || typeof Promise === 'undefined') return first;
return new Promise(function (resolve) {
  var ends = performance.now() + ask.within;
  var due = false, over = false;
  var look = function () {
    due = false;
    if (over) return;
    var now;
    try { now = answer(); } catch (error) { now = { done: true, bad: error.message }; }
    if (now.done || performance.now() >= ends) {
      over = true;
      observer.disconnect();
      clearInterval(timer);
      resolve(now);
    }
  };
  var soon = function () { if (!due && !over) { due = true; setTimeout(look, 10); } };
  var observer = new MutationObserver(soon);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  // Styles, values of fields and addresses change without a mutation.
  var timer = setInterval(look, 100);
  setTimeout(look, ask.within);
});
