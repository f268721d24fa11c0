// Reports on the current page: address, status, and times in milliseconds from the start of the navigation.
// With `experience`, also paints and layout shifts so far. ECMAScript 5, which all browsers support.
var experience = arguments[0];
var entries = function (type) { return performance.getEntriesByType ? performance.getEntriesByType(type) : []; };
var entry = entries('navigation')[0];
var times = {};
if (entry) {
  ['redirectStart', 'redirectEnd', 'domainLookupStart', 'domainLookupEnd', 'connectStart', 'secureConnectionStart', 'connectEnd', 'requestStart', 'responseStart', 'responseEnd', 'domContentLoadedEventEnd', 'loadEventEnd'].forEach(function (name) {
    times[name] = entry[name] || 0;
  });
}
var paint = {};
entries('paint').forEach(function (mark) { paint[mark.name] = mark.startTime; });
var report = {
  url: location.href,
  document: entry && entry.name || location.href,
  title: document.title.slice(0, 1000),
  status: entry ? entry.responseStatus || 0 : 0,
  type: entry ? entry.type : '',
  origin: String(performance.timeOrigin || performance.timing.navigationStart),
  bytes: entry ? { wire: entry.transferSize || 0, decoded: entry.decodedBodySize || 0 } : null,
  times: times,
  paint: paint,
  viewport: [window.innerWidth, window.innerHeight]
};
if (!experience || typeof Promise === 'undefined') return report;
// The page, and with `all` its frames, except those of another origin.
var views = [window];
if (experience === 'all') {
  for (var at = 0; at < views.length && views.length < 50; at++) {
    for (var frame = 0; frame < views[at].frames.length; frame++) {
      try { if (views[at].frames[frame].performance) views.push(views[at].frames[frame]); } catch (error) { continue; }
    }
  }
}
var buffered = function (view, type) {
  return new Promise(function (resolve) {
    var Observer = view.PerformanceObserver;
    if (!Observer || (Observer.supportedEntryTypes || []).indexOf(type) < 0) return resolve(null);
    var found = [];
    var observer = new Observer(function (list) { found = found.concat(list.getEntries()); });
    observer.observe({ type: type, buffered: true });
    // Buffered entries are delivered in a later task.
    setTimeout(function () { found = found.concat(observer.takeRecords()); observer.disconnect(); resolve(found); }, 0);
  });
};
// The largest sum of shifts within a window of at most 5 s without a gap of 1 s, ignoring those after an input.
var shift = function (moves) {
  var worst = 0, sum = 0, first = 0, last = -Infinity;
  moves.forEach(function (move) {
    if (move.hadRecentInput) return;
    if (move.startTime - last < 1000 && move.startTime - first < 5000) sum += move.value;
    else { sum = move.value; first = move.startTime; }
    last = move.startTime;
    worst = Math.max(worst, sum);
  });
  return worst;
};
var measure = function (view) {
  return Promise.all([buffered(view, 'largest-contentful-paint'), buffered(view, 'layout-shift')]).then(function (found) {
    var offset = view.performance.timeOrigin - performance.timeOrigin;
    var largest = found[0], shifts = found[1];
    if (largest && largest.length) report.largest = Math.max(report.largest || 0, offset + largest[largest.length - 1].startTime);
    if (shifts) report.shift = (report.shift || 0) + shift(shifts);
  });
};
return Promise.all(views.map(measure)).then(function () { return report; });
