// place.js: the page that is shown. Its address is the part behind '#', so that addresses can be sent
// to others and the browser's Back works. The server never sees it.

// The views of one thing by their paths in the HTTP API.
const VIEWS = new Map(Object.entries({
  boxes: 'box', 'boxes/context': 'context', sessions: 'session',
  'sessions/context': 'session-context', tasks: 'task', cards: 'card',
}));

/** {project, view, id, query}: view is overview, search, boxes, box, context, sessions, session,
 * session-context, tasks, task, cards or card. Other views do not exist. */
export function place(hash = location.hash) {
  const [path, search = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').map(decode);
  const [project, kind, id = '', ...rest] = parts;
  const view = [kind, ...rest].filter(Boolean).join('/') || 'overview';
  return {
    project, view: id === '' ? view : VIEWS.get(view) ?? view, id,
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page. */
export function link({ project, view = 'overview', id = '', query = {} }) {
  const parts = [project, view === 'overview' ? '' : view, id].filter((part) => part !== '');
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' &&
    value !== null);
  const search = given.length === 0 ? '' : '?' + new URLSearchParams(given);
  return '#/' + parts.map(encodeURIComponent).join('/') + search;
}

export function go(to) {
  location.hash = link(to);
}

/** Changes the address of the page that is shown, without an entry in the browser's history. */
export function replaceAddress(to) {
  history.replaceState(history.state, '', link(to));
}

/** The same with an entry in the browser's history. */
export function pushAddress(to) {
  if (link(to) !== location.hash) history.pushState(null, '', link(to));
}

/** Names what is shown in the browser's title: parts such as a session's name, the nearest first. */
export function setTitle(...parts) {
  document.title = [...parts, place().project, 'CardBox'].filter(Boolean).join(' · ');
}
