// A page that says that something does not work now: asks every few seconds, and loads the page once it works.

const INTERVAL_MILLISECONDS = 5000;

async function works() {
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
    return response.status < 500;
  } catch {
    return false;
  }
}

export function retryUntilAvailable() {
  if (!document.querySelector("[data-retry]")) return;
  const timer = setInterval(async () => {
    if (!(await works())) return;
    clearInterval(timer);
    location.reload();
  }, INTERVAL_MILLISECONDS);
}
