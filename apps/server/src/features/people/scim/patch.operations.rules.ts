import { scimRefusal } from '../../../platform/errors.ts';
import { isObject, memberOf, mustBeSchemas } from './resource.rules.ts';

/** RFC 7644 §3.5.2. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path?: string;
  readonly value?: unknown;
}

const MOST = 100;

/** Reads the body of a PATCH. @throws invalidSyntax, invalidValue */
export function readOperations(body: object): Operation[] {
  mustBeSchemas(body);
  const operations = memberOf(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MOST) {
    throw scimRefusal('invalidValue', `\`Operations\` has to be an array of 1 to ${MOST} changes.`);
  }
  return operations.map((each: unknown) => {
    const given = isObject(each) ? each : {};
    const op = String(memberOf(given, 'op')).toLowerCase();
    const [path, value] = [memberOf(given, 'path') ?? undefined, memberOf(given, 'value')];
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      throw scimRefusal('invalidSyntax', '`op` has to be `add`, `remove` or `replace`.');
    }
    if (path !== undefined && typeof path !== 'string') throw invalidPath();
    return { op, ...(path !== undefined && path !== '' && { path }), ...(value !== undefined && { value }) };
  });
}

/** @param path as it was sent */
export function invalidPath(path?: string): Error {
  const which =
    path === undefined
      ? 'a text'
      : `well formed: \`${path.slice(0, 200).replaceAll(/[^ -~]/g, '?')}\` is not`;
  return scimRefusal('invalidPath', `A \`path\` has to be ${which}.`);
}
