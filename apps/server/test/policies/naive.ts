import {
  NO_CONDITIONS,
  type Policy,
  type PolicyRequest,
} from '../../src/features/grants/policies/match.rules.ts';

const EFFECTS = ['deny', 'require_approval', 'allow'];

/** Decides by looking at every policy in turn. It shares no code with the service. */
export function decideNaively(policies: readonly Policy[], asked: PolicyRequest): string | null {
  const order = [...policies].sort(
    (a, b) =>
      b.priority - a.priority ||
      EFFECTS.indexOf(a.effect) - EFFECTS.indexOf(b.effect) ||
      +a.createdAt - +b.createdAt ||
      (a.id < b.id ? -1 : 1),
  );
  for (const policy of order) {
    if (policy.agentId !== null && policy.agentId !== asked.agentId) continue;
    if (policy.principalId !== null && policy.principalId !== asked.principalId) continue;
    if (!isInHours(policy, asked.at) || !isFurtherMet(policy, asked)) continue;
    const own = policy.scopes;
    const isMet =
      own === null ||
      (policy.effect !== 'allow'
        ? asked.scopes.some((scope) => own.some((denied) => stops(denied, scope)))
        : asked.scopes.every((scope) => own.some((allowed) => reaches(allowed, scope))));
    if (isMet) return policy.id;
  }
  return null;
}

/** Two zones of the world without summer time, so that their clocks need no database: minutes before UTC. */
const ZONES: Readonly<Record<string, number>> = { 'Asia/Kolkata': 330, 'America/Phoenix': -420 };
const WEEK = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed']; // 1970 began on a Thursday

function isInHours({ dayStart, dayEnd, timeZone, daysOfWeek }: Policy, at: Date): boolean {
  const local = Math.floor(at.getTime() / 60_000) + (timeZone === null ? 0 : (ZONES[timeZone] ?? Number.NaN));
  const isOn = (minute: number) => {
    const name = WEEK[((Math.floor(minute / 1440) % 7) + 7) % 7] ?? '';
    return daysOfWeek === null || daysOfWeek.includes(name);
  };
  if (dayStart === null || dayEnd === null) return isOn(local);
  // Walks back to the minute at which the hours began.
  for (let ago = 0; ago < 1440; ago += 1) {
    const minute = (((local - ago) % 1440) + 1440) % 1440;
    if (minute === dayEnd) return false;
    if (minute === dayStart) return isOn(local - ago);
  }
  return false;
}

function isFurtherMet(
  policy: Policy,
  { purpose, address, delegationDepth = 0, call }: PolicyRequest,
): boolean {
  const { purposes, networks, depthMin, depthMax, connector, tools, argumentRules, effect } = policy;
  if (purposes !== null && !purposes.some((each) => each === purpose)) return false;
  if (delegationDepth < (depthMin ?? 0) || delegationDepth > (depthMax ?? 255)) return false;
  const isIn = (network: string) => address?.startsWith(PREFIXES[network] ?? 'none');
  if (networks !== null && !(address ? networks.some(isIn) : effect !== 'allow')) return false;
  if (connector === null) return true;
  if (call?.connector !== connector) return false;
  const fits = (pattern: string) => new RegExp(`^${pattern.replace('*', '.*')}$`).test(call.tool);
  if (tools !== null && !tools.some(fits)) return false;
  if (argumentRules === null) return true;
  if (argumentRules[call.tool] === undefined) return false;
  // The only rule here: `amount` is at most 500, and nothing else is given.
  const { amount, ...others } = Object(call.arguments);
  const keeps = typeof amount === 'number' && amount <= 500 && Object.keys(others).length === 0;
  return keeps === (effect === 'allow');
}

/** The texts with which the addresses of a network begin. */
const PREFIXES: Readonly<Record<string, string>> = {
  '10.0.0.0/8': '10.',
  '10.1.0.0/16': '10.1.',
  '10.1.2.3': '10.1.2.3',
  '2001:db8::7': '2001:db8::7',
  '2001:db8::/32': '2001:db8:',
};

const LEVELS = ['read', 'write', 'delete', 'admin'];

function toolOf(scope: string) {
  const [kind, connector = '', level = '', ...rest] = scope.split(':');
  if (kind !== 'tool') return undefined;
  const cappedAt = rest.indexOf('capped');
  const cap = cappedAt === -1 ? undefined : Number(rest[cappedAt + 1]);
  const resource = rest[0] === undefined || rest[0] === 'capped' || rest[0] === '*' ? undefined : rest[0];
  return { connector, level: level === '*' ? 3 : LEVELS.indexOf(level), resource, cap };
}

/** Whether a permission covers another. */
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

const NARROW = ['10.1.2.3', '10.0.0.0/8', '2001:db8::7'];
const TOOLS = [null, ['send*'], ['send', 's*'], ['list'], ['*']];
const ARGUMENTS = [undefined, {}, { amount: 500 }, { amount: 501 }, { amount: 5, to: 'x' }];

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
  const further = (): Partial<Policy> =>
    random() < 0.5
      ? {}
      : {
          timeZone: pick([null, null, ...Object.keys(ZONES)]),
          daysOfWeek: pick([null, null, ['thu'], ['fri', 'wed']]),
          purposes: pick([null, null, ['payments.payout'], ['payments.payout', 'aml.screening']]),
          networks: pick([null, null, ['10.0.0.0/8'], ['10.1.0.0/16', '2001:db8::/32'], NARROW]),
          depthMin: pick([null, null, 0, 1]),
          depthMax: pick([null, null, 1, 2, 9]),
          ...pick([{}, {}, ...TOOLS.map((tools) => ({ connector: 'pay', tools })), limited]),
        };
  const limited = { connector: 'pay', argumentRules: { send: { '/amount': { max: '500' } } } };
  const policy = (id: number): Policy => {
    const [dayStart, dayEnd] = random() < 0.6 ? [null, null] : [minute(), minute()];
    const isHalf = dayStart === dayEnd;
    return {
      ...NO_CONDITIONS,
      ...further(),
      id: `pol_${id}`,
      name: '',
      effect: pick(['allow', 'deny', 'deny', 'allow', 'require_approval']),
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
  const asked = (): PolicyRequest => ({
    agentId: pick(AGENTS),
    principalId: pick(['p1', 'p2', 'p3']),
    scopes: [...new Set(several(3, scope))],
    at: new Date(pick([0, 1, 6]) * 86_400_000 + minute() * 60_000 + Math.floor(random() * 60_000)),
    purpose: pick([null, 'payments.payout', 'aml.screening']),
    address: pick([null, '10.1.2.3', '10.2.2.3', '192.0.2.1', '2001:db8::7']),
    delegationDepth: pick([0, 1, 2, 10]),
    ...pick([
      {},
      { call: { connector: 'pay', tool: pick(['send', 'sender', 'list']), arguments: pick(ARGUMENTS) } },
    ]),
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
