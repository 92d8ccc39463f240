import { describe, expect, test } from 'vitest';
import { registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { decideNaively, randomPolicies } from '../../../../test/policies/naive.ts';
import { warningsAbout } from './analysis.rules.ts';
import { compilePolicies } from './compile.rules.ts';
import { NO_CONDITIONS, type Policy } from './match.rules.ts';
import type { PolicyWarning } from './policies.schema.ts';

const start = sharedSandbox();

const CASES = process.env.TEST_LONG ? 20_000 : 600;
const SEED = Number(process.env.TEST_SEED ?? 20_260_102);
const AT = new Date('2026-03-29T12:34:56.789Z');

test(`the warnings about a policy agree with a reading that looks at every policy, in ${CASES} sets`, () => {
  const { asked, pick, policies: several } = randomPolicies(SEED);
  const seen = new Map<string, number>();

  for (let done = 0; done < CASES; done += 1) {
    const policies = several(pick([2, 4, 12]));
    const written = pick(policies);
    const told = warningsAbout(written, compilePolicies(policies.filter((one) => one !== written)), AT);
    for (const warning of told) {
      seen.set(warning.kind, (seen.get(warning.kind) ?? 0) + 1);
      mustBeTrue(warning, written, policies);
    }
    const idle = told.flatMap(({ kind, policyIds }) => {
      if (kind === 'shadowed') return [written.id];
      return kind === 'shadows' ? policyIds : [];
    });
    for (let ask = 0; idle.length > 0 && ask < 60; ask += 1) {
      const question = asked();
      const decided = decideNaively(policies, question);
      if (decided && idle.includes(decided))
        expect({ policies, question, told, seed: SEED }).toEqual(decided);
    }
  }
  for (const kind of ['shadowed', 'shadows', 'contradicts']) {
    expect(seen.get(kind)).toBeGreaterThan(CASES / 40);
  }
});

function mustBeTrue(
  { kind, policyIds, example, decidedBy }: PolicyWarning,
  written: Policy,
  all: readonly Policy[],
) {
  const named = all.filter(({ id }) => policyIds.includes(id));
  const shown = kind === 'shadows' ? named[0] : written;
  // Examples have no arguments, so none keeps the rules of a permission.
  expect(example === null).toBe(shown?.effect === 'allow' && shown.argumentRules !== null);
  if (!example) return;
  const { connector, tool, at, ...others } = example;
  const call = connector !== undefined && tool !== undefined && { connector, tool };
  const asked = { ...others, at: new Date(at), ...(call && { call }) };
  expect(decideNaively(all, asked)).toBe(decidedBy);
  const matching = (policy: Policy | undefined) => policy && decideNaively([policy], asked) === policy.id;
  if (kind === 'shadowed') {
    expect(matching(written)).toBe(true);
    expect(decidedBy).not.toBe(written.id);
  }
  if (kind === 'shadows') {
    expect(matching(named[0])).toBe(true);
    expect(decidedBy).not.toBe(named[0]?.id);
  }
  if (kind === 'contradicts') {
    expect([matching(written), matching(named[0])]).toEqual([true, true]);
    expect(named[0]?.effect).not.toBe(written.effect);
    expect([written.id, named[0]?.id]).toContain(decidedBy);
  }
}

test('several policies shadow one together, and a gap of a minute leaves it alive', () => {
  const [early, late] = [policyOf('pol_1', 0, 720), policyOf('pol_2', 720, 0)];
  const shadowed = { ...policyOf('pol_3', null, null), createdAt: new Date(1) };
  const about = (others: readonly Policy[]) => warningsAbout(shadowed, compilePolicies(others), AT);

  expect(about([early, late])).toMatchObject([
    { kind: 'shadowed', policyIds: ['pol_1', 'pol_2'], decidedBy: 'pol_1' },
  ]);
  expect(about([early, policyOf('pol_2', 721, 0)])).toEqual([]);
});

test('a comparison with very many scopes stops, and tells so', () => {
  const scopes = Array.from({ length: 100 }, (_, place) => `a${place}:read`);
  const others = Array.from({ length: 12 }, (_, id) => ({ ...policyOf(`pol_${id}`, null, null), scopes }));
  const written = { ...policyOf('pol_99', null, null), scopes: scopes.map((scope) => `b${scope}`) };

  const told = warningsAbout(written, compilePolicies(others), AT);

  expect(told.map(({ kind }) => kind)).toEqual(['incomplete']);
});

const policyOf = (id: string, dayStart: number | null, dayEnd: number | null): Policy => ({
  ...NO_CONDITIONS,
  id,
  name: '',
  effect: 'deny',
  priority: 0,
  scopes: ['payments:transfer'],
  dayStart,
  dayEnd,
  createdAt: new Date(0),
});

test('a policy about an agent that there is not is named when it is replayed, written and listed', async () => {
  const { acme, asDeveloper } = await start();
  const { agentId } = await registerAgent(acme);
  const others = (await registerAgent(await asDeveloper())).agentId;
  const about = (id: string) => ({ name: 'A', effect: 'deny', agentId: id });
  const span = { since: '2025-12-20T00:00:00Z', until: '2026-01-10T00:00:00Z' };
  const kinds = ({ warnings }: { warnings: PolicyWarning[] }) => warnings.map(({ kind }) => kind);
  const warned = async (id: string) => [
    kinds((await acme('POST', '/v1/policies/replay', { candidate: about(id), ...span })).json()),
    kinds((await acme('POST', '/v1/policies', about(id))).json()),
  ];

  const real = await warned(agentId);
  const unknown = [await warned(others), await warned('travel agent')];

  expect(real).toEqual([[], []]);
  expect(unknown.flat()).toEqual(Array(4).fill(['never_matches']));
  const { policies, unknownAgents } = (await acme('GET', '/v1/policies')).json();
  expect(policies).toHaveLength(3);
  expect(unknownAgents.toSorted()).toEqual([others, 'travel agent'].toSorted());
});

test('the answer to a writing names what never decides and what contradicts, by requests that a dry run decides so', async () => {
  const { acme } = await start();
  const write = async (policy: object) =>
    (await acme('POST', '/v1/policies', { name: 'A', ...policy })).json();
  const broad = await write({ effect: 'deny', priority: 1, scopes: ['payments:*'] });

  const shadowed = await write({ effect: 'deny', scopes: ['payments:transfer'] });
  const exception = await write({ effect: 'allow', priority: 2, scopes: ['payments:refund'] });
  const nobodys = await write({ effect: 'deny', agentId: 'travel agent' });
  const changed = await acme('PATCH', `/v1/policies/${shadowed.id}`, { scopes: ['mail:send'] });

  expect(broad.warnings).toEqual([]);
  expect(shadowed.warnings).toMatchObject([
    {
      kind: 'shadowed',
      policyIds: [broad.id],
      example: { scopes: ['payments:transfer'] },
      decidedBy: broad.id,
    },
  ]);
  expect(exception.warnings).toMatchObject([
    {
      kind: 'contradicts',
      policyIds: [broad.id],
      example: { scopes: ['payments:refund'] },
      decidedBy: exception.id,
    },
  ]);
  expect(nobodys.warnings).toMatchObject([{ kind: 'never_matches', policyIds: [], example: null }]);
  expect(changed.json().warnings).toEqual([]);
  for (const { example, decidedBy } of [...shadowed.warnings, ...exception.warnings]) {
    const dryRun = await acme('POST', '/v1/policies/evaluate', example);
    expect(dryRun.json().policyId).toBe(decidedBy);
  }
});

describe('a literal reading', () => {
  const CASES = process.env.TEST_LONG ? 100_000 : 3000;
  const SEED = Number(process.env.TEST_SEED ?? 20_260_101);

  test(`the index decides as a reading that looks at every policy, in ${CASES} cases`, () => {
    const { asked: request, pick, policies: several } = randomPolicies(SEED);
    const seen = { allow: 0, deny: 0, require_approval: 0, none: 0 };
    for (let done = 0; done < CASES; ) {
      const policies = several(pick([3, 12, 60]));
      const compiled = compilePolicies(policies);
      for (let ask = 0; ask < 10; ask += 1, done += 1) {
        const asked = request();
        const found = compiled.decide(asked);
        const naive = decideNaively(policies, asked);
        if ((found?.id ?? null) !== naive) {
          expect({ asked, policies, seed: SEED, decided: found?.id ?? null }).toEqual({ decided: naive });
        }
        seen[found?.effect ?? 'none'] += 1;
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(CASES / 50);
  });

  test('hours begin at their first minute, end before their last, and go past midnight', () => {
    const night = compilePolicies([
      {
        ...NO_CONDITIONS,
        id: 'pol_1',
        name: 'Night',
        effect: 'deny',
        priority: 0,
        dayStart: 22 * 60,
        dayEnd: 6 * 60,
        createdAt: new Date(0),
      },
    ]);
    const isDenied = (time: string) =>
      night.decide({
        agentId: 'a',
        principalId: 'p',
        scopes: ['a:b'],
        at: new Date(`2026-03-29T${time}Z`),
      }) !== undefined;

    expect(isDenied('21:59:59.999')).toBe(false);
    expect(isDenied('22:00:00.000')).toBe(true);
    expect(isDenied('00:00:00.000')).toBe(true);
    expect(isDenied('05:59:59.999')).toBe(true);
    expect(isDenied('06:00:00.000')).toBe(false);
  });

  test('a permission that covers a part of a request hides none that covers all of it', () => {
    const allow = (id: string, scopes: string[]): Policy => ({
      ...NO_CONDITIONS,
      id,
      name: '',
      effect: 'allow',
      priority: 0,
      scopes,
      createdAt: new Date(0),
    });
    const { decide } = compilePolicies([allow('pol_1', ['*']), allow('pol_2', ['*', 'tool:pay:read'])]);
    const asked = { agentId: 'a', principalId: 'p', at: new Date(0) };

    expect(decide({ ...asked, scopes: ['tool:pay:read', 'a:b'] })?.id).toBe('pol_2');
    expect(decide({ ...asked, scopes: ['a:b'] })?.id).toBe('pol_1');
  });
});
