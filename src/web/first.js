// first.js: the page of a project without contents. It shows programs that write the first entry of a session, with the
// address of this server and the name of the project. tests/web/test_overview.py runs each of them.
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

const FIRST = { create: { dialect: 'plain' }, entry: { id: 'hello', type: 'user', content: 'Hello, CardBox.' } };

// {name, how: what must be there, write(project): the program}
const PROGRAMS = [{
  name: 'curl',
  how: 'In a shell:',
  write: (project) => `${commandOf(`${server()}/projects/${encodeURIComponent(project)}/sessions/first/entries`, FIRST)}\n`,
}, {
  name: 'TypeScript',
  how: 'Run npm install in openapi/clients/typescript of the repository, and then, in your folder, ' +
    'npm install CLONE/openapi/clients/typescript and npx -y tsx first.mts:',
  write: (project) => `import { CardBox } from "cardbox";

const server = new CardBox(${text(server())}${token.get() ? ', { token: process.env.CARDBOX_TOKEN! }' : ''});
const session = server.project(${text(project)}).session("first");
await session.append({ id: "hello", type: "user", content: "Hello, CardBox." }, { create: "plain" });
console.log((await session.context({ format: "openai" })).messages);
`,
}, {
  name: 'Python',
  how: 'Beside a copy of openapi/clients/python/cardbox.py, run python3 first.py:',
  write: (project) => `${token.get() ? 'import os\n' : ''}from cardbox import CardBox

server = CardBox(${text(server())}${token.get() ? ', os.environ["CARDBOX_TOKEN"]' : ''})
session = server.project(${text(project)}).session("first")
session.append({"id": "hello", "type": "user", "content": "Hello, CardBox."}, create="plain")
print(session.context(format="openai")["messages"])
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
    const char *entry = "{\\"id\\":\\"hello\\",\\"type\\":\\"user\\",\\"content\\":\\"Hello, CardBox.\\"}";
    cardbox *db = NULL;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_session_options plain = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox_session_append_options append = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;

    options.conninfo = getenv("CARDBOX_DSN");
    append.create = &plain;
    if (cardbox_open(&db, &options, &err) ||
        cardbox_session_append(NULL, db, ${textInC(project)}, "first", &entry, 1, &append, &err))
        return fprintf(stderr, "%s\\n", err.message), 1;
    puts(${textInC(`${server()}/ui/#/${encodeURIComponent(project)}`)});
    cardbox_close(db);
    return 0;
}
`,
}];

const WAIT_MS = 3000; // between two looks for the first contents

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

/** Shows how to write the first entry of the project at `here`. `onfound` is called once it has something. */
export function showFirstEntry(main, api, here, signal, onfound) {
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
    el('p', {}, 'This project has nothing yet. For an agent loop of your own, begin with a session:')), chips, shown,
  el('p', { class: 'faint' }, 'This page shows the session as soon as it is there. Boxes of cards are for several agents that share content, ' +
    'and tasks for work that a worker runs: see ', el('a', { href: '../docs' }, 'API'), '.',
    token.get() ? ' The token is read from CARDBOX_TOKEN.' : null));
  show(PROGRAMS[0]);
  lookAgain(api, signal, onfound).catch(() => {}); // the server went away: the page stays as it is
}
