import { issuedDetails, readRequestedDetails } from '@behest/protocol/authorization-details';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { canHavePurpose } from '@behest/protocol/purposes';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '../../../platform/errors.ts';
import { type Delegable, partOf, type RequestedPart } from './delegate.rules.ts';

const at = new Date('2026-01-01T00:00:00Z');
const limits = { at, maxDepth: 10, isByToken: false };
const LONGEST = 7200; // seconds that a grant of these tests lives
const TOKEN_SECONDS = 600; // and its tokens
const OUTSIDER = 'did:web:x:agents:outsider'; // an agent that is in no chain

const scopes = fc.uniqueArray(
  fc.constantFrom(
    '*',
    'calendar:*',
    'calendar:read',
    'calendars',
    'tool:*:admin',
    'tool:*:read',
    'tool:a:write',
    'tool:a:read',
    'tool:a:write:inv*',
    'tool:a:read:invoice',
    'tool:a:write:capped:10',
    'tool:a:read:invoice:capped:5',
    'tool:b:delete',
    'tool:b:read:capped:5.0',
  ),
  { minLength: 1, maxLength: 4 },
);
const windows = fc.record({ per_day: fc.nat(4), per_hour: fc.nat(4) }, { requiredKeys: [] });
const someWindows = windows.filter((each) => Object.keys(each).length > 0);
const entry = (connector: 'a' | 'b') =>
  fc.record(
    {
      type: fc.constant('urn:service:tools:v1'),
      connector: fc.constant(connector),
      tools: fc.uniqueArray(fc.constantFrom('get*', 'get_x', 'g*', 'send'), { minLength: 1 }),
      caps: fc.dictionary(fc.constantFrom('get_x', 'send', 'cost_units'), someWindows, { minKeys: 1 }),
      data_region: fc.constantFrom('eu', 'us'),
    },
    { requiredKeys: ['type', 'connector'] },
  );
const details = fc
  .tuple(fc.option(entry('a')), fc.option(entry('b')))
  .map((entries) => entries.filter((each) => each !== null));
const lifetimeSeconds = fc.integer({ min: 60, max: LONGEST });
const subAgentDid = fc.constantFrom('did:web:x:agents:a', 'did:web:x:agents:b', 'did:web:x:agents:c');
const asked: fc.Arbitrary<RequestedPart> = fc.record(
  {
    scopes,
    lifetimeSeconds,
    subAgentDid,
    authorizationDetails: details,
    audience: fc.constantFrom('https://one.example', 'https://two.example'),
    purpose: fc.constantFrom('aml.screening', 'payments.payout'),
  },
  { requiredKeys: ['scopes', 'lifetimeSeconds', 'subAgentDid'] },
);
/** Mostly parts that many grants cover, or a few refusals would end every chain. */
const part = fc.oneof(
  asked,
  fc.record({ scopes, lifetimeSeconds, subAgentDid }),
  fc.record({
    scopes: fc.constant(['tool:a:read:invoice:capped:5']),
    lifetimeSeconds,
    subAgentDid,
    authorizationDetails: details,
  }),
);

/** A grant that a principal gave, read and made in the same way as an authorization request. */
const root: fc.Arbitrary<Delegable> = fc
  .tuple(asked, fc.constantFrom([], ['*', 'tool:*:admin'], ['tool:a:write']))
  .map(([each, more]) => ({ ...each, scopes: [...new Set([...each.scopes, ...more])] }))
  .filter((each) => each.purpose === undefined || canHavePurpose(each.scopes))
  .map((each) => {
    const read = readRequestedDetails(each.authorizationDetails ?? [], each.scopes);
    const entries = issuedDetails(each.purpose, each.scopes, read.ok ? read.entries : []);
    return {
      id: 'grnt_0',
      scopes: each.scopes,
      audience: each.audience ?? null,
      purpose: each.purpose ?? null,
      authorizationDetails: entries,
      expiresAt: new Date(at.getTime() + each.lifetimeSeconds * 1000),
      tokenExpiresAt: new Date(at.getTime() + Math.min(each.lifetimeSeconds, TOKEN_SECONDS) * 1000),
      consentMethod: 'email',
      delegationDepth: 0,
      agentDid: each.subAgentDid,
      delegatedBy: [],
    };
  });

/** @returns undefined when the delegation is refused */
function delegated(parent: Delegable, wanted: RequestedPart): Delegable | undefined {
  try {
    const { entries, endsWithToken, ...made } = partOf(parent, wanted, limits);
    const isInChain = [parent.agentDid, ...parent.delegatedBy].includes(wanted.subAgentDid);
    expect(endsWithToken).toBe(isInChain);
    if (isInChain) expect(made.expiresAt.getTime()).toBeLessThanOrEqual(parent.tokenExpiresAt.getTime());
    const tokenEnds = Math.min(made.expiresAt.getTime(), at.getTime() + TOKEN_SECONDS * 1000);
    return {
      ...made,
      consentMethod: 'delegated',
      id: `grnt_${made.delegationDepth}`,
      authorizationDetails: entries,
      tokenExpiresAt: new Date(tokenEnds),
      agentDid: wanted.subAgentDid,
      delegatedBy: [parent.agentDid, ...parent.delegatedBy],
    };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The grants of a chain, the root first. Refused parts are left out. */
function chainOf(first: Delegable, parts: readonly RequestedPart[]): Delegable[] {
  const chain = [first];
  for (const each of parts) {
    const child = delegated(chain.at(-1) ?? first, each);
    if (child) chain.push(child);
  }
  return chain;
}

const CONNECTORS = ['a', 'b', 'c'];
const LEVELS = ['read', 'write', 'delete', 'admin'];
const TOOLS = ['get_x', 'get_y', 'go', 'send', 'drop'];

const entryOf = ({ authorizationDetails }: Delegable, connector: string) =>
  toolsEntries(storedEntries(authorizationDetails)).find((each) => each.connector === connector);

/** Every single call that a grant allows, read from its texts by other means than the code under test. */
function callsOf(grant: Delegable): Set<string> {
  const calls = new Set<string>();
  for (const connector of CONNECTORS) {
    const tools = TOOLS.filter((tool) => {
      const listed = entryOf(grant, connector)?.tools ?? ['*'];
      return listed.some((name) => new RegExp(`^${name.replace('*', '.*')}$`).test(tool));
    });
    for (const level of LEVELS) {
      for (const resource of ['invoice', 'inventory', 'mail', '']) {
        for (const amount of [0, 5, 6, 11]) {
          const isIn = grant.scopes.some((scope) => allows(scope, { connector, level, resource, amount }));
          if (isIn) for (const tool of tools) calls.add([connector, tool, level, resource, amount].join(' '));
        }
      }
    }
  }
  for (const bare of ['calendar:read', 'calendar:write', 'calendars', 'email']) {
    if (grant.scopes.some((scope) => scope === '*' || scope === bare || isBelow(scope, bare)))
      calls.add(bare);
  }
  return calls;
}

const isBelow = (scope: string, bare: string) =>
  scope.endsWith(':*') && !scope.startsWith('tool:') && bare.startsWith(scope.slice(0, -1));

interface Call {
  readonly connector: string;
  readonly level: string;
  readonly resource: string;
  readonly amount: number;
}

function allows(scope: string, { connector, level, resource, amount }: Call): boolean {
  const [kind, named, granted = '', ...rest] = scope.split(':');
  if (kind !== 'tool' || granted === '') return false;
  const cap = rest.includes('capped') ? Number(rest.at(-1)) : Number.POSITIVE_INFINITY;
  const only = rest[0] === 'capped' ? undefined : rest[0];
  const reaches =
    only === undefined || only === resource || (only.endsWith('*') && resource.startsWith(only.slice(0, -1)));
  const isGranted = LEVELS.indexOf(level) <= LEVELS.indexOf(granted);
  return (named === '*' || named === connector) && isGranted && reaches && amount <= cap;
}

/** How often a grant allows a tool in a window; without a cap, infinitely often. */
function limitsOf(grant: Delegable, connector: string): number[] {
  const caps = entryOf(grant, connector)?.caps ?? {};
  return ['get_x', 'send', 'cost_units'].flatMap((tool) => {
    const { per_day = Number.POSITIVE_INFINITY, per_hour = Number.POSITIVE_INFINITY } = caps[tool] ?? {};
    return [per_day, per_hour];
  });
}

const reaches = (grant: Delegable, connector: string) =>
  [...callsOf(grant)].some((call) => call.startsWith(`${connector} `));

test('R7 in a chain of delegations no grant is wider than the one above it, in anything', () => {
  let made = 0;
  fc.assert(
    fc.property(root, fc.array(part, { minLength: 1, maxLength: 12 }), (first, parts) => {
      const chain = chainOf(first, parts);
      for (const [index, child] of chain.slice(1).entries()) {
        const parent = chain[index] ?? first;
        made += 1;
        expect(callsOf(child).difference(callsOf(parent))).toEqual(new Set());
        expect(child.expiresAt.getTime()).toBeLessThanOrEqual(parent.expiresAt.getTime());
        expect(child.purpose).toBe(parent.purpose);
        if (parent.audience !== null) expect(child.audience).toBe(parent.audience);
        expect(child.delegationDepth).toBe(parent.delegationDepth + 1);
        for (const connector of CONNECTORS.filter((each) => reaches(child, each))) {
          const above = limitsOf(parent, connector);
          expect(limitsOf(child, connector).every((limit, each) => limit <= (above[each] ?? 0))).toBe(true);
          const region = entryOf(parent, connector)?.data_region;
          if (region !== undefined) expect(entryOf(child, connector)?.data_region).toBe(region);
        }
      }
    }),
    { numRuns: 600 },
  );
  expect(made).toBeGreaterThan(300); // not all parts were refused
});

test('a whole grant may be delegated, and allows the same', () => {
  fc.assert(
    fc.property(root, (grant) => {
      const wanted = { scopes: grant.scopes, lifetimeSeconds: LONGEST, subAgentDid: OUTSIDER };
      const child = delegated(grant, wanted);

      expect(child && callsOf(child)).toEqual(callsOf(grant));
      expect(child?.expiresAt).toEqual(grant.expiresAt);
      expect(child && toolsEntries(storedEntries(child.authorizationDetails))).toEqual(
        grant.authorizationDetails,
      );
    }),
  );
});

test('an agent gets nothing through several delegations that one delegation could not give it', () => {
  fc.assert(
    fc.property(root, fc.array(part, { minLength: 2, maxLength: 8 }), (first, parts) => {
      const last = chainOf(first, parts).at(-1) ?? first;
      const entries = toolsEntries(storedEntries(last.authorizationDetails));
      const atOnce = delegated(first, {
        scopes: last.scopes,
        ...(last.audience !== null && { audience: last.audience }),
        ...(last.purpose !== null && { purpose: last.purpose }),
        authorizationDetails: entries.map(({ purpose: _, ...each }) => each),
        lifetimeSeconds: LONGEST,
        subAgentDid: OUTSIDER,
      });

      expect(atOnce && callsOf(atOnce)).toEqual(callsOf(last));
    }),
  );
});

test('a grant carries the caps of every grant above it, the root’s first', () => {
  let carried = 0;
  fc.assert(
    fc.property(root, fc.array(part, { minLength: 1, maxLength: 8 }), (first, parts) => {
      const chain = chainOf(first, parts);
      const last = chain.at(-1) ?? first;
      for (const connector of ['a', 'b'].filter((each) => entryOf(last, each))) {
        const above = chain.slice(0, -1).flatMap((grant) => {
          const caps = entryOf(grant, connector)?.caps;
          return caps ? [{ grant: grant.id, caps }] : [];
        });
        const lineage = storedEntries(last.authorizationDetails).find(
          (each) => each.type === 'urn:service:caps-lineage:v1' && each.connector === connector,
        );
        carried += above.length;
        expect(lineage && 'ancestors' in lineage ? lineage.ancestors : []).toEqual(above);
      }
    }),
    { numRuns: 400 },
  );
  expect(carried).toBeGreaterThan(20);
});
