import { scimRefusal } from '../../../platform/errors.ts';
import { isSameName } from './scim.attributes.rules.ts';
import { isObject } from './scim.resource.rules.ts';

/** RFC 7644 §3.5.2. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path?: string;
  readonly value?: unknown;
}

const MOST = 100;

/** Reads the body of a PATCH. @throws invalidSyntax, invalidValue */
export function readOperations(body: object): Operation[] {
  const of = (json: object, wanted: string): unknown =>
    Object.entries(json).find(([name]) => isSameName(name, wanted))?.[1];
  const schemas = of(body, 'schemas');
  if (
    schemas !== undefined &&
    !(Array.isArray(schemas) && schemas.some((each) => isSameName(String(each), MESSAGE)))
  ) {
    throw scimRefusal('invalidSyntax', `A change has to name \`${MESSAGE}\` in \`schemas\`.`);
  }
  const operations = of(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MOST) {
    throw scimRefusal('invalidValue', `\`Operations\` has to be an array of 1 to ${MOST} changes.`);
  }
  return operations.map((each: unknown) => {
    const given = isObject(each) ? each : {};
    const op = String(of(given, 'op')).toLowerCase();
    const [path, value] = [of(given, 'path') ?? undefined, of(given, 'value')];
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      throw scimRefusal('invalidSyntax', '`op` has to be `add`, `remove` or `replace`.');
    }
    if (path !== undefined && typeof path !== 'string') throw invalidPath();
    return { op, ...(path !== undefined && path !== '' && { path }), ...(value !== undefined && { value }) };
  });
}

const MESSAGE = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export const invalidPath = () =>
  scimRefusal('invalidPath', 'A `path` leads to no attribute of this kind of resource.');
