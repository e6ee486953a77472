// first.js: what a project without contents shows: programs that write its first card, with the address
// of this server and the name of the project. tests/web/test_overview.py runs each of them.
import { copyButton, el, fill, untrusted } from './dom.js';
import { server, token } from './api.js';
import { commandOf } from './curl.js';

/** A string of JavaScript and of Python. */
const text = (value) => JSON.stringify(value);

/** A string of C: every byte that is not printable is an octal escape. */
function textInC(value) {
  const bytes = [...new TextEncoder().encode(value)];
  return '"' + bytes.map((byte) => (byte < 32 || byte > 126 || '"\\?'.includes(String.fromCharCode(byte))
    ? '\\' + byte.toString(8).padStart(3, '0') : String.fromCharCode(byte))).join('') + '"';
}

const CARD = { card_id: 'hello', type: 'task.instruction', content: { __type__: 'TextContent', text: 'Hello, CardBox.' } };

// {name, how: what must be there, write(project): the program}
const PROGRAMS = [{
  name: 'curl',
  how: 'In a shell:',
  write: (project) => `${commandOf(`${server()}/projects/${encodeURIComponent(project)}/cards`, CARD)}\n`,
}, {
  name: 'TypeScript',
  how: 'Run npm install in openapi/clients/typescript of the repository, and then, in your folder, ' +
    'npm install CLONE/openapi/clients/typescript and npx -y tsx first.mts:',
  write: (project) => `import { CardBox } from "cardbox";

const server = new CardBox(${text(server())}${token.get() ? ', { token: process.env.CARDBOX_TOKEN! }' : ''});
const made = await server.project(${text(project)}).cards.add({
  card_id: "hello", type: "task.instruction",
  content: { __type__: "TextContent", text: "Hello, CardBox." } });
console.log(made);
`,
}, {
  name: 'Python',
  how: 'Beside a copy of openapi/clients/python/cardbox.py, run python3 first.py:',
  write: (project) => `${token.get() ? 'import os\n' : ''}from cardbox import CardBox

server = CardBox(${text(server())}${token.get() ? ', os.environ["CARDBOX_TOKEN"]' : ''})
made = server.project(${text(project)}).cards.add({
    "card_id": "hello", "type": "task.instruction",
    "content": {"__type__": "TextContent", "text": "Hello, CardBox."}})
print(made)
`,
}, {
  name: 'C',
  how: 'The library writes to the database. After make install, run cc first.c $(pkg-config --cflags --libs cardbox), ' +
    'and then CARDBOX_DSN="$(cat var/dsn)" ./a.out:',
  write: (project) => `#include <cardbox.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    cardbox *db = NULL;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_card card = CARDBOX_CARD_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;

    options.conninfo = getenv("CARDBOX_DSN");
    card.card_id = "hello";
    card.type = CARDBOX_TYPE_INSTRUCTION;
    card.content = "{\\"__type__\\":\\"TextContent\\",\\"text\\":\\"Hello, CardBox.\\"}";
    if (cardbox_open(&db, &options, &err) ||
        cardbox_add_card(NULL, db, ${textInC(project)}, &card, NULL, &err))
        return fprintf(stderr, "%s\\n", err.message), 1;
    puts(${textInC(`${server()}/ui/#/${encodeURIComponent(project)}`)});
    cardbox_close(db);
    return 0;
}
`,
}];

const WAIT_MS = 3000; // between two looks for the first card

/** Goes to the overview once there is something. */
async function lookAgain(api, signal, onfound) {
  while (!signal.aborted) {
    await new Promise((resolve) => { setTimeout(resolve, WAIT_MS); });
    if (signal.aborted) return;
    if (document.hidden) continue;
    const { data } = await api.counts();
    if (data.cards + data.boxes + data.sessions + data.tasks > 0) { onfound(); return; }
  }
}

/** Shows how to write the first card of the project at `here`. `onfound` is called once it has something. */
export function showFirstCard(main, api, here, signal, onfound) {
  const shown = el('div', {});
  const show = ({ name, how, write }) => {
    const program = write(here.project);
    for (const one of chips.children) one.setAttribute('aria-pressed', String(one.textContent === name));
    fill(shown, el('p', { class: 'how' }, how, ' ', copyButton(program)),
      el('pre', { class: 'code', 'data-program': name, tabindex: 0 }, program));
  };
  const chips = el('div', { class: 'chips' }, PROGRAMS.map((one) => el('button', {
    type: 'button', class: 'chip', onclick: () => show(one),
  }, one.name)));
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, untrusted(here.project)),
    el('p', {}, 'This project has nothing yet. It begins with its first card:')), chips, shown,
  el('p', { class: 'faint' }, 'This page shows the card as soon as it is there.',
    token.get() ? ' The token is read from CARDBOX_TOKEN.' : null));
  show(PROGRAMS[0]);
  lookAgain(api, signal, onfound).catch(() => {}); // the server went away: the page stays as it is
}
