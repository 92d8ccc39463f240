import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { decisionClaims } from '../../test/decision-claims.ts';
import { engineSetup } from '../../test/engine-setup.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import { encodeBase64url } from '../base64url.ts';
import { canonicalJson } from '../canonical-json.ts';
import { manifestFromObject } from '../manifest/load.ts';
import { manifestSha256 } from '../manifest/pins.ts';
import { actionHash, actionOf, argumentParts } from './action.ts';
import type { Call } from './call.ts';
import { createEnforcer } from './enforcer.ts';
import type { EnforcerSetup } from './engine.ts';

const MAX_COUNT = 2_147_483_647;
const TOOLS = 'urn:service:tools:v1';
const LINEAGE = 'urn:service:caps-lineage:v1';
const call: Call = { grantToken: 'token', connector: 'pay', tool: 't0', callId: 'call-0001' };

async function answerTo(setup: EnforcerSetup, change: object = {}) {
  const { allowed, subReason, details } = await createEnforcer(setup).enforce(Object({ ...call, ...change }));
  return { verdict: allowed ? 'fine' : subReason, details };
}

async function verdictOn(tool: object, change: object = {}, claims: object = {}) {
  return (await answerTo(engineSetup({ permission: 'read', ...tool }, { claims }), change)).verdict;
}

describe('the gateway', () => {
  test.each<[string, unknown, unknown]>([
    ['resource', 'invoices', 1],
    ['toolPin', 'sha256:x', 1],
    ['tool', 't0', null],
    ['callId', 'a'.repeat(128), 'a'.repeat(129)],
    ['callId', 'a'.repeat(8), 'a'.repeat(7)],
    ['caseVersion', '𝄞'.repeat(128), '𝄞'.repeat(129)],
  ])('gives a %s of one form', async (member, good, bad) => {
    const { enforce } = createEnforcer(engineSetup({ permission: 'read' }));

    expect(await enforce(Object({ ...call, [member]: good }))).toMatchObject({ allowed: true });
    await expect(enforce(Object({ ...call, [member]: bad }))).rejects.toThrow(TypeError);
  });

  test.each([undefined, '', 1, null])('gives no token as %s', async (grantToken) => {
    const { details } = await answerTo(engineSetup({ permission: 'read' }), { grantToken });

    expect(details).toEqual({ cause: 'missing' });
  });

  test('may ask nobody about revocation', async () => {
    const { revocation: _, ...setup } = engineSetup({ permission: 'read' });

    expect((await answerTo(setup)).verdict).toBe('fine');
  });
});

describe('an amount', () => {
  test.each<[number, string]>([
    [0, 'fine'],
    [-0.01, 'invalid_amount'],
    [5, 'fine'],
    [5.01, 'amount_cap'],
  ])('judged under a cap of 5: %s is %s', async (amount, verdict) => {
    const claims = { scp: ['tool:pay:admin:capped:5', 'tool:pay:admin:capped:5.00'] };

    expect(await verdictOn({}, { amount }, claims)).toBe(verdict);
  });
});

describe('J22: authorization_details', () => {
  const others = (count: number) => Array.from({ length: count }, () => ({ type: 'urn:other' }));
  const grants = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ grant: `grnt_${at}`, caps: { t0: { per_day: 9 } } }));
  const lineage = (ancestors: unknown) => [{ type: LINEAGE, connector: 'pay', ancestors }];
  const caps = { t0: { per_day: 9 } };

  test.each<[string, unknown[], string]>([
    ['64 entries', others(64), 'fine'],
    ['65 entries', others(65), 'malformed_authorization_details'],
    ['10 ancestors', lineage(grants(10)), 'fine'],
    ['11 ancestors', lineage(grants(11)), 'malformed_authorization_details'],
    ['no ancestor', lineage([]), 'malformed_authorization_details'],
    ['an ancestor without a name', lineage([{ grant: '', caps }]), 'malformed_authorization_details'],
    ['an ancestor named by a number', lineage([{ grant: 1, caps }]), 'malformed_authorization_details'],
    [
      'an ancestor that says more',
      lineage([{ grant: 'grnt_0', caps, more: 1 }]),
      'malformed_authorization_details',
    ],
  ])('with %s are judged %s', async (_, details, verdict) => {
    expect(await verdictOn({}, {}, { authorization_details: details })).toBe(verdict);
  });

  test('with 65 entries are too many, whatever they are', async () => {
    const setup = engineSetup({ permission: 'read' }, { claims: { authorization_details: others(65) } });

    expect((await answerTo(setup)).details).toMatchObject({ fault: 'too_many' });
  });
});

describe('the manifest of a consent', () => {
  test('is the present one, though that has no history', async () => {
    const manifest = manifestFromObject({
      $schema: 'urn:service:manifest:0.6',
      connector: 'pay',
      tools: { t0: { permission: 'read' } },
    });
    const bytes = Buffer.from(await manifestSha256(manifest), 'hex');
    const grant = { agent_did: 'did:web:a', grant_id: 'grnt_1', developer_id: 'dev_1' };
    const claimsOf = (pin: string) => ({
      claims: { 'urn:service:grant': { ...grant, manifests: { pay: pin }, manifest_mode: 'enforce' } },
    });
    const judge = (pin: string) => answerTo(engineSetup({ permission: 'read' }, claimsOf(pin)));

    expect((await judge(encodeBase64url(bytes))).verdict).toBe('fine');
    expect((await judge(encodeBase64url(Buffer.alloc(32)))).verdict).toBe('manifest_changed');
  });
});

describe('arguments that cannot be read', () => {
  test('are nobody’s in particular: the denial names no scope', async () => {
    const setup = engineSetup({ permission: 'read', arguments: { '/a': { max: '5' } } });
    const { verdict, details } = await answerTo(setup, { arguments: { a: 1, '\ud800': 1 } });

    expect(verdict).toBe('argument_unreadable');
    expect(Object.keys(details)).toEqual(['cause']);
  });
});

describe('arguments that were copied while the token was verified', () => {
  test('are held to what rules take all the same', async () => {
    const setup = engineSetup({ permission: 'read', arguments: { '/a': { type: 'string' } } });
    const tokens = { verify: async () => setup.tokens.verify('token') };
    const judge = async (a: string) => (await answerTo({ ...setup, tokens }, { arguments: { a } })).verdict;

    expect([await judge('b'), await judge('\u0000')]).toEqual(['fine', 'argument_unreadable']);
  });
});

describe('an action', () => {
  test('has at most 65,536 bytes', async () => {
    const actionWith = (letters: number) =>
      actionOf({ ...call, arguments: { a: 'a'.repeat(letters) }, caseId: null, caseVersion: null });
    const empty = canonicalJson({ ...actionWith(0) }).length;

    expect(actionWith(65_536 - empty)).toBeDefined();
    expect(actionWith(65_537 - empty)).toBeUndefined();
  });
});

describe('the arguments that a decision binds', () => {
  const binds = ['/a', '/b/a', '/__proto__/c', '/0'];
  const names = fc.constantFrom('a', 'b', 'c', 'decision', '__proto__', '0', 'constructor');
  const leaf = fc.oneof(fc.constantFrom('', 'x', 0, 1, true, null), fc.array(fc.constantFrom('x', 1)));
  /** Objects whose members are their own, whatever their names. */
  const objectOf = (member: fc.Arbitrary<unknown>) =>
    fc.uniqueArray(fc.tuple(names, member), { selector: ([name]) => name }).map(Object.fromEntries);
  const anyArguments = objectOf(fc.oneof(leaf, objectOf(fc.oneof(leaf, objectOf(leaf)))));

  const hashOf = async (args: object, sha256 = 'a'.repeat(64)) => {
    const binding = { binds, sha256 };
    const action = actionOf({ ...call, arguments: args, caseId: null, caseVersion: null, binding });
    if (!action) throw new Error('The arguments of the test have no action.');
    return actionHash(action);
  };
  /** The values of the bound parts, as a reader of the page sees them. */
  const boundOf = (args: object) =>
    canonicalJson(
      argumentParts({ ...args }, binds)
        .filter((part) => part.binds)
        .map(({ path }) => [path, valueAt(args, path)])
        .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    );
  const valueAt = (args: object, path: string) =>
    path
      .slice(1)
      .split('/')
      .reduce<unknown>((value, name) => Object.getOwnPropertyDescriptor(value, name)?.value, args);

  test('give two calls one hash if and only if no bound part differs', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments, anyArguments, async (one, other) => {
        const isSame = (await hashOf(one)) === (await hashOf(other));
        // An object of which nothing is bound but that it is there has no part of its own.
        const onTheWay = (args: object) =>
          canonicalJson(['b', '__proto__'].map((name) => typeof valueAt(args, `/${name}`)));
        if (boundOf(one) !== boundOf(other)) expect(isSame).toBe(false);
        else if (onTheWay(one) === onTheWay(other)) expect(isSame).toBe(true);
      }),
      { numRuns: 2_000, seed: 20_260_101 },
    );
  });

  test('are the same after any change of a part that is not bound, and others after one of a bound part', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments, fc.nat(), async (args, pick) => {
        const parts = argumentParts(args, binds);
        const part = parts[pick % parts.length];
        if (!part) return;
        const changed = structuredClone(args);
        const steps = part.path.slice(1).split('/');
        const last = steps.pop() ?? '';
        const parent = steps.length === 0 ? changed : valueAt(changed, `/${steps.join('/')}`);
        Object.defineProperty(parent, last, { value: 'another', enumerable: true, configurable: true });
        expect((await hashOf(args)) === (await hashOf(changed))).toBe(!part.binds);
      }),
      { numRuns: 2_000, seed: 20_260_101 },
    );
  });

  test('name every argument once, and every one as bound without a list', () => {
    const args = { a: 1, b: { a: 2, c: 3 }, 'c/d': [1] };

    expect(argumentParts(args, ['/a', '/b/a'])).toEqual([
      { path: '/a', binds: true },
      { path: '/b/a', binds: true },
      { path: '/b/c', binds: false },
      { path: '/c~1d', binds: false },
    ]);
    expect(argumentParts(args).map((part) => part.binds)).toEqual([true, true, true]);
  });

  test('have another hash under another manifest', async () => {
    expect(await hashOf({ a: 1 }, 'b'.repeat(64))).not.toBe(await hashOf({ a: 1 }));
  });
});

describe('an allowed call', () => {
  test('tells the permission of its tool, though a legacy manifest may name that as it likes', async () => {
    const legacy = manifestFromObject({ connector: 'pay', tools: { 'a b': 'read' } });
    const setup = { ...engineSetup({ permission: 'read' }), manifests: new Map([['pay', legacy]]) };

    expect(await createEnforcer(setup).enforce({ ...call, tool: 'a b' })).toMatchObject({
      allowed: true,
      permission: 'read',
    });
  });
});

describe('decision grants', () => {
  test.each<[string, unknown, string]>([
    ['one', ['jwt'], 'fine'],
    ['a text', 'ab', 'malformed'],
    ['a number', [1], 'malformed'],
    ['three', ['1', '2', '3'], 'malformed'],
  ])('given as %s are judged %s', async (_, decisionGrants, verdict) => {
    const payload = await decisionClaims({ connector: 'pay', tool: 't0' });
    const setup = {
      ...engineSetup({ permission: 'write', requires_decision: true }),
      decisions: {
        verify: () => ({ ok: true, payload, expired: false }) as const,
        move: async () => Object({ ok: true, state: 'sent' }),
      },
    };

    expect((await answerTo(setup, { arguments: {}, decisionGrants })).verdict).toBe(verdict);
  });
});

describe('a case', () => {
  test.each<[string, string, string]>([
    ['256 letters', 'c'.repeat(256), 'fine'],
    ['257 letters', 'c'.repeat(257), 'invalid_case_id'],
    ['256 clefs, which are 512 units', '𝄞'.repeat(256), 'fine'],
    ['257 clefs', '𝄞'.repeat(257), 'invalid_case_id'],
  ])('named by %s is judged %s', async (_, caseId, verdict) => {
    expect(await verdictOn({ caps: { per_case: 1 } }, { caseId })).toBe(verdict);
  });

  test('is not needed for a budget of units that the tool has none of', async () => {
    const caps = { t0: { per_hour: 1 }, cost_units: { per_case: 1 } };
    const claims = { authorization_details: [{ type: TOOLS, connector: 'pay', caps }] };

    expect(await verdictOn({}, {}, claims)).toBe('fine');
    expect(await verdictOn({ cost_units: { page: 1 } }, {}, claims)).toBe(null); // case_required
  });
});

describe('the counters of a call', () => {
  test('keep each millisecond apart up to a limit of 1,000, and a case has neither window nor step', async () => {
    const reserve = vi.fn(async () => ({ reserved: true, used: [1, 1, 1] }) as const);
    const meter = Object.assign(new PlainMeter(() => 0), { reserve });
    const caps = { per_hour: 1_000, per_day: 1_001, per_case: 5 };

    await answerTo(engineSetup({ permission: 'read', caps }, { meter }), { caseId: 'c1' });

    expect(reserve).toHaveBeenCalledWith('dev_1', 'call-0001', [
      expect.objectContaining({ limit: 1_000, windowMs: 3_600_000, grainMs: 1 }),
      expect.objectContaining({ limit: 1_001, windowMs: 86_400_000, grainMs: 24_000 }),
      expect.objectContaining({ limit: 5, windowMs: 0, grainMs: 0 }),
    ]);
  });

  test.each<[number, string]>([
    [0, 'fine'],
    [1, 'invalid_cost_component'],
  ])('take at most 2,147,483,647 units, and %s more is judged %s', async (more, verdict) => {
    const cost_units = { page: MAX_COUNT - 1, row: 1 + more };

    expect(await verdictOn({ cost_units })).toBe(verdict);
  });

  test('leave a budget alone from which the call takes nothing, even one that is spent', async () => {
    const reserve = vi.fn(async () => ({ reserved: true, used: [1] }) as const);
    const meter = Object.assign(new PlainMeter(() => 0), { reserve });
    const caps = { t0: { per_hour: 9 }, cost_units: { per_hour: 0 } };
    const claims = { authorization_details: [{ type: TOOLS, connector: 'pay', caps }] };
    const setup = engineSetup({ permission: 'read', cost_units: { page: 0 } }, { meter, claims });

    expect((await answerTo(setup)).verdict).toBe('fine');
    expect(reserve).toHaveBeenCalledWith('dev_1', 'call-0001', [expect.objectContaining({ limit: 9 })]);
  });
});

describe('a metered call that takes nothing', () => {
  const health = { ok: true, backend: 'memory', version: '', epoch: '', problems: [] };

  test.each<[string, () => Promise<unknown>, object]>([
    ['well', async () => health, {}],
    ['unwell', async () => ({ ...health, ok: false }), { cause: 'misconfigured' }],
    ['away', () => Promise.reject(new Error()), { cause: 'unreachable' }],
    ['silent', async () => ({}), { cause: 'misconfigured' }],
  ])('asks the meter how it is, which is %s', async (_, ask, details) => {
    const meter = Object.assign(new PlainMeter(() => 0), { health: ask });
    const setup = engineSetup({ permission: 'read', cost_units: { page: 0 } }, { meter });

    expect((await answerTo(setup)).details).toEqual(details);
  });
});

describe('a call that only checks', () => {
  test('is denied when the counters cannot be read', async () => {
    const usage = () => Promise.reject(new Error());
    const meter = Object.assign(new PlainMeter(() => 0), { usage });
    const setup = engineSetup({ permission: 'read', caps: { per_hour: 1 } }, { meter });

    expect(await answerTo(setup, { reserve: false })).toEqual({
      verdict: 'meter_unavailable',
      details: { cause: 'unreachable' },
    });
  });
});
