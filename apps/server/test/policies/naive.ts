import type { Asked, Policy } from '../../src/features/access/policies/policies.match.rules.ts';

/** Decides by looking at every policy in turn. It shares no code with the service. */
export function decideNaively(policies: readonly Policy[], asked: Asked): string | null {
  const order = [...policies].sort(
    (a, b) =>
      b.priority - a.priority ||
      Number(a.effect === 'allow') - Number(b.effect === 'allow') ||
      +a.createdAt - +b.createdAt ||
      (a.id < b.id ? -1 : 1),
  );
  for (const policy of order) {
    if (policy.agentId !== null && policy.agentId !== asked.agentId) continue;
    if (policy.principalId !== null && policy.principalId !== asked.principalId) continue;
    if (!isInHours(policy, asked.at)) continue;
    const own = policy.scopes;
    const isMet =
      own === null ||
      (policy.effect === 'deny'
        ? asked.scopes.some((scope) => own.some((denied) => stops(denied, scope)))
        : asked.scopes.every((scope) => own.some((allowed) => reaches(allowed, scope))));
    if (isMet) return policy.id;
  }
  return null;
}

function isInHours({ dayStart, dayEnd }: Policy, at: Date): boolean {
  if (dayStart === null || dayEnd === null) return true;
  const hours = new Set<number>();
  for (let minute = dayStart; minute !== dayEnd; minute = (minute + 1) % 1440) hours.add(minute);
  return hours.has(Math.floor((at.getTime() % 86_400_000) / 60_000));
}

const LEVELS = ['read', 'write', 'delete', 'admin'];

function toolOf(scope: string) {
  const [kind, connector = '', level = '', ...rest] = scope.split(':');
  if (kind !== 'tool') return undefined;
  const cappedAt = rest.indexOf('capped');
  const cap = cappedAt === -1 ? undefined : Number(rest[cappedAt + 1]);
  const resource = rest[0] === undefined || rest[0] === 'capped' || rest[0] === '*' ? undefined : rest[0];
  return { connector, level: level === '*' ? 3 : LEVELS.indexOf(level), resource, cap };
}

/** Covers(p, c) of contract 03. */
function reaches(p: string, c: string): boolean {
  if (p === c) return true;
  const [wide, narrow] = [toolOf(p), toolOf(c)];
  if (wide && narrow) {
    const isPrefix = wide.resource?.endsWith('*') && narrow.resource?.startsWith(wide.resource.slice(0, -1));
    const hasResource = wide.resource === undefined || wide.resource === narrow.resource || isPrefix;
    const hasCap = wide.cap === undefined || (narrow.cap !== undefined && narrow.cap <= wide.cap);
    const hasConnector = wide.connector === '*' || wide.connector === narrow.connector;
    return Boolean(hasConnector && narrow.level <= wide.level && hasResource && hasCap);
  }
  if (wide || narrow) return false;
  return p === '*' || (p.endsWith(':*') && c.startsWith(p.slice(0, -1)));
}

function stops(denied: string, asked: string): boolean {
  if (denied === '*') return true;
  const [no, wanted] = [toolOf(denied), toolOf(asked)];
  if (!no && !wanted) return reaches(denied, asked) || reaches(asked, denied);
  if (!no || !wanted) return false;
  if (![no.connector, '*'].includes(wanted.connector) && no.connector !== '*') return false;
  if (wanted.level < no.level) return false;
  if (no.resource === undefined || wanted.resource === undefined) return true;
  return meet(no.resource, wanted.resource);
}

function meet(one: string, other: string): boolean {
  const [a, b] = [one.replace(/[*]$/, ''), other.replace(/[*]$/, '')];
  if (one !== a && other !== b) return a.startsWith(b) || b.startsWith(a);
  if (one !== a) return b.startsWith(a);
  return other === b ? a === b : a.startsWith(b);
}

const AGENTS = ['0', '1', '2'].map((last) => `ag_0000000000000000000000000${last}`) as [string, ...string[]];

/** Policies and requests that meet each other often. The same seed makes the same ones. */
export function randomPolicies(seed: number) {
  const random = seeded(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const several = <Item>(most: number, make: () => Item): Item[] =>
    Array.from({ length: 1 + Math.floor(random() * most) }, make);
  const scope = () => (random() < 0.5 ? plain() : tool());
  const plain = () => {
    const parts = several(random() < 0.05 ? 12 : 3, () => pick(['a', 'b', 'c']));
    return pick([parts.join(':'), `${parts.join(':')}:*`, '*', `${parts.join(':')}:`]);
  };
  const tool = () => {
    const resource = pick(['', '', ':*', ':x', ':xy', ':x*', ':xy*', ':z']);
    const cap = pick(['', '', ':capped:5', ':capped:50']);
    return `tool:${pick(['crm', 'pay', '*'])}:${pick([...LEVELS, '*'])}${resource}${cap}`;
  };
  const minute = () => pick([0, 1, 359, 360, 720, 1320, 1439]);
  const policy = (id: number): Policy => {
    const [dayStart, dayEnd] = random() < 0.6 ? [null, null] : [minute(), minute()];
    const isHalf = dayStart === dayEnd;
    return {
      id: `pol_${id}`,
      name: '',
      effect: pick(['allow', 'deny']),
      priority: pick([0, 0, 0, 1, -1]),
      agentId: pick([null, null, ...AGENTS.slice(1)]),
      principalId: pick([null, null, 'p1', 'p2']),
      scopes: random() < 0.1 ? null : [...new Set(several(3, scope))],
      dayStart: isHalf ? null : dayStart,
      dayEnd: isHalf ? null : dayEnd,
      createdAt: new Date(pick([0, 0, 1, 2])),
    };
  };
  const policies = (most: number): Policy[] => several(most, () => 0).map((_, id) => policy(id));
  const asked = (): Asked => ({
    agentId: pick(AGENTS),
    principalId: pick(['p1', 'p2', 'p3']),
    scopes: [...new Set(several(3, scope))],
    at: new Date(minute() * 60_000 + Math.floor(random() * 60_000)),
  });
  return { pick, policies, asked };
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
