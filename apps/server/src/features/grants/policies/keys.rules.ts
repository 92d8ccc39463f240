import type { ReadScope } from '@behest/protocol/scopes';
import { type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';
import { isPrefix, levelOf } from './scopes.rules.ts';

/** A text under which policies are found. A key is exact when each request that asks for it overlaps the scope. */
export interface Key {
  readonly text: string;
  readonly isExact: boolean;
}

/** More colons than this in a scope are not told apart by keys. */
const MOST_COLONS = 8;
/** Stands for every connector in keys of denials. No connector has this name. */
const EVERY = '>';

const exact = (text: string): Key => ({ text, isExact: true });
const rough = (text: string): Key => ({ text, isExact: false });

/** `a:b:c` begins with `a:` and `a:b:`. */
function stemsOf(text: string, most = Number.POSITIVE_INFINITY): string[] {
  const stems: string[] = [];
  for (let at = text.indexOf(':'); at !== -1 && stems.length < most; at = text.indexOf(':', at + 1)) {
    stems.push(text.slice(0, at + 1));
  }
  return stems;
}

/** `a:*` covers the texts that begin with `a:`. */
const stemOf = ({ text, isTool }: ReadScope): string | undefined =>
  !isTool && text.endsWith(':*') ? text.slice(0, -1) : undefined;

/** The keys of a scope that covers others. */
function plainKeys(scope: ReadScope): Key[] {
  if (scope.text === '*') return [exact('*')];
  const stem = stemOf(scope);
  return stem === undefined ? [exact(`=${scope.text}`)] : [exact(`=${scope.text}`), exact(`^${stem}`)];
}

const keysOverPlain = ({ text }: ReadScope): string[] => [
  '*',
  `=${text}`,
  ...stemsOf(text).map((stem) => `^${stem}`),
];

/** The keys under which a scope of a permission is found. */
export function coverKeys(scope: ReadScope): Key[] {
  const { tool } = scope;
  if (!tool) return plainKeys(scope);
  const { connector, resource } = tool;
  if (resource === undefined) return [rough(`t${connector}`)];
  const own = rough(`r${connector} ${resource}`);
  return isPrefix(resource) ? [own, rough(`q${connector} ${resource.slice(0, -1)}`)] : [own];
}

/** The keys of the scopes that may cover this one. @param hasPrefixes whether any policy names a prefix of resources */
export function keysAskedOfCovers(scope: ReadScope, hasPrefixes: boolean): string[] {
  const { tool } = scope;
  if (!tool) return keysOverPlain(scope);
  const { resource } = tool;
  return [...new Set([tool.connector, '*'])].flatMap((connector) => [
    `t${connector}`,
    ...(resource === undefined ? [] : [`r${connector} ${resource}`]),
    ...(hasPrefixes && resource !== undefined ? prefixKeys(`q${connector} `, resource) : []),
  ]);
}

const prefixKeys = (before: string, resource: string) =>
  Array.from({ length: resource.length + 1 }, (_, length) => before + resource.slice(0, length));

/** The keys under which a scope of a denial is found. */
export function denyKeys(scope: ReadScope): Key[] {
  const { tool, text } = scope;
  if (tool) return [tool.connector, EVERY].flatMap((connector) => deniedTool(connector, tool));
  if (text === '*') return [exact('*'), exact('>')];
  const stems = stemsOf(text, MOST_COLONS);
  // A request for `a:*` asks for what is below `a:`, and one for `*` for everything.
  const below = stems.map((stem, place) => (place + 1 < MOST_COLONS ? exact(`>${stem}`) : rough(`>${stem}`)));
  return [...plainKeys(scope), exact('>'), ...below];
}

function deniedTool(connector: string, tool: ToolScope): Key[] {
  const { resource } = tool;
  const place = `${connector} ${levelOf(tool)}`;
  if (resource === undefined) return [exact(`t${place}`)];
  const within = [exact(`a${place}`), rough(`p${place}`)];
  return isPrefix(resource)
    ? [...within, exact(`q${place} ${resource.slice(0, -1)}`)]
    : [...within, exact(`r${place} ${resource}`)];
}

/** The keys of the denied scopes that may overlap this one. @param hasPrefixes as above */
export function keysAskedOfDenials(scope: ReadScope, hasPrefixes: boolean): string[] {
  const { tool, text } = scope;
  if (tool) return ['*', ...deniedToolsAsked(tool, hasPrefixes)];
  if (text === '*') return ['*', '>'];
  const stem = stemOf(scope);
  const below =
    stem === undefined
      ? []
      : stemsOf(stem, MOST_COLONS)
          .slice(-1)
          .map((known) => `>${known}`);
  return [...keysOverPlain(scope), ...below];
}

function deniedToolsAsked(tool: ToolScope, hasPrefixes: boolean): string[] {
  const { connector, resource } = tool;
  const connectors = connector === '*' ? [EVERY] : [connector, '*'];
  const levels = toolLevels.slice(0, levelOf(tool) + 1).map((_, level) => level);
  return connectors.flatMap((name) =>
    levels.flatMap((level) => {
      const place = `${name} ${level}`;
      if (resource === undefined) return [`t${place}`, `a${place}`];
      if (isPrefix(resource)) return [`t${place}`, `p${place}`];
      const prefixes = hasPrefixes ? prefixKeys(`q${place} `, resource) : [];
      return [`t${place}`, `r${place} ${resource}`, ...prefixes];
    }),
  );
}
