import { AppError, scimRefusal } from '../../../platform/errors.ts';
import { isSameName } from './attributes.rules.ts';
import { MAX_OPERATIONS } from './discovery.rules.ts';
import { isObject, memberOf, mustBeSchemas } from './resource.rules.ts';

/** RFC 7644 §3.7. */
export interface BulkOperation {
  readonly method: (typeof METHODS)[number];
  readonly endpoint: 'Users' | 'Groups';
  readonly id: string | undefined;
  readonly bulkId: string | undefined;
  readonly version: string | undefined;
  readonly data: object;
  /** Why the operation cannot be read. The others are done. */
  readonly fault?: string | undefined;
}

export interface Bulk {
  readonly operations: readonly BulkOperation[];
  /** The service stops after so many refusals. */
  readonly failOnErrors: number;
}

/** @throws invalidSyntax, invalidValue, PAYLOAD_TOO_LARGE */
export function readBulk(body: object): Bulk {
  const of = (json: object, wanted: string): unknown => memberOf(json, wanted) ?? undefined;
  mustBeSchemas(body);
  const given = of(body, 'operations');
  if (!Array.isArray(given) || given.length === 0) {
    throw scimRefusal('invalidValue', '`Operations` has to be an array of operations.');
  }
  if (given.length > MAX_OPERATIONS) {
    throw new AppError('PAYLOAD_TOO_LARGE', `A request has at most ${MAX_OPERATIONS} operations.`);
  }
  const limit = of(body, 'failOnErrors');
  const isLimit = typeof limit === 'number' && Number.isInteger(limit) && limit > 0;
  if (limit !== undefined && !isLimit) {
    throw scimRefusal('invalidValue', '`failOnErrors` has to be a whole number from 1.');
  }
  const operations = given.map((each: unknown): BulkOperation => {
    const json = isObject(each) ? each : {};
    const [bulkId, version, data] = [of(json, 'bulkId'), of(json, 'version'), of(json, 'data')];
    const method = METHODS.find((known) => isSameName(known, String(of(json, 'method'))));
    const path = PATH.exec(String(of(json, 'path')));
    const endpoint = path?.[1]?.toLowerCase() === 'groups' ? 'Groups' : 'Users';
    return {
      fault: faultOf(method, path, bulkId),
      method: method ?? 'POST',
      endpoint,
      id: path?.[2],
      bulkId: typeof bulkId === 'string' ? bulkId : undefined,
      version: typeof version === 'string' ? version : undefined,
      data: isObject(data) ? data : {},
    };
  });
  return { operations, failOnErrors: isLimit ? limit : Number.POSITIVE_INFINITY };
}

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
const PATH = /^\/?(Users|Groups)(?:\/([^/]+))?\/?$/i;

function faultOf(
  method: BulkOperation['method'] | undefined,
  path: RegExpExecArray | null,
  bulkId: unknown,
): string | undefined {
  if (!method || !path || (method === 'POST') !== (path[2] === undefined)) {
    return 'An operation has no known `method` and `path`.';
  }
  if (method === 'POST' && typeof bulkId !== 'string') {
    return 'An operation that creates has to have a `bulkId`.';
  }
  return undefined;
}

const REFERENCE = 'bulkId:';

/** Puts ids in the place of references to resources that earlier operations made. @throws invalidValue */
export function withIds<Value>(value: Value, ids: ReadonlyMap<string, string>): Value {
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'string' && each.startsWith(REFERENCE) ? idOf(each, ids) : each,
  );
  return JSON.parse(text);
}

function idOf(reference: string, ids: ReadonlyMap<string, string>): string {
  const id = ids.get(reference.slice(REFERENCE.length));
  if (id === undefined)
    throw scimRefusal('invalidValue', 'A `bulkId` names no earlier operation that succeeded.');
  return id;
}
