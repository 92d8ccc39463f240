import { distinctScopes, isScope } from '@behest/protocol/scopes';
import { badField } from '../../../platform/errors.ts';
import { acceptArguments, mustBeConditions } from './accept.rules.ts';
import { effects, NO_CONDITIONS, type Policy } from './match.rules.ts';
import type { NewPolicy, PolicyChange, PolicyRecord } from './policies.schema.ts';

/** A stored policy. */
export interface StoredPolicy extends Policy {
  readonly version: number;
  readonly updatedAt: Date;
}

/** The fields that a developer sets, as they are stored. */
export type PolicyFields = Omit<Policy, 'id' | 'createdAt'>;

/** @throws BAD_REQUEST */
export function fieldsOf(input: NewPolicy): PolicyFields {
  const { name, effect, priority = 0, ...conditions } = input;
  return mergedFields({ name, effect, priority, ...NO_CONDITIONS }, conditions);
}

/** The fields after a change, checked as a whole. @throws BAD_REQUEST */
export function mergedFields(before: PolicyFields, change: PolicyChange): PolicyFields {
  const { timeOfDayStart, timeOfDayEnd, scopes, arguments: rules, ...others } = change;
  const { delegationDepthMin, delegationDepthMax, purposes, networks, daysOfWeek, tools, ...plain } = others;
  const lists = { purposes, networks, daysOfWeek, tools };
  const after = {
    ...fieldsIn(before),
    ...plain,
    ...distinctIn(lists),
    ...(scopes !== undefined && { scopes: scopes && acceptScopes(scopes) }),
    ...(timeOfDayStart !== undefined && { dayStart: minuteOf(timeOfDayStart) }),
    ...(timeOfDayEnd !== undefined && { dayEnd: minuteOf(timeOfDayEnd) }),
    ...(delegationDepthMin !== undefined && { depthMin: delegationDepthMin }),
    ...(delegationDepthMax !== undefined && { depthMax: delegationDepthMax }),
    ...(rules !== undefined && { argumentRules: rules && acceptArguments(rules) }),
  };
  mustBeConditions(after);
  return after;
}

type Lists = Readonly<Record<string, readonly string[] | null | undefined>>;

/** The lists that a change names, without repeated items. */
const distinctIn = (lists: Lists): Partial<PolicyFields> =>
  Object.fromEntries(
    Object.entries(lists)
      .filter(([, list]) => list !== undefined)
      .map(([field, list]) => [field, list && [...new Set<string>(list)]]),
  );

export const fieldsIn = (policy: PolicyFields): PolicyFields => {
  const { name, effect, priority, agentId, principalId, scopes, dayStart, dayEnd, timeZone } = policy;
  const { daysOfWeek, purposes, networks, depthMin, depthMax, connector, tools, argumentRules } = policy;
  return {
    ...{ name, effect, priority, agentId, principalId, scopes, dayStart, dayEnd, timeZone },
    ...{ daysOfWeek, purposes, networks, depthMin, depthMax, connector, tools, argumentRules },
  };
};

/** A malformed scope matches no request, so a policy with one would say less than its author means. */
function acceptScopes(scopes: readonly string[]): string[] {
  const wrong = scopes.findIndex((scope) => !isScope(scope));
  if (wrong === -1) return distinctScopes(scopes);
  throw badField(`scopes.${wrong}`, 'format', 'A scope has the form `<resource>:<permission>`.');
}

function minuteOf(text: string | null): number | null {
  if (text === null) return null;
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

export function timeOfDay(minute: number | null): string | null {
  if (minute === null) return null;
  const two = (part: number) => String(part).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** The fields by their names on the wire. */
export function shownFields({ dayStart, dayEnd, depthMin, depthMax, argumentRules, ...plain }: PolicyFields) {
  const { scopes, daysOfWeek, purposes, networks, tools } = plain;
  return {
    ...plain,
    scopes: scopes && [...scopes],
    timeOfDayStart: timeOfDay(dayStart),
    timeOfDayEnd: timeOfDay(dayEnd),
    daysOfWeek: daysOfWeek && [...daysOfWeek],
    purposes: purposes && [...purposes],
    networks: networks && [...networks],
    delegationDepthMin: depthMin,
    delegationDepthMax: depthMax,
    tools: tools && [...tools],
    arguments: argumentRules,
  };
}

export const toPolicy = (row: StoredPolicy): PolicyRecord => ({
  id: row.id,
  ...shownFields(fieldsIn(row)),
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** The fields that a change alters, for its audit entry. */
export function changesBetween(before: PolicyFields, after: PolicyFields) {
  const [old, now] = [
    Object.entries(shownFields(fieldsIn(before))),
    new Map(Object.entries(shownFields(after))),
  ];
  const changed = old.filter(([field, from]) => JSON.stringify(from) !== JSON.stringify(now.get(field)));
  return Object.fromEntries(changed.map(([field, from]) => [field, { from, to: now.get(field) }]));
}

/** A place in the order of evaluation. */
export interface Place {
  readonly priority: number;
  readonly effect: Policy['effect'];
  readonly createdAt: Date;
  readonly id: string;
}

export const cursorOf = ({ priority, effect, createdAt, id }: Place): string =>
  `${priority}.${effect}.${createdAt.getTime()}.${id}`;

/** @param cursor as `cursorOf` writes it, which the shape of the query has checked */
export function placeOf(cursor: string): Place {
  const [priority = '', effect, time = '', id = ''] = cursor.split('.');
  return {
    priority: Number(priority),
    effect: effects.find((each) => each === effect) ?? 'allow',
    createdAt: new Date(Math.min(Number(time), LAST_TIME)),
    id,
  };
}

const LAST_TIME = Date.UTC(9999, 11, 31); // a later time would be none that Postgres holds
