// schema.js: JSON Schema as tables: the members of an object, their types, and what they mean. Nested
// objects fold. Knows no page.
import { add, el } from './dom.js';

const DEEPEST = 6;

/** A type in words: "array of string", "string or null", "one of ok, unavailable". */
export function typeOf(raw, resolve, depth = 0) {
  const schema = resolve(raw);
  const name = raw?.$ref?.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return `one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices && depth < DEEPEST)
    return choices.map((one) => typeOf(one, resolve, depth + 1)).join(' or ');
  const types = [schema.type ?? 'any JSON'].flat().map((type) => {
    if (type === 'array' && schema.items && depth < DEEPEST)
      return `array of ${typeOf(schema.items, resolve, depth + 1)}`;
    return type === 'object' && name ? name : type;
  });
  return types.join(' or ') + (schema.format ? ` (${schema.format})` : '');
}

const LIMITS = [['default', 'default'], ['minimum', 'at least'], ['maximum', 'at most'],
  ['minLength', 'characters, at least'], ['maxLength', 'characters, at most'],
  ['minItems', 'items, at least'], ['maxItems', 'items, at most']];

function limits(schema) {
  const said = LIMITS.filter(([key]) => schema[key] !== undefined)
    .map(([key, words]) => `${words} ${JSON.stringify(schema[key])}`);
  return said.length === 0 ? null : el('span', { class: 'faint' }, ` ${said.join('; ')}.`);
}

/** The objects inside: of an array its items', of a choice every form, of allOf all in one. */
function formsIn(raw, resolve, depth = 0) {
  const schema = resolve(raw);
  const within = (all) => all.flatMap((one) => formsIn(one, resolve, depth + 1));
  const name = raw?.$ref?.split('/').pop();
  if (depth > DEEPEST) return [];
  if (schema.properties) return [{ name, schema }];
  if (schema.items) return within([schema.items]);
  if (!schema.allOf) return within(schema.anyOf ?? schema.oneOf ?? []);
  const parts = within(schema.allOf).map((form) => form.schema);
  return [{ name, schema: { properties: Object.assign({}, ...parts.map((one) => one.properties)),
    required: parts.flatMap((one) => one.required ?? []) } }];
}

function members(schema, resolve, inline, depth) {
  const required = new Set(schema.required ?? []);
  return el('table', {}, el('tbody', {}, Object.entries(schema.properties).map(([name, member]) => {
    const of = resolve(member);
    const inner = formsIn(member, resolve).length > 0
      ? () => schemaTable(member, resolve, inline, depth + 1) : null;
    return [el('tr', {}, el('th', { scope: 'row' }, el('code', {}, name),
      required.has(name) ? el('span', { class: 'must' }, ' required') : null),
    el('td', { class: 'faint' }, typeOf(member, resolve)),
    el('td', {}, inline(of.description ?? ''), limits(of))),
    inner ? el('tr', { class: 'inner' }, el('td', { colspan: 3 }, folded(inner))) : null];
  })));
}

/** A table of the members, of each form one; nothing if there are none. `inline` makes nodes of
 * descriptions. */
export function schemaTable(raw, resolve, inline, depth = 0) {
  const forms = depth > DEEPEST ? [] : formsIn(raw, resolve);
  return forms.map(({ name, schema }, number) => [
    forms.length === 1 ? null
      : el('p', { class: 'form faint' }, number === 0 ? 'Either ' : 'or ', el('code', {}, name ?? 'object')),
    members(schema, resolve, inline, depth)]);
}

/** Made when it is opened: schemas may contain themselves. */
function folded(make) {
  const part = el('details', {}, el('summary', {}, 'members'));
  part.addEventListener('toggle', () => {
    if (part.open && part.children.length === 1) add(part, make());
  });
  return part;
}
