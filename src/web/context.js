// context.js: what a model gets: the messages of a context as its API takes them, with their roles,
// calls and results, and what had to be repaired. Knows no box and no session.
import { block, count, el, fill, foreign, notice } from './dom.js';
import { isObject, json, jsonOrText, toolCalls } from './content.js';
import { write } from './json.js';
import { go, link } from './place.js';
import { trouble } from './trouble.js';

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);
const FORMATS = [['openai', 'OpenAI'], ['anthropic', 'Anthropic'], ['entries', 'As stored']];
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

// --- a message ---

// Each takes a block of a message and gives nodes.
const BLOCKS = {
  text: (one) => block(String(one.text ?? ''), { class: 'text' }),
  thinking: (one) => el('details', {}, el('summary', {}, 'thinking'),
    block(String(one.thinking ?? ''), { class: 'text' })),
  tool_use: (one) => call(one.name, one.id, one.input),
  tool_result: (one) => el('div', { class: 'call' },
    el('span', { class: one.is_error ? 'badge bad' : 'badge' }, 'result'), ' ',
    foreign(one.tool_use_id ?? '', { class: 'id' }), parts(one.content)),
  image: () => el('p', { class: 'faint' }, 'An image.'),
  image_url: () => el('p', { class: 'faint' }, 'An image.'),
};

function call(name, id, input) {
  return el('div', { class: 'call' }, el('span', { class: 'tool' }, foreign(name ?? 'tool')), ' ',
    foreign(id ?? '', { class: 'id faint' }), jsonOrText(input));
}

function parts(content) {
  if (typeof content === 'string') return block(content, { class: 'text' });
  if (!Array.isArray(content)) return content ? json(content) : null;
  return content.map((one) => (isObject(one) && Object.hasOwn(BLOCKS, one.type)
    ? BLOCKS[one.type](one) : json(one)));
}

function roleOf(message) {
  const role = message.role ?? message.message?.role ?? message.metadata?.role ?? message.type;
  return typeof role === 'string' ? role : '';
}

function messageItem(message, place, digest, stored) {
  const role = roleOf(message);
  return el('article', {
    class: `card role-${ROLES.has(role) ? role : 'other'}`, 'data-message': place,
  }, el('header', {}, el('span', { class: 'role' }, foreign(role || 'no role')),
    message.tool_call_id && !stored ? ['answers ', foreign(message.tool_call_id, { class: 'id' })] : null,
    el('span', { class: 'space' }),
    el('span', { class: 'id', title: `digest of all up to here: ${digest}` }, digest.slice(0, 8)),
    el('span', { class: 'position' }, place + 1)),
  el('div', { class: 'content' }, stored ? json(message) : [parts(message.content),
    toolCalls(message).map((one) => call(one.name, one.id, one.arguments))]));
}

function messageList(context) {
  const list = el('div', { class: 'cards' });
  const stored = context.format === 'entries';
  const more = el('button', { type: 'button', class: 'wide' });
  let shown = 0;
  const draw = () => {
    const next = context.messages.slice(shown, shown + SHOWN_AT_ONCE);
    more.remove();
    list.append(...next.map((one, at) => messageItem(one, shown + at, context.digests[shown + at], stored)));
    shown += next.length;
    more.textContent = `Show more (${count(context.messages.length - shown, 'message')})`;
    if (shown < context.messages.length) list.append(more);
  };
  more.addEventListener('click', draw);
  draw();
  if (shown === 0) list.append(notice('No messages', 'Nothing here is for a model.'));
  return list;
}

// --- what is around them ---

function repairList({ report }, openSource) {
  if (report.repairs.length === 0)
    return el('p', { class: 'faint' }, 'Nothing had to be repaired.');
  return el('details', { class: 'repairs' }, el('summary', {}, count(report.repairs.length, 'repair')),
    el('ul', {}, report.repairs.map((one) => el('li', {}, REPAIRS[one.repair] ?? foreign(one.repair),
      ': ', el('a', { href: openSource(one.entry), class: 'id' }, foreign(one.entry)),
      one.call ? [', call ', foreign(one.call, { class: 'id' })] : null))));
}

function summary(context) {
  const characters = write(context.messages).length;
  const model = [context.provider, context.model].filter((one) => typeof one === 'string').join('/');
  return el('p', { class: 'facts' }, count(context.messages.length, 'message'), ', ',
    count(characters, 'character'), model ? [', for ', foreign(model)] : null,
    typeof context.thinking_level === 'string' ? [', thinking ', foreign(context.thinking_level)] : null,
    (context.missing_card_ids ?? []).length > 0
      ? [', ', el('span', { class: 'badge bad' }, count(context.missing_card_ids.length, 'missing card'))] : null);
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
  }), ' repaired'));
}

/** Shows what `load` gives of the query. `title` are nodes; openSource(id) is an address. */
export async function showContext(main, here, { title, load, openSource, missing }) {
  const body = el('div', {}, el('p', { class: 'faint' }, 'Loading …'));
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, title), choices(here)), body);
  try {
    const { data } = await load({ format: here.query.format, repair: here.query.repair });
    fill(body, summary(data), repairList(data, openSource),
      data.system ? el('section', { class: 'card role-system' }, el('header', {},
        el('span', { class: 'role' }, 'system')), parts(data.system)) : null, messageList(data));
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(body, trouble(error, missing));
  }
}

/** The context of a box, as it is or was. */
export function showBoxContext(main, api, here) {
  const { version, then } = here.query;
  const box = { project: here.project, view: 'box', id: here.id, query: { version } };
  return showContext(main, here, {
    title: [el('span', { class: 'faint' }, 'What a model gets of box '),
      el('a', { href: link(box) }, foreign(here.id, { class: 'id' })),
      version ? el('span', { class: 'faint' }, ` at version ${version}`) : null,
      then ? el('span', { class: 'faint' }, ', then of ', foreign(then, { class: 'id' })) : null],
    load: (query) => api.boxContext(here.id, { ...query, at_version: version, then }),
    openSource: (card) => link({ ...here, query: { ...here.query, card } }),
    missing: ['No such box', 'There is none with this id in this project.', here.id],
  });
}
