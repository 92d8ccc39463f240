import { readRules } from '../arguments/rule-reading.ts';
import { isObject, type Rules } from '../arguments/rules.ts';
import { LINEAGE_TYPE } from '../caps-lineage.ts';
import { isConnectorName, isToolPattern, TOOLS_TYPE } from '../tools-entry.ts';
import { type CapsByTool, type DetailsFault, must, readCaps, readName, Unreadable } from './entry-parts.ts';

/** A grant above the token's, and its caps. */
interface Ancestor {
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
function readLineage({
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

/** The limits that a token sets on one connector. */
export interface ReadEntry {
  readonly purpose?: string;
  readonly dataRegion?: string;
  /** Exact names, and names with `*`. Absent when every tool is listed. */
  readonly tools?: readonly string[];
  readonly caps?: CapsByTool;
  readonly arguments?: ReadonlyMap<string, Rules>;
}

/** The entries by connector, or the first fault with the index of its element. */
export type ReadEntries =
  | {
      readonly ok: true;
      readonly tools: ReadonlyMap<string, ReadEntry>;
      /** The root grant first. */
      readonly ancestors: ReadonlyMap<string, readonly Ancestor[]>;
    }
  | { readonly ok: false; readonly fault: DetailsFault; readonly index?: number };

const MAX_ENTRIES = 64;
const ENTRY_KEYS = ['type', 'connector', 'purpose', 'data_region', 'tools', 'caps', 'arguments'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the claim `authorization_details` of a verified token, for the engine. An entry of another type is ignored;
 * one entry that cannot be read makes the whole claim unreadable, because it may have held a limit.
 *
 * @param claim any value; undefined when the token has no such claim
 */
export function readIssuedEntries(claim: unknown): ReadEntries {
  const tools = new Map<string, ReadEntry>();
  const ancestors = new Map<string, readonly Ancestor[]>();
  if (claim === undefined) return { ok: true, tools, ancestors };
  if (!Array.isArray(claim)) return { ok: false, fault: 'not_array' };
  if (claim.length > MAX_ENTRIES) return { ok: false, fault: 'too_many' };
  for (const [index, element] of claim.entries()) {
    try {
      readElement(element, tools, ancestors);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { ok: false, fault: error.fault, index };
    }
  }
  return { ok: true, tools, ancestors };
}

function readElement(
  element: unknown,
  tools: Map<string, ReadEntry>,
  ancestors: Map<string, readonly Ancestor[]>,
): void {
  const fields = must(isObject(element) && element, 'not_object');
  const { type } = fields;
  must(typeof type === 'string' && type, 'type_missing');
  if (type === LINEAGE_TYPE) {
    const [connector, above] = readLineage(fields);
    must(!ancestors.has(connector), 'lineage');
    ancestors.set(connector, above);
  }
  if (type !== TOOLS_TYPE) return;
  must(
    Object.keys(fields).every((key) => ENTRY_KEYS.includes(key)),
    'unknown_key',
  );
  const connector = readName(fields.connector, 'connector');
  must(!tools.has(connector), 'duplicate_connector');
  tools.set(connector, readEntry(fields));
}

function readEntry({ purpose, data_region, tools, caps, arguments: rules }: Fields): ReadEntry {
  const purposeText = readText(purpose);
  const regionText = readText(data_region);
  if (tools !== undefined) must(Array.isArray(tools) && tools.every(isPattern), 'wrong_type');
  must(rules === undefined || tools !== undefined, 'arguments'); // or a limit would stand beside unlimited tools
  return {
    ...(purposeText !== undefined && { purpose: purposeText }),
    ...(regionText !== undefined && { dataRegion: regionText }),
    ...(Array.isArray(tools) && { tools: tools.filter(isPattern) }),
    ...(caps !== undefined && { caps: readCaps(caps) }),
    ...(rules !== undefined && { arguments: readArgumentRules(rules) }),
  };
}

function readText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Unreadable('wrong_type');
  return value;
}

function isPattern(value: unknown): value is string {
  return typeof value === 'string' && isToolPattern(value);
}

function readArgumentRules(value: unknown): ReadonlyMap<string, Rules> {
  const tools = Object.entries(must(isObject(value) && value, 'arguments'));
  must(tools.length > 0, 'arguments');
  return new Map(
    tools.map(([tool, rules]) => {
      const read = readRules(rules);
      if (!read.ok || !isConnectorName(tool)) throw new Unreadable('arguments');
      return [tool, read.rules];
    }),
  );
}
