import { readEntryRules } from '@behest/protocol/arguments/entry-rules';
import { networkForm } from '@behest/protocol/arguments/forms/networks';
import { type FieldFault, reportTo } from '@behest/protocol/field-reports';
import { isPurpose } from '@behest/protocol/purposes';
import { isScope } from '@behest/protocol/scopes';
import { isWithin } from '@behest/protocol/tool-scopes';
import type { Schemas } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { newPolicy } from '../../api/policy.gen.ts';
import { sayer } from '../../messages/language.ts';
import { type Fault, nearest } from '../../parts/rules/json.ts';

const say = sayer('faults');

interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

const shapes: Readonly<Record<string, Shape>> = newPolicy.properties;

interface Checked {
  readonly faults: readonly Fault[];
  /** The draft, if the service takes it as far as this can tell. */
  readonly policy?: Schemas['NewPolicy'];
}

/** Checks a draft by the published shape and by the rules of the service that no shape says. */
export function checkPolicy(draft: unknown): Checked {
  if (typeof draft !== 'object' || draft === null || Array.isArray(draft))
    return { faults: [{ path: '', text: say('type') }] };
  const members = Object.entries(draft);
  const missing = newPolicy.required.filter((name) => !Object.hasOwn(draft, name));
  const faults = [
    ...missing.map((path) => ({ path, text: say('required') })),
    ...members.flatMap(([name, value]) => {
      const shape = shapes[name];
      if (shape) return faultsIn(shape, value, name);
      const meant = nearest(name, Object.keys(shapes));
      return [
        { path: name, text: meant ? `${say('unknown')} ${say('meant', { name: meant })}` : say('unknown') },
      ];
    }),
  ];
  if (faults.length > 0) return { faults };
  const policy = draft as Schemas['NewPolicy']; // it has the shape
  const further = [...faultsOfTimes(policy), ...faultsOfLists(policy), ...faultsOfCalls(policy)];
  return further.length > 0 ? { faults: further } : { faults: [], policy };
}

/** What the service refuses in a draft; nothing when it refuses for another reason. */
export function refusedFields(error: unknown): Fault[] {
  const fields = error instanceof ApiError && error.code === 'BAD_REQUEST' ? error.details.fields : undefined;
  if (!Array.isArray(fields)) return [];
  return (fields as readonly FieldFault[]).map(({ path, problem }) => ({
    path: path.startsWith('candidate.') ? path.slice('candidate.'.length) : path,
    text: say(problem),
  }));
}

function faultsIn(shape: Shape, value: unknown, path: string): Fault[] {
  if (shape.anyOf) {
    const [own] = shape.anyOf.filter(({ type }) => type !== 'null');
    return value === null || !own ? [] : faultsIn(own, value, path);
  }
  const problem = problemOf(shape, value);
  if (problem) return [{ path, text: say(problem, { values: (shape.enum ?? []).join(', ') }) }];
  const { items } = shape;
  return Array.isArray(value) && items
    ? value.flatMap((item, at) => faultsIn(items, item, `${path}.${at}`))
    : [];
}

const tooFew = (count: number, least = 0) => count < least && ('too_short' as const);
const tooMany = (count: number, most = Number.POSITIVE_INFINITY) => count > most && ('too_long' as const);

function problemOf(shape: Shape, value: unknown) {
  if (shape.enum) return shape.enum.includes(value) ? undefined : 'enum';
  switch (shape.type) {
    case 'string': {
      if (typeof value !== 'string') return 'type';
      const { length } = [...value];
      const isFormed = shape.pattern === undefined || new RegExp(shape.pattern, 'u').test(value);
      return tooFew(length, shape.minLength) || tooMany(length, shape.maxLength) || (!isFormed && 'format');
    }
    case 'integer': {
      if (typeof value !== 'number' || !Number.isInteger(value)) return 'integer';
      const { minimum = value, maximum = value } = shape;
      return (value < minimum && 'too_small') || (value > maximum && 'too_large');
    }
    case 'array':
      if (!Array.isArray(value)) return 'type';
      return tooFew(value.length, shape.minItems) || tooMany(value.length, shape.maxItems);
    default:
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'object';
      return tooMany(Object.keys(value).length, shape.maxProperties);
  }
}

function* faultsOfTimes(policy: Schemas['NewPolicy']): Generator<Fault> {
  const { timeOfDayStart: start = null, timeOfDayEnd: end = null, timeZone: zone = null } = policy;
  if ((start === null) !== (end === null))
    yield { path: start === null ? 'timeOfDayStart' : 'timeOfDayEnd', text: say('bothHours') };
  if (start !== null && start === end) yield { path: 'timeOfDayEnd', text: say('sameHours') };
  if (zone !== null && !isZone(zone)) yield { path: 'timeZone', text: say('zone') };
  else if (zone !== null && start === null && (policy.daysOfWeek ?? null) === null)
    yield { path: 'timeZone', text: say('zoneAlone') };
}

/** An offset is no name of a zone. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the browser knows no zone of this name
  }
}

function faultsOfLists({ scopes, purposes, networks }: Schemas['NewPolicy']): Fault[] {
  const wrongIn = (
    field: 'scopes' | 'purposes' | 'networks',
    list: readonly string[] | null | undefined,
    isRight: (text: string) => boolean,
  ) =>
    (list ?? []).flatMap((text, at) =>
      isRight(text) ? [] : [{ path: `${field}.${at}`, text: say(field, { value: text }) }],
    );
  return [
    ...wrongIn('scopes', scopes, isScope),
    ...wrongIn('purposes', purposes, isPurpose),
    ...wrongIn('networks', networks, (text) => networkForm.readItem(text) !== undefined),
  ];
}

function faultsOfCalls(policy: Schemas['NewPolicy']): Fault[] {
  const { connector, tools, arguments: rules, delegationDepthMin: least, delegationDepthMax: most } = policy;
  const faults: Fault[] = [];
  if (typeof least === 'number' && typeof most === 'number' && least > most)
    faults.push({ path: 'delegationDepthMax', text: say('depths') });
  if ((connector ?? null) === null && (tools || rules))
    faults.push({ path: 'connector', text: say('connector') });
  if (!rules) return faults;
  const read: FieldFault[] = [];
  readEntryRules(rules, { path: 'arguments', report: reportTo(read) });
  const unlisted = Object.keys(rules).filter(
    (tool) => tools && !tools.some((pattern) => isWithin(pattern, tool)),
  );
  return [
    ...faults,
    ...read.map(({ path, problem }) => ({ path, text: say(problem) })),
    ...unlisted.map((tool) => ({ path: `arguments.${tool}`, text: say('unlisted') })),
  ];
}
