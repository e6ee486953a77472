// context.js: what a model gets: the messages of a context in the format of an API, with their roles,
// calls and results. Each shows its card or entry, and its repairs.
import { add, copyButton, count, el, fill, notice, oneLine, sentence, shortId, untrusted } from './dom.js';
import { messageNodes, parts, settingsNodes } from './blocks.js';
import { boxText } from './card.js';
import { content, isObject, json, roleClass, toolCalls } from './content.js';
import { commandOf } from './curl.js';
import { elsewhere, queryOf } from './elsewhere.js';
import { write } from './json.js';
import { pageKeys } from './keys.js';
import { go, link, setTitle } from './place.js';
import { askToForkBox, askToRetryInSession } from './retry.js';
import { trouble } from './trouble.js';

const FORMATS = [['openai', 'OpenAI'], ['responses', 'Responses'], ['anthropic', 'Anthropic'], ['messages', 'Plain'],
  ['entries', 'As stored']];
const SHOWN_AT_ONCE = 200; // messages

const REPAIRS = {
  dropped_message: 'a message that ended in error or was aborted was left out',
  dropped_result: 'a result of a call in such a message was left out',
  orphan_result: 'a result without its call was left out',
  second_result: 'a second result of a call was left out',
  moved_result: 'a result that came late was put behind its call',
  synthetic_result: 'a call without a result got one',
  call_id: 'the id of a call was replaced',
  tool_name: 'the name of a tool was replaced',
  dropped_block: 'a block that has no place there was left out',
  empty_message: 'a message without content was left out',
  empty_result: 'an empty result got a text',
  first_message: 'a message of the user was put first',
};
// These repairs stand before a message: they left out something there.
const LEFT_OUT = new Set(['dropped_message', 'dropped_result', 'orphan_result', 'second_result', 'empty_message']);
const CALLS = new Set(['tool_use', 'function_call', 'custom_tool_call']);
// These repairs make the text of a message.
const MADE = new Set(['synthetic_result', 'empty_result', 'first_message']);

// --- a message ---

function roleOf(message) {
  const role = message.role ?? message.message?.role ?? message.metadata?.role ?? message.type;
  return typeof role === 'string' ? role : '';
}

/** One repair in words, with the card or entry that it was made of. */
function repairWords(one, openSource) {
  return [REPAIRS[one.repair] ?? untrusted(one.repair), ': ', el('a', { href: openSource(one.entry) }, shortId(one.entry)),
    one.call ? [', call ', untrusted(one.call, { class: 'id' })] : null];
}

/** Repairs by the message that they stand at: {before, at} of Map(index -> repairs). */
function placedRepairs({ report }) {
  const [before, at] = [new Map(), new Map()];
  for (const one of report.repairs) {
    if (one.message === undefined) continue;
    const map = LEFT_OUT.has(one.repair) ? before : at;
    map.set(one.message, [...map.get(one.message) ?? [], one]);
  }
  return { before, at };
}

function leftOut(repairs, place, openSource) {
  return repairs ? el('div', { class: 'left-out', 'data-before': place }, repairs.map((one) =>
    el('p', { 'data-repair': one.repair }, el('span', { class: 'badge bad' }, 'left out'), repairWords(one, openSource)))) : null;
}

/** The link to where else it was said; null if a repair made the text, or there is none. */
function elsewhereOf(message, sources, repairs, here) {
  const isMade = sources.length < 2 && repairs?.some(({ repair }) => MADE.has(repair));
  return sources.length > 0 && !isMade && queryOf(message)
    ? elsewhere(here.project, sources[0], here.view === 'context' ? undefined : here.id) : null;
}

function messageItem(context, place, repairs, openSource, here) {
  const message = context.messages[place];
  const stored = context.format === 'entries';
  const role = roleOf(message);
  const digest = context.digests[place];
  const sources = context.sources?.[place] ?? [];
  return el('article', {
    class: `card ${roleClass(role)}${repairs ? ' repaired' : ''}`, 'data-message': place,
  }, el('header', {}, el('span', { class: 'role' }, untrusted(role || 'no role')),
    message.tool_call_id && !stored ? ['answers ', untrusted(message.tool_call_id, { class: 'id' })] : null,
    el('span', { class: 'space' }),
    el('span', { class: 'id', title: `digest of all up to here: ${digest}` }, digest.slice(0, 8)),
    el('span', { class: 'position' }, place + 1)),
  repairs?.map((one) => el('p', { class: 'repair', 'data-repair': one.repair },
    el('span', { class: 'badge bad' }, 'repaired'), repairWords(one, openSource))),
  el('div', { class: 'content' }, stored ? json(message) : messageNodes(message)),
  el('footer', {}, sources.length === 0 ? 'not of a card or entry' : [sources.length > 1 ? 'made of ' : '',
    sources.map((id, at) => [at > 0 ? ' ' : '', el('a', { href: openSource(id), class: at === 0 ? 'opens' : '', 'data-source': id }, shortId(id))])],
  el('span', { class: 'space' }), elsewhereOf(message, sources, repairs, here),
  copyButton(() => write(message), 'Copy JSON')));
}

/** The messages by pages. `goTo` draws up to a message, and shows it. */
function messageList(context, openSource, here) {
  const list = el('div', { class: 'cards' });
  const more = el('button', { type: 'button', class: 'wide' });
  const total = context.messages.length;
  const { before, at } = placedRepairs(context);
  let shown = 0;
  const draw = () => {
    const to = Math.min(total, shown + SHOWN_AT_ONCE);
    more.remove();
    for (; shown < to; shown++) {
      const gone = leftOut(before.get(shown), shown, openSource);
      list.append(...[gone, messageItem(context, shown, at.get(shown), openSource, here)].filter(Boolean));
    }
    more.textContent = `Show more (${count(total - shown, 'message')})`;
    if (shown < total) list.append(more);
    else list.append(...[leftOut(before.get(total), total, openSource)].filter(Boolean));
  };
  more.addEventListener('click', draw);
  draw();
  if (total === 0) list.append(notice('No messages', 'Nothing here is for a model.'));
  const goTo = (place) => {
    while (shown < total && shown <= place) draw();
    const found = list.querySelector(`[data-before="${place}"]`) ?? list.querySelector(`[data-message="${place}"]`);
    found?.scrollIntoView({ block: 'center' });
  };
  return { list, goTo };
}

// --- what is around them ---

function repairList({ report }, openSource, goTo) {
  if (report.repairs.length === 0)
    return el('p', { class: 'faint' }, 'Nothing had to be repaired.');
  return el('details', { class: 'repairs' }, el('summary', {}, count(report.repairs.length, 'repair'),
    ', marked at their messages'), el('ul', {}, report.repairs.map((one) => el('li', {}, repairWords(one, openSource),
    one.message === undefined ? null
      : el('button', { type: 'button', class: 'quiet', onclick: () => goTo(one.message) }, 'Show')))));
}

/** The context as JSON, as a request to a model has it: with the system text apart if its API requires that. */
function wholeOf(context) {
  return context.system ? write({ system: context.system, messages: context.messages }) : write(context.messages);
}

function summary(context, command) {
  const characters = write(context.messages).length;
  const model = [context.provider, context.model].filter((one) => typeof one === 'string').join('/');
  return el('p', { class: 'facts' }, count(context.messages.length, 'message'), ', ',
    count(characters, 'character'), context.report?.token_estimate
      ? [', about ', count(context.report.token_estimate.tokens, 'token')] : null,
    model ? [', for ', untrusted(model)] : null,
    typeof context.thinking_level === 'string' ? [', thinking ', untrusted(context.thinking_level)] : null,
    (context.missing_card_ids ?? []).length > 0
      ? [', ', el('span', { class: 'badge bad' }, count(context.missing_card_ids.length, 'missing card'))] : null,
    ' ', copyButton(() => wholeOf(context), 'Copy all as JSON'), command ? copyButton(command, 'Copy as curl') : null);
}

/** The tools that the messages call, and how often. */
function calledTools(context) {
  const called = new Map();
  const note = (name) => called.set(name, (called.get(name) ?? 0) + 1);
  for (const one of context.messages) {
    for (const { name } of toolCalls(one)) note(name);
    const blocks = Array.isArray(one.content) ? one.content : [];
    for (const { name } of [...one.toolCalls ?? [], ...[one, ...blocks].filter((block) => isObject(block) && CALLS.has(block.type))])
      note(String(name));
  }
  return [...called];
}

async function tools(context, api, openSource) {
  const ids = [...new Set(context.tool_card_ids ?? [])].slice(-100);
  const called = calledTools(context);
  const cards = ids.length > 0 && api ? (await api.cards(ids)).data.cards : [];
  const settings = settingsNodes({ tools: context.tools, parameters: context.parameters });
  if (cards.length + called.length + settings.length === 0) return null;
  return el('details', { class: 'tools-of', 'data-part': 'tools' },
    el('summary', {}, 'Tools', called.length > 0 ? [', called: ', called.map(([name, times], at) =>
      [at > 0 ? ', ' : '', untrusted(name, { class: 'tool' }), times > 1 ? ` ${times} times` : ''])] : null),
    cards.map((card) => el('div', { class: 'content' }, content(card), el('a', {
      href: openSource(card.card_id), class: 'id', 'data-source': card.card_id,
    }, shortId(card.card_id)))),
    settings,
    cards.length + settings.length === 0 ? el('p', { class: 'faint' }, 'What these tools are is not kept here: only their calls are.') : null);
}

/** The calls that have no result yet: [{name, arguments}]. Null if there are none. */
export function openCalls(calls) {
  if (!Array.isArray(calls) || calls.length === 0) return null;
  return el('p', { class: 'open-calls' }, el('span', { class: 'badge bad' }, count(calls.length, 'open call')), calls.map((one) =>
    [' ', untrusted(one.name, { class: 'tool' }), ' ', untrusted(oneLine(typeof one.arguments === 'string' ? one.arguments : write(one.arguments ?? null), 120))]));
}

function system(context, openSource) {
  if (!context.system && !context.instructions) return null;
  return el('section', { class: 'card role-system' }, el('header', {}, el('span', { class: 'role' }, 'system')),
    parts(context.system ?? context.instructions), el('footer', {}, (context.system_sources ?? []).map((id) =>
      [el('a', { href: openSource(id), 'data-source': id }, shortId(id)), ' ']),
    el('span', { class: 'space' }), copyButton(() => write(context.system ?? context.instructions), 'Copy JSON')));
}

function choices(here) {
  const { format = 'openai', repair } = here.query;
  const to = (change) => go({ ...here, query: { ...here.query, ...change } });
  return el('div', { class: 'controls' }, FORMATS.map(([name, words]) => el('button', {
    type: 'button', 'aria-pressed': String(name === format), 'data-format': name,
    onclick: () => to({ format: name }),
  }, words)), el('label', {}, el('input', {
    type: 'checkbox', checked: repair !== 'off',
    onchange: (event) => to({ repair: event.target.checked ? undefined : 'off' }),
  }), ' repaired'), el('span', { class: 'space' }));
}

const retryButton = (retry) => el('button', {
  type: 'button', 'data-do': 'retry', title: 'a copy that continues with a message of yours', onclick: retry,
}, 'Retry');

/** Shows the context that `load` returns for the query. `title` are nodes; openSource(id) is the address of a card or
 * an entry. Optional: `api` to read the tools of a box; retry(context): asks for a message and retries;
 * command(query): that of a terminal; instead(error): nodes that offer something else. Returns the context; null if there is none. */
export async function showContext(main, here, { title, load, openSource, missing, api = null, retry = null,
  command = () => null, instead = () => null }) {
  const body = el('div', {}, el('p', { class: 'faint' }, 'Loading …'));
  const controls = choices(here);
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, title), controls), body);
  const query = { format: here.query.format, repair: here.query.repair };
  try {
    const { data } = await load(query);
    const { list, goTo } = messageList(data, openSource, here);
    fill(body, summary(data, command(query)), openCalls(data.open_calls), repairList(data, openSource, goTo),
      await tools(data, api, openSource), system(data, openSource), list);
    if (retry) add(controls, retryButton(() => retry(data)));
    return data;
  } catch (error) {
    if (error.name !== 'AbortError') fill(body, trouble(error, missing), instead(error));
    return null;
  }
}

const CARDS_MOST = 10000; // that a context may have
const TAIL = 2000; // cards of a box that is too long for one context

/** The number of cards that a box has at a version; 0: it is not known. */
async function lengthOf(api, box, version) {
  try {
    const { data } = await api.log(box, version === undefined ? undefined : Number(version) + 1, 1);
    return data.log[0]?.length ?? 0;
  } catch {
    return 0; // the request for the context reports what is wrong
  }
}

/** Names the boxes to which the title links, and the page by the first of them. */
async function nameBoxes(title, api) {
  const links = [...title.querySelectorAll('a[data-box]')];
  const names = await Promise.all(links.map(async ({ dataset: { box } }) => {
    try {
      return sentence(await boxText(api, box));
    } catch {
      return ''; // its id stands there
    }
  }));
  names.forEach((name, at) => name && fill(links[at], untrusted(name)));
  if (names[0] && title.isConnected) setTitle(names[0]);
}

/** Retries from the context of a box: with a fork of it; if another box follows, with a session of its messages. */
function askToRetry(api, here, wanted, version) {
  if (here.query.then) {
    askToRetryInSession(api, here, { title: 'Retry in a session', name: document.querySelector('h1').textContent,
      load: async () => (await api.boxContext(here.id, wanted({ format: 'openai' }))).data.messages });
  } else askToForkBox(api, here, here.id, { isRetry: true, body: { at_version: version }, what: `version ${version}` });
}

/** The context of a box, as it is or was. */
export async function showBoxContext(main, api, here) {
  const { version, then } = here.query;
  fill(main, el('p', { class: 'faint' }, 'Loading …'));
  const tail = here.query.tail ?? (await lengthOf(api, here.id, version) > CARDS_MOST ? TAIL : undefined);
  const to = (change) => ({ ...here, query: { ...here.query, card: undefined, ...change } });
  const boxLink = (id, at) => [
    el('a', { href: link({ project: here.project, view: 'box', id, query: { version: at } }), 'data-box': id }, untrusted(id, { class: 'id' })),
    at ? el('span', { class: 'faint' }, ` at version ${at}`) : null];
  const wanted = (query) => ({ ...query, at_version: version, then, tail });
  const context = await showContext(main, here, {
    title: [el('span', { class: 'faint' }, 'What a model gets of box '),
      boxLink(here.id, version),
      then ? [el('span', { class: 'faint' }, ' and then of '), boxLink(...then.split('@'))] : null,
      tail ? el('span', { class: 'faint' }, `, of the last ${tail} cards`) : null],
    load: (query) => api.boxContext(here.id, wanted(query)),
    instead: (error) => (error.status === 413 && !tail ? el('p', { class: 'notice' }, el('a', {
      href: link(to({ tail: TAIL })), 'data-do': 'tail',
    }, `Show what a model gets of the last ${count(TAIL, 'card')}`)) : null),
    openSource: (card) => link({ ...here, query: { ...here.query, card } }),
    missing: ['No such box', 'There is none with this id in this project.', here.id], api, retry: ({ version: shown }) => askToRetry(api, here, wanted, shown),
    command: (query) => commandOf(api.address(['boxes', here.id, 'context'], wanted(query))),
  });
  if (context === null) return;
  nameBoxes(main.querySelector('h1'), api);
  const step = (by) => async () => {
    const next = context.version + by;
    const { data: { version: newest } } = await api.box(here.id, { at_length: 0 });
    if (next >= 1 && next <= newest) go(to({ version: next < newest ? next : undefined }));
  };
  pageKeys({ ArrowLeft: ['one version back', step(-1)], ArrowRight: ['one version on', step(1)] });
}
