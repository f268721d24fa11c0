// What the browser knows of the page that is looked at: address, answer, times in milliseconds from the start
// of the navigation. With `experience`, paints and shifts too, as far as they came.
const [experience] = arguments;
const [entry] = performance.getEntriesByType('navigation');
const times = {};
if (entry) {
  for (const name of ['redirectStart', 'redirectEnd', 'domainLookupStart', 'domainLookupEnd', 'connectStart', 'secureConnectionStart', 'connectEnd', 'requestStart', 'responseStart', 'responseEnd', 'domContentLoadedEventEnd', 'loadEventEnd']) {
    times[name] = entry[name];
  }
}
const paint = {};
for (const { name, startTime } of performance.getEntriesByType('paint')) paint[name] = startTime;
const answer = {
  url: location.href,
  title: document.title.slice(0, 1000),
  status: entry ? entry.responseStatus || 0 : 0,
  type: entry ? entry.type : '',
  origin: String(performance.timeOrigin),
  bytes: entry ? { wire: entry.transferSize || 0, decoded: entry.decodedBodySize || 0 } : null,
  times,
  paint,
  viewport: [window.innerWidth, window.innerHeight],
};
if (!experience) return answer;
// The page, and with `all` the frames in it that it may look into.
const views = [window];
if (experience === 'all') {
  for (let at = 0; at < views.length && views.length < 50; at++) {
    for (let frame = 0; frame < views[at].frames.length; frame++) {
      try { if (views[at].frames[frame].performance) views.push(views[at].frames[frame]); } catch { /* of another origin */ }
    }
  }
}
const buffered = (view, type) => new Promise((resolve) => {
  const Observer = view.PerformanceObserver;
  if (!Observer || !(Observer.supportedEntryTypes || []).includes(type)) return resolve(null);
  const entries = [];
  const observer = new Observer((list) => { entries.push(...list.getEntries()); });
  observer.observe({ type, buffered: true });
  // What was buffered is told in a task after this one.
  setTimeout(() => { entries.push(...observer.takeRecords()); observer.disconnect(); resolve(entries); }, 0);
});
// The greatest sum of shifts within a window of at most 5 s without a gap of 1 s, those after an input aside.
const shift = (entries) => {
  let worst = 0, sum = 0, first = 0, last = -Infinity;
  for (const { value, startTime, hadRecentInput } of entries) {
    if (hadRecentInput) continue;
    if (startTime - last < 1000 && startTime - first < 5000) sum += value;
    else { sum = value; first = startTime; }
    last = startTime;
    worst = Math.max(worst, sum);
  }
  return worst;
};
const look = (view) => Promise.all([buffered(view, 'largest-contentful-paint'), buffered(view, 'layout-shift')]).then(([largest, shifts]) => {
  const later = view.performance.timeOrigin - performance.timeOrigin;
  if (largest && largest.length) answer.largest = Math.max(answer.largest || 0, later + largest[largest.length - 1].startTime);
  if (shifts) answer.shift = (answer.shift || 0) + shift(shifts);
});
return Promise.all(views.map(look)).then(() => answer);
