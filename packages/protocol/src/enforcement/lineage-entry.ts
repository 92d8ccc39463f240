import { isObject } from '../arguments/rule-faults.ts';
import { type CapsByTool, must, readCaps, readName, Unreadable } from './entry-parts.ts';

/** A grant above the token's, and its caps. */
export interface Ancestor {
  readonly grant: string;
  readonly caps: CapsByTool;
}

const MAX_ANCESTORS = 10;

/**
 * Reads a lineage entry.
 *
 * @returns the connector, and the grants above the token's, the root first
 * @throws Unreadable
 */
export function readLineage({
  type: _type,
  connector,
  ancestors,
  ...others
}: Readonly<Record<string, unknown>>): [string, readonly Ancestor[]] {
  must(Object.keys(others).length === 0, 'lineage');
  const name = readName(connector, 'lineage');
  const list: unknown[] = must(Array.isArray(ancestors) && ancestors, 'lineage');
  must(list.length > 0 && list.length <= MAX_ANCESTORS, 'lineage');
  const above = list.map(readAncestor);
  must(new Set(above.map(({ grant }) => grant)).size === above.length, 'lineage');
  return [name, above];
}

function readAncestor(value: unknown): Ancestor {
  const { grant, caps, ...others } = must(isObject(value) && value, 'lineage');
  if (typeof grant !== 'string' || grant === '' || Object.keys(others).length > 0)
    throw new Unreadable('lineage');
  try {
    return { grant, caps: readCaps(caps) };
  } catch {
    throw new Unreadable('lineage');
  }
}
