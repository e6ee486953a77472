/**
 * A client of CardBox. The names of members, parameters and schemas are those of the OpenAPI document.
 *
 * A request that fails without an answer, or with 429, 502, 503 or 504, is sent again if it is safe to repeat. If a write
 * needs an id or a key to be safe, and the caller sets none, the client sets one. All other failures throw a CardBoxError.
 */

import {
    areOpen, continues, parseContextText,
    type Added, type BoxContext, type ContextQuery, type MessageFormat, type MessageOptions, type SessionContext,
} from "./messages.js";
import { CardBoxError, Transport, uuid7, type Call, type ClientOptions, type RequestOptions, type TaskEvent } from "./transport.js";
import type {
    AbilityInput, AbilityName, AbilityOutput, AddOptions, Answer, Body, ContextFormat, NewCard, NewEntry, Query,
} from "./types.js";

export { CardBoxError, uuid7, type ClientOptions, type Fault, type RequestOptions, type TaskEvent } from "./transport.js";
export type {
    Added, ApiMessage, BoxContext, ContextQuery, LoopState, MessageFormat, MessageOptions, OpenCall, SessionContext,
} from "./messages.js";
export type * from "./types.js";
export type { components, operations, paths } from "./schema.js";

/** The content of a file to import: its text or bytes, or its lines without line feeds. */
export type Lines = string | Uint8Array | readonly string[];

type Sent<T> = Omit<Call<T>, "path" | "safe" | "options">;

/** Requests to paths below one path. */
class Resource {
    protected readonly path: string[];
    protected readonly transport: Transport;

    constructor(transport: Transport, ...path: string[]) {
        this.transport = transport;
        this.path = path;
    }

    protected read<T>(path: string[], query: object | undefined, options: RequestOptions | undefined): Promise<T> {
        return this.transport.send<T>({ method: "GET", path: [...this.path, ...path], query, safe: true, options });
    }

    protected write<T>(path: string[], sent: Sent<T>, options: RequestOptions | undefined, safe = true): Promise<T> {
        return this.transport.send<T>({ ...sent, path: [...this.path, ...path], safe, options });
    }

    protected post<T>(path: string[], json: unknown, options: RequestOptions | undefined, safe = true): Promise<T> {
        return this.write<T>(path, { method: "POST", json }, options, safe);
    }

    protected importLines<T>(path: string[], lines: Lines, query: object | undefined, options: RequestOptions | undefined): Promise<T> {
        const text = typeof lines === "string" || lines instanceof Uint8Array ? lines : lines.map((line) => `${line}\n`).join("");
        return this.write<T>(path, { method: "POST", query, lines: text }, options);
    }

    protected exportLines(path: string[], query: object | undefined, options: RequestOptions | undefined): AsyncGenerator<string, void, undefined> {
        return this.transport.lines({ method: "GET", path: [...this.path, ...path], query, safe: true, options });
    }
}

/** A CardBox server. */
export class CardBox extends Resource {
    /** `url` is the base URL of the server, such as `http://127.0.0.1:8099`. */
    constructor(url: string, options: ClientOptions = {}) {
        super(new Transport(url, options));
    }

    /** A project of the server. No request is sent. */
    project(projectId: string): Project {
        return new Project(this.transport, "projects", projectId);
    }

    /** One page of all projects, for tokens of operators. */
    projects(query: Query<"listProjects"> = {}, options?: RequestOptions): Promise<Answer<"listProjects">> {
        return this.read(["projects"], query, options);
    }
}

/** A project: its cards, boxes, sessions, abilities and tasks. */
export class Project extends Resource {
    readonly cards = new Cards(this.transport, ...this.path, "cards");
    readonly boxes = new Boxes(this.transport, ...this.path, "boxes");
    readonly sessions = new Sessions(this.transport, ...this.path, "sessions");
    readonly abilities = new Abilities(this.transport, ...this.path, "abilities");

    /** The box with this id. No request is sent. */
    box(boxId: string): Box {
        return new Box(this.transport, ...this.path, "boxes", boxId);
    }

    /** The session with this id. `format` is the format of messages in `add` and `context`, by default `openai`. No request is sent. */
    session<Format extends MessageFormat = "openai">(sessionId: string, { format }: { format?: Format } = {}): Session<Format> {
        return new Session<Format>((format ?? "openai") as Format, this.transport, ...this.path, "sessions", sessionId);
    }

    /** The task with this id. No request is sent. */
    task(taskId: string): Task {
        return new Task(this.transport, ...this.path, "tasks", taskId);
    }

    /** One page of the cards, messages and entries that have all words of `q`, newest first. */
    search(q: string, query: Omit<Query<"search">, "q"> = {}, options?: RequestOptions): Promise<Answer<"search">> {
        return this.read(["search"], { q, ...query }, options);
    }

    /** The lines of an export of the whole project. */
    export(options?: RequestOptions): AsyncGenerator<string, void, undefined> {
        return this.exportLines(["export"], undefined, options);
    }

    /** Imports an export of a project. */
    import(lines: Lines, options?: RequestOptions): Promise<Answer<"importProject">> {
        return this.importLines(["import"], lines, undefined, options);
    }
}

/** The cards of a project. */
export class Cards extends Resource {
    /** Adds one card, or up to 1,000 cards: all of them, or none. A card without a `card_id` gets a new UUIDv7. */
    add(card: NewCard, how?: AddOptions, options?: RequestOptions): Promise<Extract<Answer<"addCards">, { card_id: string }>>;
    add(cards: readonly NewCard[], how?: AddOptions, options?: RequestOptions): Promise<Extract<Answer<"addCards">, { cards: unknown }>>;
    add(given: NewCard | readonly NewCard[], how: AddOptions = {}, options?: RequestOptions): Promise<any> {
        const identified = (card: NewCard): NewCard => ({ ...card, card_id: card.card_id ?? uuid7() });
        const json = Array.isArray(given) ? { cards: given.map(identified), ...how } : { ...identified(given as NewCard), ...how };
        return this.post([], json, options);
    }

    /** One card. */
    get(cardId: string, options?: RequestOptions): Promise<Answer<"getCard">> {
        return this.read([cardId], undefined, options);
    }

    /** Up to 100 cards, and the ids that are missing. */
    getMany(cardIds: readonly string[], options?: RequestOptions): Promise<Answer<"getCards">> {
        return this.post(["batch"], { card_ids: cardIds }, options);
    }

    /** One page of cards, newest first. */
    list(query: Query<"listCards"> = {}, options?: RequestOptions): Promise<Answer<"listCards">> {
        return this.read([], query, options);
    }

    /** Deletes a card. */
    delete(cardId: string, options?: RequestOptions): Promise<Answer<"deleteCard">> {
        return this.write([cardId], { method: "DELETE" }, options);
    }

    /** One page of the earlier contents of a repaired card. */
    revisions(cardId: string, query: Query<"getCardRevisions"> = {}, options?: RequestOptions): Promise<Answer<"getCardRevisions">> {
        return this.read([cardId, "revisions"], query, options);
    }

    /** One page of the boxes that contain a card. */
    boxes(cardId: string, query: Query<"getCardBoxes"> = {}, options?: RequestOptions): Promise<Answer<"getCardBoxes">> {
        return this.read([cardId, "boxes"], query, options);
    }
}

/** The boxes of a project. */
export class Boxes extends Resource {
    /** Creates a box. Without a `box_id`, the box gets a new UUIDv7. */
    create(box: Body<"createBox"> = {}, options?: RequestOptions): Promise<Answer<"createBox">> {
        return createBox(this.transport, this.path, this.path, box, options);
    }

    /** Up to 100 boxes, with cards if `hydrate` is true. */
    getMany(boxIds: readonly string[], how: Omit<Body<"getBoxes">, "box_ids"> = {}, options?: RequestOptions): Promise<Answer<"getBoxes">> {
        return this.post(["batch"], { box_ids: boxIds, ...how }, options);
    }

    /** One page of boxes, newest first. */
    list(query: Query<"listBoxes"> = {}, options?: RequestOptions): Promise<Answer<"listBoxes">> {
        return this.read([], query, options);
    }
}

/** Creates a box with an id that the client knows, so that a repeated request can find the box. */
function createBox(
    transport: Transport,
    boxes: string[],
    path: string[],
    body: { box_id?: string | null },
    options: RequestOptions | undefined,
): Promise<Answer<"createBox">> {
    const box_id = body.box_id ?? uuid7();
    const call: Call<Answer<"createBox">> = { method: "POST", path, json: { ...body, box_id }, safe: true, options };
    if (body.box_id === undefined || body.box_id === null)
        call.exists = async () => {
            const found = await transport.send<Answer<"getBox">>({ method: "GET", path: [...boxes, box_id], safe: true, options });
            return { box_id, version: found.version!, length: found.length! };
        };
    return transport.send(call);
}

/** One box: an ordered list of card ids. */
export class Box extends Resource {
    /** The id of the box. */
    get id(): string {
        return this.path.at(-1)!;
    }

    /** The card ids and the version of the box, now or at an earlier version. */
    get(query: Query<"getBox"> = {}, options?: RequestOptions): Promise<Answer<"getBox">> {
        return this.read([], query, options);
    }

    /** The cards of the last `limit` ids of the box, in the order of the box. */
    cards(query: Query<"getBoxCards"> = {}, options?: RequestOptions): Promise<Answer<"getBoxCards">> {
        return this.read(["cards"], query, options);
    }

    /** Appends card ids once. Without a `key`, the client makes an Idempotency-Key for this call. */
    append(
        cardIds: readonly string[],
        { key = uuid7(), ...how }: Omit<Body<"appendToBox">, "card_ids"> & { key?: string } = {},
        options?: RequestOptions,
    ): Promise<Answer<"appendToBox">> {
        const json = { card_ids: cardIds, ...how };
        return this.write(["append"], { method: "POST", json, headers: { "Idempotency-Key": key } }, options);
    }

    /** Replaces the list. With `expected_version`, the request is safe to repeat: then a repetition may find its own change, and throw 409. */
    replace(cardIds: readonly string[], how: Omit<Body<"replaceBox">, "card_ids"> = {}, options?: RequestOptions): Promise<Answer<"replaceBox">> {
        return this.write([], { method: "PUT", json: { card_ids: cardIds, ...how } }, options, typeof how.expected_version === "number");
    }

    /** Creates a box from the list of this box. Without a `box_id`, the new box gets a new UUIDv7. */
    fork(how: Body<"forkBox"> = {}, options?: RequestOptions): Promise<Answer<"forkBox">> {
        return createBox(this.transport, this.path.slice(0, -1), [...this.path, "fork"], how, options);
    }

    /** Seals the box: its list can't be changed any more. */
    seal(options?: RequestOptions): Promise<Answer<"sealBox">> {
        return this.post(["seal"], {}, options);
    }

    /** Deletes the box. Its cards remain. */
    delete(options?: RequestOptions): Promise<Answer<"deleteBox">> {
        return this.write([], { method: "DELETE" }, options);
    }

    /** One page of the changes of the box, newest first. */
    log(query: Query<"getBoxLog"> = {}, options?: RequestOptions): Promise<Answer<"getBoxLog">> {
        return this.read(["log"], query, options);
    }

    /** The messages for a language model. */
    context<Format extends ContextFormat = "openai">(
        query: Query<"getBoxContext"> & { format?: Format } = {},
        options?: RequestOptions,
    ): Promise<BoxContext<Format>> {
        return this.read(["context"], query, options);
    }
}

/** The sessions of a project. */
export class Sessions extends Resource {
    /** One page of sessions, newest first. */
    list(query: Query<"listSessions"> = {}, options?: RequestOptions): Promise<Answer<"listSessions">> {
        return this.read([], query, options);
    }
}

/** Options of an append. */
export interface AppendOptions {
    /** The dialect of the session. If the session is missing, it is created. */
    create?: "plain" | "pi";
    /**
     * Identifies the append to this session, also after a crash of the caller. Without a key, the client makes one for
     * this call.
     */
    key?: string;
    /** The version that the session must have. */
    expected_version?: number;
}

/**
 * Adds ids, so that the entries are the same in each try. With a key of the caller, the id of entry n is KEY:n. Such entries
 * get no timestamp: the server stores the time of each line beside it.
 */
function identified(entries: readonly NewEntry[], key: string | undefined): NewEntry[] {
    return entries.map((entry, n) => (entry.id !== undefined ? entry : { id: key === undefined ? uuid7() : `${key}:${n}`, ...entry }));
}

/** The context that the caller of a session has read. */
interface Seen {
    query: object;
    /** The version that the session has, unless another process has changed it. */
    version: number;
    /** The last digest of the messages, and `next`; undefined: messages were added since. */
    state: string | undefined;
}

function stateOf(context: any): string {
    return `${context.digests.at(-1) ?? ""} ${context.next}`; // an answer that says nothing changes only `next`
}

/** One session: a tree of entries. */
export class Session<Format extends MessageFormat = "openai"> extends Resource {
    readonly #format: Format;
    #seen: Seen | undefined;
    #adding: Promise<unknown> = Promise.resolve();

    constructor(format: Format, transport: Transport, ...path: string[]) {
        super(transport, ...path);
        this.#format = format;
    }

    /** The id of the session. */
    get id(): string {
        return this.path.at(-1)!;
    }

    /** Creates the session, unless it exists. With `strict`, an existing session is a conflict, and the request is not repeated. */
    create(body: Body<"createSession"> = {}, options?: RequestOptions): Promise<Answer<"createSession">> {
        return this.write([], { method: "PUT", json: body }, options, body.strict !== true);
    }

    /** The session with its head and its version. */
    get(options?: RequestOptions): Promise<Answer<"getSession">> {
        return this.read([], undefined, options);
    }

    /** Deletes the session with all entries. If the client repeats the request after a lost answer, it may throw 404. */
    delete(options?: RequestOptions): Promise<Answer<"deleteSession">> {
        return this.write([], { method: "DELETE" }, options);
    }

    /**
     * Appends one entry, or up to 1,000 entries: all of them, or none. An entry without an id gets an id. The answers to reads
     * have the time of each entry as `appended_at`.
     *
     * To continue after a crash of the caller, set the ids of the entries: an entry that is stored with the same content is
     * `unchanged`, and other content is a conflict. Or set a `key`: entries without an id then get the ids KEY:0, KEY:1 and so
     * on, by their index in the list. The same call after a crash appends nothing.
     */
    append(entries: NewEntry | readonly NewEntry[], how: AppendOptions = {}, options?: RequestOptions): Promise<Answer<"appendToSession">> {
        const { create, key, ...more } = how;
        const list = Array.isArray(entries) ? (entries as readonly NewEntry[]) : [entries as NewEntry];
        const json = { entries: identified(list, key), ...(create !== undefined && { create: { dialect: create } }), ...more };
        return this.write(["entries"], { method: "POST", json, headers: { "Idempotency-Key": key ?? uuid7() } }, options);
    }

    /**
     * Adds messages as a model's API returned them, or as it accepts them: one, or up to 1,000; all of them, or none. A text
     * is JSON of a message or of a list. The session is created if it is missing.
     *
     * After `context`, an answer or a result is stored only if the messages of the context are still the same, or if the
     * result's call is still open. Otherwise another process was quicker: nothing is stored. `add` then returns no `ids`, and
     * where the loop stands now. The loop goes on from the next `context`. With an `expected_version` of the caller, this is
     * an error instead.
     */
    add(messages: object | readonly object[] | string, how: MessageOptions = {}, options?: RequestOptions): Promise<Added> {
        const text = typeof messages === "string" ? messages : JSON.stringify(messages);
        const added = this.#adding.then(() => this.#add(text, how, options)); // one after the other, so that versions follow
        this.#adding = added.catch(() => undefined);
        return added;
    }

    async #add(text: string, { key = uuid7(), format = this.#format, ...how }: MessageOptions, options?: RequestOptions): Promise<Added> {
        const list = [JSON.parse(text)].flat();
        const chosen = how.expected_version !== undefined || how.parent_id !== undefined;
        const seen = !chosen && continues(list) ? this.#seen : undefined;
        for (let expected = seen?.version; ; ) {
            const rest = JSON.stringify({ ...how, ...(expected !== undefined && { expected_version: expected }), format });
            const sent = { method: "POST", text: `{"messages":${text},${rest.slice(1)}`, headers: { "Idempotency-Key": key } };
            try {
                const added = await this.write<Added>(["messages"], sent, options);
                this.#seen = seen && { ...seen, version: expected === seen.version ? added.version : seen.version, state: undefined };
                return added;
            } catch (error) {
                const wasQuicker = error instanceof CardBoxError && error.status === 409 && (error.currentVersion ?? expected) !== expected;
                if (!seen || !wasQuicker) throw error;
                const now: any = await this.read(["context"], seen.query, options);
                if (!areOpen(list, now) && stateOf(now) !== seen.state) {
                    this.#seen = { ...seen, state: undefined }; // until the caller has read the context
                    return { ids: [], version: now.version, leaf: now.leaf, next: now.next, open_calls: now.open_calls };
                }
                expected = now.version;
            }
        }
    }

    /** The messages for a language model on the path to a leaf, by default the head, and where the loop of an agent stands. */
    async context<Chosen extends ContextFormat | MessageFormat = Format, Text extends boolean = false>(
        { text, ...query }: ContextQuery<Chosen, Text> = {},
        options?: RequestOptions,
    ): Promise<SessionContext<Chosen, Text>> {
        const asked: Record<string, unknown> = { ...query, format: query.format ?? this.#format };
        const parse = text ? parseContextText : undefined;
        const found: any = await this.transport.send({ method: "GET", path: [...this.path, "context"], query: asked, safe: true, parse, options });
        const ofHead = asked["leaf"] === undefined && asked["branchLeafId"] === undefined;
        this.#seen = ofHead ? { query: asked, version: found.version, state: stateOf(found) } : undefined;
        return found;
    }

    /** One entry with its JSON. */
    entry(entryId: string, options?: RequestOptions): Promise<Answer<"getEntry">> {
        return this.read(["entries", entryId], undefined, options);
    }

    /** One page of all entries in the order of their lines. */
    tree(query: Query<"listSessionTree"> = {}, options?: RequestOptions): Promise<Answer<"listSessionTree">> {
        return this.read(["tree"], query, options);
    }

    /** One page of the entries without children. */
    leaves(query: Query<"listSessionLeaves"> = {}, options?: RequestOptions): Promise<Answer<"listSessionLeaves">> {
        return this.read(["leaves"], query, options);
    }

    /** One page of the entries with several children. */
    branchPoints(query: Query<"listSessionBranchPoints"> = {}, options?: RequestOptions): Promise<Answer<"listSessionBranchPoints">> {
        return this.read(["branch-points"], query, options);
    }

    /** One page of the entries that have a label. */
    labels(query: Query<"listSessionLabels"> = {}, options?: RequestOptions): Promise<Answer<"listSessionLabels">> {
        return this.read(["labels"], query, options);
    }

    /** One page of the children of an entry. */
    children(entryId: string, query: Query<"listEntryChildren"> = {}, options?: RequestOptions): Promise<Answer<"listEntryChildren">> {
        return this.read(["entries", entryId, "children"], query, options);
    }

    /** One page of the path from the root to an entry. If the id is undefined: to the head. */
    pathTo(entryId?: string, query: Query<"listEntryPath"> = {}, options?: RequestOptions): Promise<Answer<"listEntryPath">> {
        return this.read(entryId === undefined ? ["path"] : ["entries", entryId, "path"], query, options);
    }

    /** The last common entry of two entries, and the entries after it on both paths. */
    diff(a: string, b: string, query: Omit<Query<"compareEntries">, "a" | "b"> = {}, options?: RequestOptions): Promise<Answer<"compareEntries">> {
        return this.read(["diff"], { a, b, ...query }, options);
    }

    /** Moves the head. With an expected head or version, the request is safe to repeat: then a repetition may find its own change, and throw 409. */
    moveHead(entryId: string, how: Omit<Body<"moveSessionHead">, "entry_id"> = {}, options?: RequestOptions): Promise<Answer<"moveSessionHead">> {
        const safe = typeof how.expected_head === "string" || typeof how.expected_version === "number";
        return this.write(["head"], { method: "PUT", json: { entry_id: entryId, ...how } }, options, safe);
    }

    /** Copies the path to an entry into a new session. Without a `session_id`, the new session gets a new UUIDv7. */
    fork(how: Body<"forkSession"> = {}, options?: RequestOptions): Promise<Answer<"forkSession">> {
        const session_id = how.session_id ?? uuid7();
        const sent: Sent<Answer<"forkSession">> = { method: "POST", json: { ...how, session_id } };
        if (how.session_id === undefined || how.session_id === null)
            sent.exists = async () => {
                const made = await new Session(this.#format, this.transport, ...this.path.slice(0, -1), session_id).get(options);
                return { session_id, forked_from: this.id, entries: made.entries, version: made.version };
            };
        return this.write(["fork"], sent, options);
    }

    /** The lines of the session's file, or of one branch (`leaf`). */
    export(query: Query<"exportSession"> = {}, options?: RequestOptions): AsyncGenerator<string, void, undefined> {
        return this.exportLines(["export"], query, options);
    }

    /** Imports a session file. The report lists the lines that have problems. */
    import(lines: Lines, query: Query<"importSession"> = {}, options?: RequestOptions): Promise<Answer<"importSession">> {
        return this.importLines(["import"], lines, query, options);
    }
}

/** Options of a call of an ability. */
export interface CallOptions extends RequestOptions {
    /** The caller's name, for the server's log. */
    callerId?: string;
    /** The name of the call, for the server's log. */
    callId?: string;
    /** The call is safe to repeat. Default: true for built-in abilities that read, for `ldg:*:save`, and with an `idempotency_key`. */
    repeat?: boolean;
}

const READING = /^(bus:.*|search:find|(card|box|session|ldg|task|usage):(.*:)?(get|batch|list|query|revisions|boxes|cards|context|log|entry|tree|children|leaves|branch_points|labels|path|diff|active))$/;

/** The abilities of a project. */
export class Abilities extends Resource {
    /** Calls a built-in ability. */
    call<Name extends AbilityName>(name: Name, input: AbilityInput<Name>, options: CallOptions = {}): Promise<AbilityOutput<Name>> {
        return this.callRegistered(name, input as object, options) as Promise<AbilityOutput<Name>>;
    }

    /** Calls any ability, such as a registered one, without checks of its types. */
    callRegistered(name: string, input: object, options: CallOptions = {}): Promise<Record<string, unknown>> {
        const { callerId, callId, repeat, ...request } = options;
        const { idempotency_key: key = null } = input as { idempotency_key?: unknown };
        const safe = repeat ?? (READING.test(name) || /^ldg:\w+:save$/.test(name) || key !== null);
        const headers = { "X-Caller-Id": callerId, "X-Call-Id": callId };
        return this.write([name], { method: "POST", json: input, headers }, request, safe);
    }

    /** All abilities. */
    list(options?: RequestOptions): Promise<Answer<"listAbilities">> {
        return this.read([], undefined, options);
    }

    /** One ability with its schemas. */
    get(name: string, options?: RequestOptions): Promise<Answer<"getAbility">> {
        return this.read([name], undefined, options);
    }

    /** Registers an ability that a URL implements, or replaces its definition. */
    register(name: string, definition: Body<"registerAbility">, options?: RequestOptions): Promise<Answer<"registerAbility">> {
        return this.write([name], { method: "PUT", json: definition }, options);
    }

    /** Deletes a registered ability. */
    delete(name: string, options?: RequestOptions): Promise<Answer<"deleteAbility">> {
        return this.write([name], { method: "DELETE" }, options);
    }
}

/** One task. */
export class Task extends Resource {
    /** The past events of the task, or those after `lastEventId`, and then new events until the task is finished. */
    events({ lastEventId, ...options }: RequestOptions & { lastEventId?: string } = {}): AsyncGenerator<TaskEvent, void, undefined> {
        return this.transport.events({ method: "GET", path: [...this.path, "stream"], safe: true, options }, lastEventId);
    }
}

/** The pages of a list: `eachPage((cursor) => project.cards.list({ type: "tool.result", ...cursor }))`. */
export async function* eachPage<Page extends { next_cursor?: string | null; cursor?: string | null }>(
    list: (cursor: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
    for (let cursor: { cursor?: string } = {}; ; ) {
        const page = await list(cursor);
        yield page;
        const next = page.next_cursor ?? page.cursor; // of a search: cursor
        if (next === undefined || next === null) return;
        cursor = { cursor: next };
    }
}
