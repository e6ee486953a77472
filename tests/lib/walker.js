// walker.js: walker.py puts this into every page before the page's own programs. It notes errors and requests, finds
// the controls of the page, and checks what every page must fulfil. `walk.problems` are sentences.
(() => {
  const walk = { open: 0, requests: 0, problems: [] };
  window.walk = walk;
  addEventListener('error', (event) => walk.problems.push(`error: ${event.message}`));
  addEventListener('unhandledrejection', (event) => walk.problems.push(`not handled: ${event.reason}`));
  document.addEventListener('securitypolicyviolation', (event) =>
    walk.problems.push(`refused by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));

  const counted = (real) => async function count(...given) {
    walk.open++;
    try {
      return await real.apply(this, given);
    } finally {
      walk.open--;
    }
  };
  const ask = counted(window.fetch);
  window.fetch = async (...given) => {
    walk.requests++;
    const answer = await ask(...given);
    if (answer.status >= 400) walk.problems.push(`status ${answer.status} of ${answer.url}`);
    return answer;
  };
  for (const name of ['text', 'json']) Response.prototype[name] = counted(Response.prototype[name]);

  /** Waits until nothing is loaded any more. */
  walk.idle = async () => {
    const until = performance.now() + 20000;
    for (let quiet = 0; quiet < 2;) {
      await new Promise((resolve) => { setTimeout(resolve, 15); });
      const busy = walk.open > 0 || document.readyState !== 'complete' || document.querySelector('[aria-busy]');
      quiet = busy ? 0 : quiet + 1;
      if (performance.now() < until) continue;
      walk.problems.push('the page does not stop loading');
      return;
    }
  };

  // --- controls ---

  const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="button"], [tabindex="0"]';
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  const opaque = (one) => (one ? Number(getComputedStyle(one).opacity) * opaque(one.parentElement) : 1); // how much is seen
  const frame = () => document.querySelector('dialog[open]') ?? document;
  const controls = () => [...frame().querySelectorAll(CONTROLS)].filter((one) => isSeen(one) && !one.disabled);

  /** What it is called, as assistive programs compute it, nearly. */
  function nameOf(one) {
    const labels = [...(one.labels ?? [])].map((label) => label.textContent).join(' ');
    const inside = [...one.querySelectorAll('img[alt]')].map((image) => image.alt).join(' ');
    const from = one.getAttribute('aria-labelledby');
    const named = from ? from.split(' ').map((id) => document.getElementById(id)?.textContent).join(' ') : '';
    return one.getAttribute('aria-label') || named || labels || `${one.innerText || one.textContent} ${inside}`.trim() || one.title;
  }

  /** The kind of a place of the inspector: ids replaced by *. */
  function kindOf(hash) {
    const [path, search = ''] = hash.replace(/^#\/?/, '').split('?');
    const [project = '', view = '', id, ...rest] = path.split('/');
    return [project, view, ...(id ? ['*'] : []), ...rest].join('/') +
      (search ? '?' + [...new Set([...new URLSearchParams(search).keys()])].sort().join('&') : '');
  }

  /** What is the same for controls that do the same: no ids, no numbers, no foreign text. */
  function kindOfControl(one) {
    const copy = one.cloneNode(true);
    for (const part of copy.querySelectorAll('bdi, time, .text, .id, pre, select')) part.remove();
    const words = (one.getAttribute('aria-label') ?? copy.textContent).replace(/[\d.,…:-]+/g, '#').replace(/\s+/g, ' ').trim();
    const top = one.closest('header.top') && 'top'; // the same on all pages
    const area = top || `${document.body.dataset.view} ${one.closest('dialog, #panel, nav, main, aside')?.tagName ?? 'body'}`;
    const where = one.tagName === 'A' && one.origin === location.origin ? kindOf(one.hash).replace(/^[^/?]*/, '') : '';
    return [area, one.tagName.toLowerCase(), one.type ?? '', one.dataset.do ?? one.name ?? '', where || words.slice(0, 30)].filter(Boolean).join(' ');
  }

  const kindsSeen = () => {
    const kinds = new Map();
    for (const one of controls()) if (!kinds.has(kindOfControl(one))) kinds.set(kindOfControl(one), one);
    return kinds;
  };

  walk.controls = () => [...kindsSeen()].map(([kind, one]) => ({ kind, tag: one.tagName, type: one.type ?? '',
    href: one.tagName === 'A' ? one.href : '', skip: one.matches('.skip') }));

  /** Brings the first control of a kind into the middle and marks it, if `path` is shown, in a dialog or not. */
  walk.mark = (kind, path, inDialog) => {
    for (const one of document.querySelectorAll('[data-walk]')) delete one.dataset.walk;
    if (location.pathname + location.hash !== path || Boolean(document.querySelector('dialog[open]')) !== inDialog) return false;
    const found = kindsSeen().get(kind);
    found?.scrollIntoView({ block: 'center', behavior: 'instant' });
    if (found) found.dataset.walk = '';
    return Boolean(found);
  };

  walk.links = () => Object.fromEntries([...document.querySelectorAll('a[href]')].filter((one) =>
    one.origin === location.origin && one.pathname.endsWith('/ui/')).map((one) => [kindOf(one.hash), one.hash]));

  // --- colours ---

  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const known = new Map();
  function rgba(color) {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [r, g, b, a / 255]);
    }
    return known.get(color);
  }
  const over = ([r, g, b, a], under) => [r, g, b].map((one, at) => one * a + under[at] * (1 - a));

  let seen; // during a check: element -> {under, opacity}

  /** The colour behind the texts of an element, and how opaque they are. */
  function behind(one) {
    if (!one) return { under: rgba('Canvas').slice(0, 3), opacity: 1 };
    if (!seen.has(one)) {
      const { under, opacity } = behind(one.parentElement);
      const style = getComputedStyle(one);
      seen.set(one, { under: over(rgba(style.backgroundColor), under), opacity: opacity * Number(style.opacity) });
    }
    return seen.get(one);
  }

  function luminance(color) {
    const [r, g, b] = color.map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrastOf(one) {
    const style = getComputedStyle(one);
    const { under, opacity } = behind(one);
    const [r, g, b, a] = rgba(style.color);
    const [low, high] = [luminance(over([r, g, b, a * (opacity || 1)], under)), luminance(under)].sort((x, y) => x - y);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    return { ratio: (high + 0.05) / (low + 0.05), least };
  }

  const TEXTS = 3000; // of a page are looked at
  function faintTexts() {
    const found = new Map();
    seen = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const parents = new Set();
    while (parents.size < TEXTS && texts.nextNode()) if (texts.currentNode.data.trim()) parents.add(texts.currentNode.parentElement);
    for (const one of parents) {
      if (!isSeen(one) || one.closest(':disabled, noscript, [aria-hidden], option, datalist')) continue;
      const { ratio, least } = contrastOf(one);
      if (ratio < least) found.set(`${one.tagName}.${one.className}`, `"${one.textContent.slice(0, 30)}" has the contrast ${ratio.toFixed(2)}`);
    }
    return [...found].map(([which, what]) => `${which}: ${what}`);
  }

  // --- what every page fulfils ---

  const describe = (one) => `${one.outerHTML.slice(0, 140)} in ${one.parentElement?.className || one.parentElement?.tagName}`;

  function standsOut() {
    const page = document.documentElement;
    const wide = page.scrollWidth - page.clientWidth;
    if (wide <= 0) return [];
    const out = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1);
    return [`${wide} px wider than the window: ${out.slice(-1).map(describe)}`];
  }

  const TARGET = 24; // px, of WCAG 2.2
  function smallTargets() {
    return [...kindsSeen().values()].filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      if (width >= TARGET && height >= TARGET) return false;
      if (/checkbox|radio/.test(one.type) && one.closest('label')?.getBoundingClientRect().height >= TARGET) return false;
      const style = getComputedStyle(one);
      if (one.matches('.whole, .skip') || (one.tagName !== 'A' && /^0?$/.test(one.getAttribute('tabindex') ?? 'none'))) return false;
      return !(one.tagName === 'A' && style.display === 'inline'); // a part of a sentence
    }).map((one) => `a small target: ${one.getBoundingClientRect().width} x ${one.getBoundingClientRect().height} ${describe(one)}`);
  }

  const FOREIGN = 'script, img, iframe, svg image, style, base, meta, object, embed, link, audio, video, math, frame, picture, source';
  function foreignElements() {
    return [...document.body.querySelectorAll('*')].filter((one) => (one.matches(FOREIGN) && !one.matches('header.top .brand img')) ||
      [...one.attributes].some(({ name }) => /^on|^srcdoc|^formaction/i.test(name)) ||
      (one.hasAttribute('href') && !/^(https?:|#|\.\.\/|ui\/|openapi)/.test(one.getAttribute('href'))) ||
      (one.tagName === 'A' && one.origin !== location.origin && !/noreferrer/.test(one.rel)))
      .map((one) => `not an element of the page: ${describe(one)}`);
  }

  /** Words that a program makes of what it did not find. */
  function brokenWords() {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (/\bundefined\b|\[object |\bNaN\b|Invalid Date/.test(data) &&
        !parentElement.closest('bdi, .text, pre, code, textarea, .foreign, main .operation, [class^="json-"]')) found.push(`"${data}" in ${parentElement.outerHTML.slice(0, 80)}`);
    }
    return found;
  }

  function structure() {
    const found = [];
    const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    if (twice.length > 0) found.push(`ids that occur twice: ${twice.slice(0, 3)}`);
    if (document.pwned !== undefined || window.pwned !== undefined) found.push('a content was run');
    const shown = [...document.querySelectorAll('main, nav.side')].filter(isSeen).map((one) => one.innerText).join('').trim();
    if (shown.length < 2 || /^Loading/.test(shown)) found.push(`the page shows nothing: ${shown}`);
    if (!document.title) found.push('the page has no title');
    for (const { name } of performance.getEntriesByType('resource'))
      if (new URL(name).origin !== location.origin) found.push(`loaded from elsewhere: ${name}`);
    for (const dialog of document.querySelectorAll('dialog[open]')) {
      const { left, top, right, bottom } = dialog.getBoundingClientRect();
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.push('the dialog does not fit');
      if (!dialog.contains(document.activeElement)) found.push('the focus is not in the dialog');
    }
    return found;
  }

  /** What is wrong now, at this size and in these colours; and what was noted since the last time. */
  walk.check = () => [...walk.problems.splice(0), ...structure(), ...standsOut(), ...foreignElements(), ...brokenWords(),
    ...faintTexts(), ...(innerWidth < 500 ? smallTargets() : [])];

  /** Names, and whether one sees where the focus is; a key must have been the last input. */
  walk.checkControls = () => {
    const found = [];
    const before = document.activeElement;
    for (const one of kindsSeen().values()) {
      if (!/[\p{L}\p{N}]/u.test(nameOf(one) ?? '')) found.push(`no name: ${describe(one)}`);
      one.focus({ preventScroll: true });
      if (document.activeElement !== one) continue;
      const outlined = ['', '::after'].some((part) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(one, part || undefined);
        return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;
      });
      if (!outlined) found.push(`the focus is not seen: ${describe(one)}`);
      if (opaque(one) < 0.99 && one.type !== 'range') found.push(`faint though it has the focus: ${describe(one)}`);
    }
    before?.focus({ preventScroll: true });
    return found;
  };
})();
