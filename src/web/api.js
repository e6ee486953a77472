// api.js: requests to the server that serves this page. Keeps the token for as long as the tab lives.
// Knows nothing of the page.
import { parse } from './json.js';

const ROOT = new URL('../', document.baseURI);
const TOKEN_KEY = 'cardbox.token';

class ApiError extends Error {
  constructor(status, code, message, hint, more = {}) {
    super(message);
    Object.assign(this, { status, code, hint, ...more });
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN_KEY) ?? '',
  set: (value) => (value ? sessionStorage.setItem(TOKEN_KEY, value)
    : sessionStorage.removeItem(TOKEN_KEY)),
};

function errorOf(status, body) {
  const detail = body?.detail;
  if (Array.isArray(detail)) // the reads of cards and boxes
    return new ApiError(status, 'validation_failed', detail.map((one) =>
      `${(one.loc ?? []).join('.')}: ${one.msg}`).join('; '));
  if (detail && typeof detail === 'object')
    return new ApiError(status, detail.error_code, detail.error_message, detail.hint,
      { currentVersion: detail.current_version });
  return new ApiError(status, 'http', typeof detail === 'string' ? detail : `status ${status}`);
}

let lsn = ''; // that the last write returned: a standby whose log has not reached it must not answer

/** A response; throws an ApiError if there is none. */
async function request(method, path, { body, signal, headers = {} }) {
  const sent = { ...headers };
  if (token.get()) sent.Authorization = `Bearer ${token.get()}`;
  if (lsn) sent['Cardbox-Lsn'] = lsn;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  try {
    const response = await fetch(new URL(path, ROOT), {
      method, signal, headers: sent, credentials: 'omit',
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    lsn = response.headers.get('Cardbox-Lsn') ?? lsn;
    return response;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'network', 'the server does not answer');
  }
}

/** {data, text, headers}; throws an ApiError. */
async function call(method, path, options = {}) {
  const response = await request(method, path, options);
  const text = await response.text();
  let data = null;
  try {
    data = parse(text);
  } catch {
    if (response.ok) throw new ApiError(response.status, 'http', 'the answer is no JSON');
  }
  if (!response.ok) throw errorOf(response.status, data);
  return { data, text, headers: response.headers };
}

// --- server-sent events ---

const AGAIN_MS = 1000; // the same as `retry` of the server

/** The events of one response: {event, data, id}. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let one = {};
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const [, name, text] = /^(\w+): (.*)$/s.exec(line) ?? [];
      if (name) one[name] = name === 'data' ? parse(text) : text;
      if (line !== '') continue;
      if (one.event) yield one;
      one = {};
    }
  }
}

/** All events of a path. After a break it goes on where it was, with the events `broken` and `again`
 * between; status 204 ends them. */
async function* events(path, signal) {
  let last = '0';
  for (let broken = false; ; await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); })) {
    try {
      const response = await request('GET', path, { signal, headers: { 'Last-Event-ID': last } });
      if (response.status === 204) return;
      if (!response.ok && response.status !== 503) throw errorOf(response.status, parse(await response.text()));
      if (broken && response.ok) yield { event: 'again' };
      broken = !response.ok;
      if (!broken) for await (const one of eventsOf(response.body)) {
        last = one.id ?? last;
        yield one;
      }
    } catch (error) {
      if (error.name === 'AbortError' || (error instanceof ApiError && error.status !== 0)) throw error;
      broken = true; // in the middle too: whatever the browser calls it
    }
    if (broken) yield { event: 'broken' };
  }
}

const part = encodeURIComponent;

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : '?' + given.map(([name, value]) =>
    `${part(name)}=${part(value)}`).join('&');
}

/** The address of this server, for programs. */
export const server = () => ROOT.href.replace(/\/$/, '');

/** One page of the projects that the token may see. */
export const projects = (cursor) => call('GET', 'projects' + query({ limit: 100, cursor }));

/** The requests of the page about one project. */
export function project(name, signal) {
  const at = (...parts) => ['projects', name, ...parts].map(part).join('/');
  const get = (path) => call('GET', path, { signal });
  const invoke = (ability, body) => call('POST', at('abilities', ability), { body, signal });
  const boxAt = (box, ...rest) => at('boxes', box, ...rest);
  return {
    counts: () => get(at()),
    usage: (wanted) => get(at('usage') + query(wanted)),
    search: (wanted, cursor) => get(at('search') + query({ ...wanted, cursor })),
    boxes: (cursor, limit = 50) => get(at('boxes') + query({ limit, cursor, preview: true })),
    box: (box, moment = {}) => get(boxAt(box) + query(moment)),
    firstCards: (box, limit) => get(boxAt(box, 'cards') + query({ offset: 0, limit })),
    lastCards: (box, moment = {}, limit = 500) => get(boxAt(box, 'cards') + query({ ...moment, limit })),
    log: (box, cursor, limit = 100) => get(boxAt(box, 'log') + query({ limit, cursor })),
    boxContext: (box, wanted) => get(boxAt(box, 'context') + query(wanted)),
    sessions: (cursor, limit = 50) => get(at('sessions') + query({ limit, cursor, preview: true })),
    session: (id) => get(at('sessions', id)),
    entry: (id, entry) => get(at('sessions', id, 'entries', entry)),
    tree: (id, wanted) => get(at('sessions', id, 'tree') + query(wanted)),
    path: (id, entry, wanted) => get((entry === undefined ? at('sessions', id, 'path')
      : at('sessions', id, 'entries', entry, 'path')) + query(wanted)),
    leaves: (id, wanted) => get(at('sessions', id, 'leaves') + query(wanted)),
    diff: (id, wanted) => get(at('sessions', id, 'diff') + query(wanted)),
    sessionContext: (id, wanted) => get(at('sessions', id, 'context') + query(wanted)),
    forkSession: (id, body) => call('POST', at('sessions', id, 'fork'), { body }),
    tasks: (wanted, limit, offset) => invoke('ldg:task:query', { ...wanted, goals: true, limit, offset }),
    task: (id) => invoke('ldg:task:get', { taskId: id }),
    sendToTask: (id, message) => call('POST', at('abilities', 'task:send'), { body: { receiverId: id, message } }),
    cancelTask: (id, reason) => call('POST', at('abilities', 'task:cancel'), { body: { taskId: id, reason } }),
    appendToSession: (id, body) => call('POST', at('sessions', id, 'entries'), { body }),
    follow: (id) => events(at('tasks', id, 'stream'), signal),
    fork: (box, body) => call('POST', boxAt(box, 'fork'), { body }),
    addCard: (card) => call('POST', at('cards'), { body: card }),
    append: (box, body, key) => call('POST', boxAt(box, 'append'), { body, headers: { 'Idempotency-Key': key } }),
    card: (card) => get(at('cards', card)),
    cards: (ids) => call('POST', at('cards', 'batch'), { body: { card_ids: ids }, signal }),
    listCards: (filters, cursor) => get(at('cards') + query({ limit: 50, ...filters, cursor })),
    revisions: (card, limit) => get(at('cards', card, 'revisions') + query({ limit })),
    /** The whole address of a path of the project, for programs. */
    address: (parts, wanted = {}) => new URL(at(...parts) + query(wanted), ROOT).href,
    boxesWithCard: (card, cursor) => get(at('cards', card, 'boxes') + query({ cursor, preview: true })),
  };
}
