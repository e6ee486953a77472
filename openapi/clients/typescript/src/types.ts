/** Types of requests and answers by operation, derived from the generated schema.ts. */

import type { components, operations, paths } from "./schema.js";

/** A schema of the OpenAPI document by its name, such as `Schema<"Card">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;
type BodyOf<Operation> = Operation extends { requestBody?: infer Request }
    ? NonNullable<Request> extends { content: { "application/json": infer Body } } ? Body : never
    : never;
type AnswerOf<Operation> = Operation extends { responses: { 200: { content: { "application/json": infer Answer } } } }
    ? Answer
    : never;

/** The query parameters of an operation, such as `Query<"getBox">`. */
export type Query<Id extends keyof operations> = QueryOf<operations[Id]>;
/** The JSON body of an operation's request. */
export type Body<Id extends keyof operations> = BodyOf<operations[Id]>;
/** The JSON body of an operation's answer. */
export type Answer<Id extends keyof operations> = AnswerOf<operations[Id]>;

type Abilities = "/projects/{project_id}/abilities/";
type NameInPath<Path> = Path extends `${Abilities}${infer Name}` ? (Name extends `{${string}` ? never : Name) : never;

/** The names of the built-in abilities. */
export type AbilityName = NameInPath<keyof paths>;
type AbilityOperation<Name extends string> = `${Abilities}${Name}` extends keyof paths
    ? paths[`${Abilities}${Name}`] extends { post: infer Operation } ? Operation : never
    : never;
/** The input of a built-in ability, such as `AbilityInput<"task:spawn">`. */
export type AbilityInput<Name extends AbilityName> = BodyOf<AbilityOperation<Name>>;
/** The output of a built-in ability. */
export type AbilityOutput<Name extends AbilityName> = AnswerOf<AbilityOperation<Name>>;

/** The formats of contexts, such as `openai`. */
export type ContextFormat = Answer<"getSessionContext">["format"];
/** The context in this format, of all contexts. */
export type InFormat<Context, Format> = Extract<Context, { format: Format }>;

type AllCards = Body<"addCards">;
/** A card to add. */
export type NewCard = Schema<"NewCard">;
/** An entry to append to a session. */
export type NewEntry = Schema<"NewEntry">;
/** Options of an addition of cards, such as `strict`. */
export type AddOptions = Omit<Extract<AllCards, { cards: unknown }>, "cards">;
