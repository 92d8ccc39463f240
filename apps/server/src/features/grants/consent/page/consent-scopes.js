/** @import { ScopeGroup, ToolScope } from './types.js' */

/*
 * The page reads scopes only to describe them exactly. The service alone decides about grants.
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
