import { MAX_PINS } from '@behest/protocol/claims';
import { manifestFromObject } from '@behest/protocol/manifest/load';
import type { Manifest, ManifestPin, ManifestTool } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import type { ToolInWords } from '@behest/protocol/shapes';
import { isWithin, namedConnectors, parseToolScope, toolLevels } from '@behest/protocol/tool-scopes';
import type { ToolsEntry } from '@behest/protocol/tools-entry';
import { chosenLanguage } from '@behest/protocol/words';
import { AppError } from '../../../platform/errors.ts';

const MAX_PATH = 512; // characters of a fault's path, since names may have any length

/**
 * Reads a manifest strictly, also one without `$schema` whose tools are all texts, which other loaders take as it is.
 * @throws INVALID_MANIFEST with the first fault
 */
export function readManifest(value: object): Manifest {
  try {
    if (!Object.hasOwn(value, '$schema')) manifestFromObject({ ...value, $schema: '' });
    return manifestFromObject(value);
  } catch (error) {
    if (!(error instanceof ManifestValidationError)) throw error;
    const path = error.path.slice(0, MAX_PATH);
    throw new AppError('INVALID_MANIFEST', 'The manifest has a fault.', { code: error.code, path });
  }
}

/** Loads a manifest that the service has stored, with the pins beside it. */
export const storedManifest = (manifest: unknown, pins: unknown = []): Manifest =>
  manifestFromObject(manifest, { pins: pins as readonly ManifestPin[] }); // the service wrote them

/** A connector's manifest under which a person agreed. */
export interface ConsentPin {
  readonly connector: string;
  readonly version: string;
  /** 64 digits of lower-case hex. */
  readonly sha256: string;
}

/** The manifests under which a person agreed, and the effect that a wider one has since. */
export interface ConsentPins {
  readonly mode: 'off' | 'warn' | 'enforce';
  readonly pins: readonly ConsentPin[];
}

/** Reads a column that the service itself has written. */
export const storedPins = (column: unknown): ConsentPins | undefined =>
  column === null || column === undefined ? undefined : (column as ConsentPins);

/** The pins as a token carries them; nothing where they have no effect. */
export function pinsInToken(column: unknown): {
  readonly manifests?: Pinned;
  readonly manifestMode?: PinMode;
} {
  const stored = storedPins(column);
  if (!stored || stored.mode === 'off' || stored.pins.length === 0) return {};
  const pinned = stored.pins
    .slice(0, MAX_PINS)
    .map(({ connector, sha256 }) => [connector, Buffer.from(sha256, 'hex').toString('base64url')]);
  return { manifests: Object.fromEntries(pinned), manifestMode: stored.mode };
}

type Pinned = Readonly<Record<string, string>>;
type PinMode = 'warn' | 'enforce';

/** The tools of manifests, by connector. */
type ToolsOf = ReadonlyMap<string, Manifest['tools']>;

const MAX_COVERED = 10;

/**
 * The tools that scopes and entries reach, in the words of the manifests: those that an entry lists, and otherwise those
 * that the scopes name, or `*` for all that they reach. A connector without a manifest has no words.
 */
export function toolsInWords(
  { scopes, entries }: { readonly scopes: readonly string[]; readonly entries: readonly ToolsEntry[] },
  tools: ToolsOf,
  languages: readonly string[],
): ToolInWords[] {
  const parsed = scopes.flatMap((scope) => parseToolScope(scope) ?? []);
  return namedConnectors(scopes).flatMap((connector) => {
    const own = parsed.filter((scope) => scope.connector === connector || scope.connector === '*');
    const reached = [...(tools.get(connector) ?? [])].filter(([name, { permission }]) =>
      own.some(
        ({ level, resource = '*' }) =>
          isWithin(resource, name) && toolLevels.indexOf(level) >= toolLevels.indexOf(permission),
      ),
    );
    const listed = entries.find((entry) => entry.connector === connector)?.tools;
    const items = new Set(listed ?? own.map(({ resource = '*' }) => resource));
    return [...items].flatMap((item): ToolInWords[] => {
      const covered = reached
        .filter(([name]) => isWithin(item, name))
        .map(([name, tool]) => toolInWords(name, tool, languages))
        .toSorted((one, other) => rank(other.level) - rank(one.level)); // keeps the order within a level
      const [first] = covered;
      if (!first) return [];
      if (!item.endsWith('*')) return [{ connector, ...first, covers: [], more: 0 }];
      const covers = covered.slice(0, MAX_COVERED);
      const more = covered.length - covers.length;
      return [{ connector, ...NO_WORDS, tool: item, level: first.level, covers, more }];
    });
  });
}

const NO_WORDS = { title: null, description: null, language: null };

const rank = (level: ToolInWords['level']) => (level === null ? -1 : toolLevels.indexOf(level));

/** One tool in the language that the reader wants most. Words that the language lacks come from those without a language. */
function toolInWords(name: string, tool: ManifestTool, languages: readonly string[]) {
  const language = chosenLanguage(languages, Object.keys(tool.titles ?? {}));
  const words = language === undefined ? undefined : tool.titles?.[language];
  return {
    tool: name,
    level: tool.permission,
    title: words?.title ?? tool.title ?? null,
    description: words?.description ?? tool.description ?? null,
    language: language ?? null,
  };
}

/** A tool and its arguments in words, for a person who decides about one call. */
export function approvalWords(tool: ManifestTool | undefined, languages: readonly string[]) {
  if (!tool) return { title: null, description: null, language: null, arguments: [] };
  const { title, description, language } = toolInWords('', tool, languages);
  const own = language === null ? undefined : tool.titles?.[language]?.argument_titles;
  const titles = Object.entries({ ...tool.argument_titles, ...own });
  return { title, description, language, arguments: titles.map(([path, text]) => ({ path, title: text })) };
}
