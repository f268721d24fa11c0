// The requests of a window by its own measures (Resource Timing 4.3), with marks in the form of `DevTools`.
let source = performance;
try {
  if (top.performance.timeOrigin) {
    source = top.performance;
  }
} catch {
  // The parent page is of another site.
}
const toRequest = (entry) => {
  const mark = (from, to, position) => (entry[to] > entry[from] && entry[from] > 0 ? entry[position] - entry.startTime : -1);
  const secure = entry.secureConnectionStart > 0;
  return {
    url: entry.name,
    by: entry.entryType === 'navigation' ? entry.entryType : entry.initiatorType,
    began: (source.timeOrigin + entry.startTime) / 1000,
    ended: (source.timeOrigin + Math.max(entry.responseEnd, entry.startTime)) / 1000,
    wire: entry.transferSize,
    bytes: entry.decodedBodySize,
    response: {
      status: entry.responseStatus,
      protocol: entry.nextHopProtocol,
      mimeType: entry.contentType,
      timing: {
        dnsStart: mark('domainLookupStart', 'domainLookupEnd', 'domainLookupStart'),
        dnsEnd: mark('domainLookupStart', 'domainLookupEnd', 'domainLookupEnd'),
        connectStart: mark('connectStart', 'connectEnd', 'connectStart'),
        connectEnd: mark('connectStart', 'connectEnd', 'connectEnd'),
        sslStart: secure ? mark('secureConnectionStart', 'connectEnd', 'secureConnectionStart') : -1,
        sslEnd: secure ? mark('secureConnectionStart', 'connectEnd', 'connectEnd') : -1,
        sendEnd: mark('requestStart', 'responseStart', 'requestStart'),
        receiveHeadersEnd: mark('requestStart', 'responseStart', 'responseStart'),
      },
    },
  };
};
return ['navigation', 'resource'].flatMap((type) => source.getEntriesByType(type)).slice(0, 1000).map(toRequest);
