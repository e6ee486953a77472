/** Requests with retries, errors, and streams of lines and events. */

/** Options of a client. */
export interface ClientOptions {
    /** The bearer token, if the server asks for tokens. */
    token?: string;
    /** The maximum number of tries of a request that is safe to repeat. Default: 8. */
    tries?: number;
    /** The maximum duration of one try, in milliseconds. In streams: the maximum pause between two reads. Default: 30,000. */
    timeoutMs?: number;
    /** The function that sends requests. Default: the global `fetch`. */
    fetch?: typeof fetch;
}

/** Options of one request. */
export interface RequestOptions {
    /** Cancels the request, also between two tries. The promise is rejected with the signal's reason. */
    signal?: AbortSignal;
    /** Replaces the client's `timeoutMs`. */
    timeoutMs?: number;
}

/** One fault of invalid input: `loc` is the path of the value. */
export interface Fault {
    type: string;
    loc: (string | number)[];
    msg: string;
    input?: unknown;
}

/** Any failure of a request except a cancellation by the caller's signal. */
export class CardBoxError extends Error {
    override readonly name = "CardBoxError";
    /** The HTTP status; 0 if there is no answer. */
    readonly status: number;
    /** A stable code, such as `not_found`. Without an answer: `unreachable` or `timeout`. If the answer is not one of CardBox: `bad_answer`. */
    readonly errorCode: string;
    /** The remedy, if the server knows one. */
    readonly hint: string | undefined;
    /** The faults of the input, if it is invalid. */
    readonly faults: Fault[];
    /** The id of the request in the server's log. */
    readonly requestId: string | undefined;
    /** The number of seconds to wait before another try. */
    readonly retryAfter: number | undefined;
    /** The present version of the box or session, if the error is a conflict of versions. */
    readonly currentVersion: number | undefined;

    constructor(status: number, errorCode: string, message: string, more: Partial<CardBoxError> & { cause?: unknown } = {}) {
        super(message, { cause: more.cause });
        this.status = status;
        this.errorCode = errorCode;
        this.hint = more.hint;
        this.faults = more.faults ?? [];
        this.requestId = more.requestId;
        this.retryAfter = more.retryAfter;
        this.currentVersion = more.currentVersion;
    }
}

/** A request as the client describes it. */
export interface Call<Answer> {
    method: string;
    /** The segments of the path after the base URL, not encoded. */
    path: string[];
    query?: object | undefined;
    /** A value that is sent as JSON. */
    json?: unknown;
    /** JSON that is sent as it is. */
    text?: string;
    /** Bytes or text that are sent as NDJSON. */
    lines?: string | Uint8Array;
    headers?: Record<string, string | undefined>;
    /** The request may be sent again if its outcome is unknown. */
    safe: boolean;
    /** Returns the answer if a repeated request finds that an earlier try has already created the object (409). */
    exists?: () => Promise<Answer>;
    /** The server answers with a stream. */
    stream?: boolean;
    /** Reads the text of the answer. Default: JSON.parse. */
    parse?: ((text: string) => Answer) | undefined;
    options?: RequestOptions | undefined;
}

/** An event of a task. `id` is present if the event is stored. */
export interface TaskEvent {
    id?: string;
    event: string;
    data: Record<string, unknown>;
}

const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
const RETRY_AFTER_MAX_S = 60; // with a longer Retry-After, the error is thrown at once
const RETRIED = new Set([429, 502, 503, 504]);

/** A new UUIDv7. */
export function uuid7(): string {
    const bytes = new Uint8Array(16);
    if (globalThis.crypto) globalThis.crypto.getRandomValues(bytes);
    else bytes.forEach((_, i) => (bytes[i] = Math.random() * 256)); // node 18
    const time = Date.now().toString(16).padStart(12, "0");
    bytes[6] = (bytes[6]! & 0x0f) | 0x70;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const random = Array.from(bytes.subarray(6), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${time.slice(0, 8)}-${time.slice(8)}-${random.slice(0, 4)}-${random.slice(4, 8)}-${random.slice(8)}`;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
        const cancel = () => {
            clearTimeout(timer);
            reject(signal!.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", cancel);
            resolve();
        }, ms);
        signal?.addEventListener("abort", cancel, { once: true });
    });
}

/** A timer that cancels a try, and that `extend` starts again. */
class Deadline {
    readonly controller = new AbortController();
    expired = false;
    #timer: ReturnType<typeof setTimeout> | undefined;
    readonly #cancel = () => this.controller.abort(this.signal?.reason);

    constructor(readonly ms: number, readonly signal: AbortSignal | undefined) {
        if (signal?.aborted) this.#cancel();
        signal?.addEventListener("abort", this.#cancel, { once: true });
        this.extend();
    }

    extend(): void {
        this.stop();
        this.#timer = setTimeout(() => {
            this.expired = true;
            this.controller.abort();
        }, this.ms);
    }

    stop(): void {
        clearTimeout(this.#timer);
    }

    end(): void {
        this.stop();
        this.signal?.removeEventListener("abort", this.#cancel);
    }

    /** Returns the error of a failed try; throws the reason if the caller has cancelled the request. */
    failure(cause: unknown): CardBoxError {
        if (cause instanceof CardBoxError) return cause;
        if (this.signal?.aborted) throw this.signal.reason;
        if (this.expired) return new CardBoxError(0, "timeout", `no answer within ${this.ms} ms`, { cause });
        const reason = cause instanceof Error ? ((cause.cause as Error | undefined)?.message ?? cause.message) : String(cause);
        return new CardBoxError(0, "unreachable", `the connection failed: ${reason}`, { cause });
    }
}

function parse(text: string, read: (text: string) => any = JSON.parse): any {
    try {
        return read(text);
    } catch {
        return undefined;
    }
}

function errorOf(response: Response, text: string): CardBoxError {
    const detail = parse(text)?.detail ?? {};
    const after = Number(response.headers.get("retry-after") ?? NaN);
    const more: Record<string, unknown> = {
        hint: detail.hint,
        faults: Array.isArray(detail) ? detail : detail.faults,
        requestId: response.headers.get("x-request-id") ?? undefined,
        retryAfter: Number.isFinite(after) ? after : undefined,
        currentVersion: detail.current_version,
    };
    if (typeof detail.error_code === "string")
        return new CardBoxError(response.status, detail.error_code, detail.error_message, more);
    if (Array.isArray(detail)) return new CardBoxError(response.status, "validation_failed", "the request is invalid", more);
    const code = response.status === 404 ? "not_found" : "bad_answer";
    const words = typeof detail === "string" ? detail : `the answer has the status ${response.status}`;
    return new CardBoxError(response.status, code, words, { ...more, hint: parse(text)?.hint });
}

interface Opened {
    response: Response;
    /** The text of the answer; empty if it is a stream. */
    text: string;
    /** The deadline of the try. It has ended, unless the answer is a stream. */
    deadline: Deadline;
}

/** Sends requests to one server. */
export class Transport {
    readonly #base: string;
    readonly #options: ClientOptions;

    constructor(url: string, options: ClientOptions) {
        if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`not a URL of a server: ${url}`);
        this.#base = url.replace(/\/+$/, "");
        this.#options = options;
    }

    #url(call: Call<unknown>): string {
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(call.query ?? {}))
            for (const one of Array.isArray(value) ? value : [value])
                if (one !== undefined && one !== null) query.append(name, String(one));
        const dots = call.path.find((segment) => segment === "." || segment === ".."); // fetch takes also %2E%2E for the parent
        if (dots !== undefined) throw new TypeError(`not an id that fetch can send in a path: "${dots}"`);
        const text = query.toString();
        return `${this.#base}/${call.path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
    }

    #init(call: Call<unknown>, signal: AbortSignal): RequestInit {
        const headers: Record<string, string> = {};
        if (call.json !== undefined || call.text !== undefined) headers["Content-Type"] = "application/json";
        if (call.lines !== undefined) headers["Content-Type"] = "application/x-ndjson";
        if (this.#options.token !== undefined) headers["Authorization"] = `Bearer ${this.#options.token}`;
        for (const [name, value] of Object.entries(call.headers ?? {})) if (value !== undefined) headers[name] = value;
        const body = call.json !== undefined ? JSON.stringify(call.json) : (call.text ?? call.lines);
        return { method: call.method, headers, body: body as BodyInit | undefined, signal };
    }

    /** One try: returns a response with a good status. */
    async #try(call: Call<unknown>): Promise<Opened> {
        call.options?.signal?.throwIfAborted();
        const url = this.#url(call);
        const deadline = new Deadline(call.options?.timeoutMs ?? this.#options.timeoutMs ?? 30_000, call.options?.signal);
        try {
            const send = this.#options.fetch ?? globalThis.fetch;
            const response = await send(url, this.#init(call, deadline.controller.signal));
            if (response.ok && call.stream) {
                deadline.stop();
                return { response, text: "", deadline };
            }
            const text = await response.text();
            if (!response.ok) throw errorOf(response, text);
            deadline.end();
            return { response, text, deadline };
        } catch (cause) {
            deadline.end();
            throw deadline.failure(cause);
        }
    }

    /** Waits before the next try. Throws the error if there is none. */
    async #beforeNext(error: unknown, call: Call<unknown>, tries: number): Promise<void> {
        if (!(error instanceof CardBoxError)) throw error;
        const after = error.retryAfter ?? 0;
        const again = call.safe && (error.status === 0 || RETRIED.has(error.status)) && after <= RETRY_AFTER_MAX_S;
        if (!again || tries >= (this.#options.tries ?? 8)) throw error;
        const backoff = Math.min(PAUSE_MAX_MS, PAUSE_FIRST_MS * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
        await pause(Math.max(after * 1000, backoff), call.options?.signal);
    }

    /** Sends a request, with retries if it is safe to repeat, and returns the JSON of the answer. */
    async send<Answer>(call: Call<Answer>): Promise<Answer> {
        for (let tries = 1; ; tries++) {
            try {
                const { response, text } = await this.#try(call);
                const answer = parse(text, call.parse);
                if (answer === undefined) throw new CardBoxError(response.status, "bad_answer", "the answer is not JSON");
                return answer;
            } catch (error) {
                if (error instanceof CardBoxError && error.status === 409 && tries > 1 && call.exists) return call.exists();
                await this.#beforeNext(error, call, tries);
            }
        }
    }

    /** A streamed answer. The caller ends its deadline. */
    async #openStream(call: Call<unknown>): Promise<Opened> {
        for (let tries = 1; ; tries++) {
            try {
                return await this.#try({ ...call, stream: true });
            } catch (error) {
                await this.#beforeNext(error, call, tries);
            }
        }
    }

    /** The lines of a streamed answer. A stream that ends early throws an error. */
    async *lines(call: Call<unknown>): AsyncGenerator<string, void, undefined> {
        yield* this.#read(await this.#openStream(call));
    }

    async *#read({ response, deadline }: Opened): AsyncGenerator<string, void, undefined> {
        if (!response.body) return deadline.end();
        const reader = response.body.getReader();
        const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
        let rest = "";
        try {
            for (;;) {
                deadline.extend();
                const { done, value } = await reader.read().catch((cause: unknown) => {
                    throw deadline.failure(cause);
                });
                deadline.stop(); // the time that the caller needs for a line does not count
                const parts = (rest + decoder.decode(value, { stream: !done })).split("\n");
                rest = parts.pop()!;
                yield* parts;
                if (done) break;
            }
            if (rest !== "") yield rest;
        } finally {
            deadline.end();
            await reader.cancel().catch(() => undefined);
        }
    }

    /** The events of a stream. After a lost connection it continues after the last stored event. */
    async *events(call: Call<unknown>, lastEventId?: string): AsyncGenerator<TaskEvent, void, undefined> {
        for (let failures = 0, last = lastEventId; ; ) {
            const opened = await this.#openStream({ ...call, headers: { ...call.headers, "Last-Event-ID": last } });
            if (opened.response.status === 204) return opened.deadline.end(); // no event is left
            let error = new CardBoxError(0, "unreachable", "the stream ended before the task was finished");
            try {
                for await (const event of this.#parseEvents(this.#read(opened))) {
                    failures = 0;
                    last = event.id ?? last;
                    yield event;
                    if (event.event === "task_complete") return;
                }
            } catch (cause) {
                if (!(cause instanceof CardBoxError)) throw cause;
                error = cause;
            }
            await this.#beforeNext(error, call, ++failures);
        }
    }

    async *#parseEvents(lines: AsyncIterable<string>): AsyncGenerator<TaskEvent, void, undefined> {
        let fields: Partial<Record<string, string>> = {};
        for await (const line of lines) {
            const [, name, value] = /^(\w+): ?(.*?)\r?$/.exec(line) ?? [];
            if (name === "data" && fields["data"] !== undefined) fields["data"] += `\n${value}`;
            else if (name !== undefined) fields[name] = value;
            if (line.trimEnd() !== "") continue;
            const { id, event = "message", data } = fields;
            fields = {};
            if (data !== undefined) yield { ...(id !== undefined && { id }), event, data: parse(data) };
        }
    }
}
