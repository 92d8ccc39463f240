/** @import { ScopeGroup, ToolScope } from './types.js' */

/*
 * Pages read scopes only to describe them exactly. The service alone decides about grants.
 */

const LEVELS = ['read', 'write', 'delete', 'admin'];
const TOOL_SCOPE =
  /^tool:(\*|\w[\w.-]{0,127}):(read|write|delete|admin|\*)(?::(?!capped(?::|$))(\*|[\w.-]+\*?))?(?::capped:(\d+(?:\.\d+)?))?$/;

/** @type {(scope: string) => ToolScope | undefined} */
export function toolScope(scope) {
  const match = TOOL_SCOPE.exec(scope);
  if (!match) return undefined;
  const [, connector = '', level = '', resource, cap] = match;
  return { connector, level: level === '*' ? 3 : LEVELS.indexOf(level), resource, cap };
}

/**
 * Whether `parent` covers `child`.
 * @param {string} parent
 * @param {string} child
 */
export function covers(parent, child) {
  if (parent === child) return true;
  const outer = toolScope(parent);
  const inner = toolScope(child);
  if (outer && inner) return toolCovers(outer, inner);
  if ([parent, child].some((scope) => scope.startsWith('tool:'))) return false;
  return parent === '*' || (parent.endsWith(':*') && child.startsWith(parent.slice(0, -1)));
}

/** @type {(outer: ToolScope, inner: ToolScope) => boolean} */
function toolCovers(outer, inner) {
  const { resource } = outer;
  return (
    (outer.connector === '*' || outer.connector === inner.connector) &&
    inner.level <= outer.level &&
    (resource === undefined ||
      resource === inner.resource ||
      (resource.endsWith('*') && (inner.resource ?? '').startsWith(resource.slice(0, -1)))) &&
    (outer.cap === undefined || Number(inner.cap) <= Number(outer.cap))
  );
}

/**
 * The limit on amounts that is lost with `removed`. The lowest `capped` of all scopes for a connector bounds
 * every call to it, so a capped scope also limits the others.
 * @param {string} removed
 * @param {string[]} kept
 */
export function lostCap(removed, kept) {
  const { connector = '', cap } = toolScope(removed) ?? {};
  if (cap === undefined) return undefined;
  const others = kept
    .flatMap((scope) => toolScope(scope) ?? [])
    .filter((other) => connector === '*' || [connector, '*'].includes(other.connector));
  const isStillBound = others.some((other) => Number(other.cap) <= Number(cap));
  return others.length === 0 || isStillBound ? undefined : { amount: cap, connector };
}

/**
 * Groups the scopes of one connector or one resource, in order of first appearance. Scopes without a group
 * come last.
 * @param {string[]} scopes
 * @returns {ScopeGroup[]}
 */
export function groupScopes(scopes) {
  /** @type {Map<string, ScopeGroup>} */
  const groups = new Map();
  for (const scope of scopes) {
    const connector = toolScope(scope)?.connector;
    const kind = connector === undefined ? 'resource' : 'tool';
    const name = connector ?? scope.split(':')[0] ?? '';
    const members = groups.get(`${kind} ${name}`)?.members ?? [];
    groups.set(`${kind} ${name}`, { kind, name, members: [...members, scope] });
  }
  const together = [...groups.values()].filter((group) => group.members.length > 1);
  const alone = [...groups.values()].filter((group) => group.members.length === 1);
  if (alone.length === 0) return together;
  return [...together, { kind: 'other', name: '', members: alone.flatMap((group) => group.members) }];
}

/** The permissions of `<resource>:<permission>` that only look. */
const LOOKS = new Set(['read', 'list', 'search', 'view', 'get', 'download']);
/** Those that change something which can be changed back. */
const CHANGES = new Set(['write', 'update', 'edit', 'create', 'upload', 'draft']);
/** Those that reach other people, or cannot be undone. */
const ACTS = new Set(
  'send publish delete remove share book initiate approve pay transfer spend refund buy order post execute run'.split(
    ' ',
  ),
);
const DOES_EVERYTHING = new Set(['*', 'admin', 'manage']);

/**
 * How far a permission reaches: 0 looks, 1 changes, 2 spends, sends, deletes or publishes, 3 does everything. Every word
 * behind the resource counts, and the furthest decides. Words that are not known come before those that reach less.
 * @param {string} scope
 */
export function reachOf(scope) {
  const tool = toolScope(scope);
  if (tool) return tool.level === 0 ? 0 : tool.level === 3 ? 3 : 2; // what a tool that changes something does, no level says
  if (scope === '*') return 3;
  const words = scope
    .toLowerCase()
    .split(':')
    .slice(1)
    .flatMap((part) => (part === '*' ? part : part.split(/[_.-]/)));
  if (words.some((word) => DOES_EVERYTHING.has(word))) return 3;
  if (scope.startsWith('vault:') || scope.endsWith(':credentials:read')) return 2;
  if (words.some((word) => ACTS.has(word))) return 2;
  if (words.length === 0 || words.some((word) => !LOOKS.has(word) && !CHANGES.has(word))) return 1.5;
  return words.some((word) => CHANGES.has(word)) ? 1 : 0;
}

/** Whether a permission may spend, send, delete or publish, or more. @param {string} scope */
export const isFarReaching = (scope) => reachOf(scope) >= 2;

/** How a permission looks: one that does everything is graver than one that spends or sends. @param {string} scope */
export function kindOf(scope) {
  const reach = reachOf(scope);
  if (reach >= 3) return 'far everything';
  return reach >= 2 ? 'far' : undefined;
}

/** @param {string[]} scopes */
export const mostFarReachingFirst = (scopes) =>
  scopes.toSorted((one, other) => reachOf(other) - reachOf(one));
