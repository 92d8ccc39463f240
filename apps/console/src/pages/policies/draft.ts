import type { Schemas } from '../../api/client.ts';
import { newPolicy } from '../../api/policy.gen.ts';

type Policy = Schemas['PolicyVersion']['policy'];
type NewPolicy = Schemas['NewPolicy'];

/** A policy while somebody edits it: of any members and values, until it is checked. */
export type Draft = Readonly<Record<string, unknown>>;

export type Field = keyof typeof newPolicy.properties;

/** In the order of the form. */
const FIELDS = Object.keys(newPolicy.properties) as readonly Field[]; // they are its keys

/** The members that a policy has, as JSON: those without a value are left out, as everywhere in the editor. */
export const textOf = (policy: Partial<Policy> | NewPolicy | Draft): string => {
  const members = new Map(Object.entries(policy));
  const ordered = [...FIELDS, ...[...members.keys()].filter((name) => !FIELDS.some((each) => each === name))];
  const present = ordered.flatMap((name) => {
    const value = members.get(name);
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  return JSON.stringify(Object.fromEntries(present), null, 2);
};

/** The fields of a stored policy, without its id and times. */
export const fieldsOf = (policy: Schemas['PolicyRecord']): Draft =>
  Object.fromEntries(Object.entries(policy).filter(([name]) => FIELDS.some((each) => each === name)));

/** What a change sends: every field, so that one which the draft leaves out is cleared. */
export const wholeChange = (draft: NewPolicy): Schemas['PolicyChange'] => ({
  priority: 0,
  ...Object.fromEntries(FIELDS.filter((name) => !ALWAYS.has(name)).map((name) => [name, null])),
  ...draft,
});

const ALWAYS: ReadonlySet<string> = new Set(['name', 'effect', 'priority']);

/** What a new policy begins with. */
export const TEMPLATES = {
  blank: { name: '', effect: 'deny' },
  night: {
    name: 'Nothing at night',
    effect: 'deny',
    timeOfDayStart: '22:00',
    timeOfDayEnd: '06:00',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  },
  deletes: { name: 'No deletes', effect: 'deny', scopes: ['tool:*:delete'] },
} as const satisfies Readonly<Record<string, Draft>>;
