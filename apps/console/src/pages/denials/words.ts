import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';

const say = sayer('denials');

const DAY = 86_400_000;
const HOUR = 3_600_000;
const now = Math.ceil(Date.now() / HOUR) * HOUR;

/** The span of the counts, in whole hours, so that the question is the same while the page is open. */
export const WEEK = { from: new Date(now - 7 * DAY).toISOString(), to: new Date(now).toISOString() };

type Entry = Schemas['AuditEntry'];

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The tool that was asked for. */
export const callOf = ({ metadata }: Entry): string => {
  const { connector, tool }: Readonly<Record<string, unknown>> = metadata;
  return `${textOf(connector) ?? '?'}:${textOf(tool) ?? '?'}`;
};

/** The reason of a denial, as the filter takes it. */
export const reasonOf = ({ metadata }: Entry): string => {
  const { reasonCode, subReason }: Readonly<Record<string, unknown>> = metadata;
  return [reasonCode, subReason].flatMap((part) => textOf(part) ?? []).join('/');
};

/** A name of the API in words, for names that have none of their own. */
export const inWords = (name: string) =>
  [...name]
    .map((letter) =>
      letter === '_' ? ' ' : letter === letter.toLowerCase() ? letter : ` ${letter.toLowerCase()}`,
    )
    .join('');

export const byWhom = (by: Schemas['Explanation']['changes'][number]['by']) => say(`by_${by}`);
