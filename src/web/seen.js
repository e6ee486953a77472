// seen.js: the row that was in sight when a page was left. If the browser's Back leads to the page again, the row is
// shown at the same height. Knows no page.

const ROWS = 'main :is(.row, .card, .entry)';
const NAMES = ['card', 'entry', 'message', 'call', 'session', 'task', 'box', 'hit']; // data attributes that name a row
const TRY_MS = 5000; // the row may come later than the page

/** Scrolls now and in the next frames. Rows have their height two frames after they came into sight. */
export function scrollRepeatedly(scroll, times = 4) {
  scroll();
  if (times > 1) requestAnimationFrame(() => scrollRepeatedly(scroll, times - 1));
}

// A click may lead to another page. The entry in the browser's history keeps the row.
document.addEventListener('click', ({ target }) => {
  const row = target.closest(ROWS) ?? [...document.querySelectorAll(ROWS)].find((one) => one.getBoundingClientRect().bottom > 0);
  const name = NAMES.find((one) => row?.dataset[one] !== undefined);
  if (name) history.replaceState({ seen: { name, value: row.dataset[name], top: row.getBoundingClientRect().top } }, '');
}, true);

/** Shows the row of the browser's history entry as soon as `main` has it, unless the reader does something before. */
export function showSeen(main, signal) {
  const { seen } = history.state ?? {};
  if (!seen) return;
  const stop = new AbortController();
  const observer = new MutationObserver(() => {
    const row = main.querySelector(`[data-${seen.name}="${CSS.escape(seen.value)}"]`);
    if (!row) return;
    stop.abort();
    scrollRepeatedly(() => window.scrollBy(0, row.getBoundingClientRect().top - seen.top));
  });
  stop.signal.addEventListener('abort', () => observer.disconnect());
  for (const one of [signal, AbortSignal.timeout(TRY_MS)]) one.addEventListener('abort', () => stop.abort());
  for (const one of ['wheel', 'keydown', 'pointerdown']) addEventListener(one, () => stop.abort(), { signal: stop.signal });
  observer.observe(main, { childList: true, subtree: true });
}
