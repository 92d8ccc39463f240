import type { Described } from '../../generate/sdk/operations.ts';
import type { Schema } from '../../generate/sdk/type-text.ts';
import { kindOf, limitsOf, objectIn } from './kinds.ts';

const DEEPEST = 3;
const TABLE = '| Member | Type | Notes |\n|---|---|---|\n';

type Answers = Described['responses'];

/** The parameters and the body, each as a table. */
export function inputsText({ parameters = [], requestBody }: Described): string[] {
  const rows = parameters
    .filter(({ in: place }) => place !== 'path')
    .map(({ name, in: place, schema, required, description = schema.description }) => {
      const isNeeded = required && schema.default === undefined;
      return row(name, kindOf(schema), [place, isNeeded ? 'required' : '', ...limitsOf(schema)], description);
    });
  const [body] = Object.entries(requestBody?.content ?? {});
  return [
    ...(rows.length > 0 ? [`| Parameter | Type | Notes |\n|---|---|---|\n${rows.join('\n')}`] : []),
    ...(body
      ? schemaText(body[0] === 'application/json' ? 'Body' : `Body, \`${body[0]}\``, body[1].schema, true)
      : []),
  ];
}

/** Good answers as tables, and the codes of the others in one line. */
export function answersText(responses: Answers): string[] {
  const all = Object.entries(responses);
  const good = all
    .filter(([status]) => status < '400')
    .flatMap(([status, { content = {} }]) => {
      const bodies = Object.entries(content);
      if (bodies.length === 0) return [`Answer \`${status}\`, without a body.`];
      return bodies.flatMap(([type, { schema }]) =>
        type === 'application/json'
          ? schemaText(`Answer \`${status}\``, schema, false)
          : [`Answer \`${status}\`, as \`${type}\`.`],
      );
    });
  const errors = all
    .filter(([status]) => status >= '400')
    .map(([status, { content = {} }]) => {
      const { code, error } = Object.values(content)[0]?.schema.properties ?? {};
      const codes = (code ?? error)?.enum?.map((value) => `\`${value}\``) ?? [];
      return [status, ...codes].join(' ').replaceAll('` `', '`, `');
    });
  return [...good, ...(errors.length > 0 ? [`Errors: ${errors.join('; ')}.`] : [])];
}

function schemaText(title: string, schema: Schema, isInput: boolean): string[] {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants?.every((each) => each.properties)) {
    return variants.flatMap((each, index) => schemaText(`${title}, form ${index + 1}`, each, isInput));
  }
  const rows = rowsOf(schema, '', isInput, 1);
  if (rows.length > 0) return [`${title}:`, `${TABLE}${rows.join('\n')}`];
  return [`${title}: ${kindOf(schema)}.`];
}

/** A member, then its own members with their path. */
function rowsOf(schema: Schema, path: string, isInput: boolean, depth: number): string[] {
  const { object, suffix } = objectIn(schema);
  const { properties = {}, required = [] } = object ?? {};
  return Object.entries(properties).flatMap(([name, member]) => {
    const own = `${path}${suffix}${path || suffix ? '.' : ''}${name}`;
    const isSure = required.includes(name) && !(isInput && member.default !== undefined);
    const state = isSure === isInput ? (isInput ? 'required' : 'may be absent') : '';
    const below = depth < DEEPEST ? rowsOf(member, own, isInput, depth + 1) : [];
    return [row(own, kindOf(member), [state, ...limitsOf(member)], member.description), ...below];
  });
}

function row(name: string, kind: string, notes: readonly string[], description = ''): string {
  const limits = notes.filter(Boolean).join('; ');
  const said = [limits && `${limits}.`, description].filter(Boolean).join(' ');
  return `| \`${name}\` | ${kind} | ${inCell(said)}${said ? ' ' : ''}|`;
}

const inCell = (text: string) => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
