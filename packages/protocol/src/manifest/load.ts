import { isObject } from '../arguments/rules.ts';
import { isConnectorName } from '../tools-entry.ts';
import { FrozenMap } from './frozen-map.ts';
import type { Manifest, ManifestPin, ManifestTool } from './manifest.ts';
import { ManifestValidationError } from './manifest-error.ts';
import { type Fail, readTool } from './tool-reading.ts';

/** The facts that a registry keeps beside a manifest. */
export interface ManifestOptions {
  /** Which consents to older versions still hold. Default: none. */
  readonly pins?: readonly ManifestPin[];
}

/** The keys of a manifest. */
export const manifestKeys = ['$schema', 'connector', 'version', 'description', 'tools'];
const DEFAULT_VERSION = '1.0.0';
const MAX_VERSION = 64;
const RESERVED = 'cost_units'; // in the caps of a grant it names the budget of the connector
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Loads a manifest from a parsed value, of schema 0.6. A manifest with `$schema`, or with a tool that is no text, is
 * read strictly. Prefer the text where there is one: a parsed value no longer shows repeated keys.
 *
 * @throws ManifestValidationError with the first fault
 * @throws TypeError for malformed `pins`
 *
 * @example
 * ```ts
 * const manifest = manifestFromObject({ connector: 'crm', tools: { lookup: 'read' } });
 * ```
 */
export function manifestFromObject(value: unknown, options: ManifestOptions = {}): Manifest {
  if (!isObject(value)) throw new ManifestValidationError('wrong_type', '');
  const connector = typeof value.connector === 'string' ? value.connector : undefined;
  const fail: Fail = (code, path) => {
    throw new ManifestValidationError(code, path, connector);
  };
  const tools = checkShape(value, fail);
  const isStrict =
    Object.hasOwn(value, '$schema') || Object.values(tools).some((tool) => typeof tool !== 'string');
  const unknown = Object.keys(value).filter((key) => !manifestKeys.includes(key));
  if (isStrict) checkTop(value, { unknown: unknown[0], names: Object.keys(tools) }, fail);
  const { $schema, version, description } = value;
  return frozen({
    ...(typeof $schema === 'string' && { schema: $schema }),
    connector: connector ?? fail('missing_key', 'connector'),
    version: typeof version === 'string' ? version : DEFAULT_VERSION,
    ...(typeof description === 'string' && { description }),
    tools: readTools(tools, fail),
    warnings: unknown.map((path) => ({ code: 'manifest_unknown_key' as const, path })),
    pins: readPins(options.pins ?? []),
  });
}

function checkShape(value: Readonly<Record<string, unknown>>, fail: Fail): Readonly<Record<string, unknown>> {
  const { connector, tools } = value;
  if (connector === undefined || connector === '') fail('missing_key', 'connector');
  if (typeof connector !== 'string') fail('wrong_type', 'connector');
  if (tools === undefined) fail('missing_key', 'tools');
  if (!isObject(tools)) return fail('wrong_type', 'tools');
  if (Object.keys(tools).length === 0) fail('empty', 'tools');
  return tools;
}

interface Top {
  readonly unknown: string | undefined;
  readonly names: readonly string[];
}

function checkTop(value: Readonly<Record<string, unknown>>, { unknown, names }: Top, fail: Fail): void {
  if (unknown !== undefined) fail('unknown_key', unknown);
  const { $schema, connector, version, description } = value;
  if ($schema !== undefined && typeof $schema !== 'string') fail('wrong_type', '$schema');
  if (!isConnectorName(String(connector))) fail('invalid_name', 'connector');
  for (const name of names) {
    if (name === RESERVED) fail('reserved_name', `tools.${name}`);
    if (!isConnectorName(name)) fail('invalid_name', `tools.${name}`);
  }
  if (version !== undefined) {
    if (typeof version !== 'string') fail('wrong_type', 'version');
    if (version === '') fail('empty', 'version');
    if ([...version].length > MAX_VERSION) fail('invalid_name', 'version');
  }
  if (description !== undefined && typeof description !== 'string') fail('wrong_type', 'description');
}

function readTools(tools: Readonly<Record<string, unknown>>, fail: Fail): Map<string, ManifestTool> {
  const read = new Map<string, ManifestTool>();
  for (const [name, tool] of Object.entries(tools)) {
    if (name === RESERVED) fail('reserved_name', `tools.${name}`);
    read.set(name, readTool(tool, `tools.${name}`, fail));
  }
  return read;
}

/** @throws TypeError */
function readPins(pins: readonly ManifestPin[]): ManifestPin[] {
  return pins.map(({ sha256, wider }) => {
    if (!SHA256.test(sha256) || !wider.every((name) => typeof name === 'string')) {
      throw new TypeError('A pin has `sha256`, 64 digits of hex, and `wider`, a list of tool names.');
    }
    return { sha256, wider: [...wider] };
  });
}

/** Freezes a value and everything in it. A map cannot be frozen, so its methods of change are taken away. */
function frozen(manifest: Manifest): Manifest {
  for (const tool of manifest.tools.values()) freeze(tool);
  freeze(manifest.warnings);
  freeze(manifest.pins);
  return Object.freeze({ ...manifest, tools: new FrozenMap(manifest.tools) });
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) freeze(member);
  Object.freeze(value);
}
