// api.js: requests to the server that serves this page. Keeps the token for as long as the tab lives.
// Knows nothing of the page.
import { parse } from './json.js';

const ROOT = new URL('../', document.baseURI);
const TOKEN_KEY = 'cardbox.token';

export class ApiError extends Error {
  constructor(status, code, message, hint) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN_KEY) ?? '',
  set: (value) => (value ? sessionStorage.setItem(TOKEN_KEY, value)
    : sessionStorage.removeItem(TOKEN_KEY)),
};

function errorOf(status, body) {
  const detail = body?.detail;
  if (Array.isArray(detail))
    return new ApiError(status, 'invalid', detail.map((one) =>
      `${(one.loc ?? []).join('.')}: ${one.msg}`).join('; '));
  if (detail && typeof detail === 'object')
    return new ApiError(status, detail.error_code, detail.error_message, detail.hint);
  return new ApiError(status, 'http', typeof detail === 'string' ? detail : `status ${status}`);
}

/** {data, text, headers}; throws an ApiError. */
async function call(method, path, { body, signal } = {}) {
  const sent = {};
  if (token.get()) sent.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(new URL(path, ROOT), {
      method, signal, headers: sent, credentials: 'omit',
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'network', 'the server does not answer');
  }
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

const part = encodeURIComponent;

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : '?' + given.map(([name, value]) =>
    `${part(name)}=${part(value)}`).join('&');
}

/** What the page asks of one project. */
export function project(name, signal) {
  const at = (...parts) => ['projects', name, ...parts].map(part).join('/');
  const get = (path) => call('GET', path, { signal });
  const boxAt = (box, ...rest) => at('boxes', box, ...rest);
  return {
    boxes: (cursor) => get(at('boxes') + query({ limit: 50, cursor })),
    box: (box, moment = {}) => get(boxAt(box) + query(moment)),
    tail: (box, moment = {}) => get(boxAt(box, 'cards') + query({ ...moment, limit: 500 })),
    log: (box, cursor) => get(boxAt(box, 'log') + query({ limit: 200, cursor })),
    boxContext: (box, wanted) => get(boxAt(box, 'context') + query(wanted)),
    sessions: (cursor) => get(at('sessions') + query({ limit: 50, cursor })),
    session: (id) => get(at('sessions', id)),
    tree: (id, wanted) => get(at('sessions', id, 'tree') + query(wanted)),
    entry: (id, entry) => get(at('sessions', id, 'entries', entry)),
    sessionContext: (id, wanted) => get(at('sessions', id, 'context') + query(wanted)),
    fork: (box, body) => call('POST', boxAt(box, 'fork'), { body }),
    card: (card) => get(at('cards', card)),
    cards: (ids) => call('POST', at('cards', 'batch'), { body: { card_ids: ids }, signal }),
    list: (filters, cursor) => get(at('cards') + query({ limit: 50, ...filters, cursor })),
    revisions: (card) => get(at('cards', card, 'revisions')),
    holders: (card) => get(at('cards', card, 'boxes')),
  };
}
