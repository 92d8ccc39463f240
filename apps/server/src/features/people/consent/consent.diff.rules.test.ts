import { covers } from '@behest/protocol/scopes';
import { TOOLS_TYPE, type ToolsEntry } from '@behest/protocol/tools-entry';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { difference } from './consent.diff.rules.ts';
import type { Terms } from './consent.terms.rules.ts';

const base: Terms = {
  scopes: ['tool:pay:write'],
  entries: [],
  purpose: null,
  budget: null,
  lifetime: '10h',
  audience: null,
  redirectHost: null,
  agent: null,
  manifests: new Map(),
};
const entry = (more: Partial<ToolsEntry>): ToolsEntry[] => [{ type: TOOLS_TYPE, connector: 'pay', ...more }];
const usd = (units: bigint) => ({ units, currency: 'USD' });

const scope = fc.constantFrom(
  ...['*', 'calendar:*', 'calendar:read', 'mail:read', 'tool:pay:write', 'tool:pay:read', 'tool:*:read'],
  ...['tool:pay:write:capped:500', 'tool:pay:write:capped:20', 'tool:pay:admin:invoice*', 'tool:crm:read'],
);
const terms = fc.record({
  scopes: fc.uniqueArray(scope, { minLength: 1, maxLength: 5 }),
  tools: fc.option(fc.uniqueArray(fc.constantFrom('send', 'list', 'se*'), { minLength: 1 }), {
    nil: undefined,
  }),
  cap: fc.option(fc.nat(3), { nil: undefined }),
  purpose: fc.constantFrom(null, 'payments.payout', 'aml.screening'),
  lifetime: fc.constantFrom('10h', '11h', '12h', '1h'),
  audience: fc.constantFrom(null, 'https://a.example', 'https://b.example'),
  budget: fc.constantFrom(null, usd(1n), usd(2n), { units: 1n, currency: 'EUR' }),
});
const made = ({
  tools,
  cap,
  ...others
}: typeof terms extends fc.Arbitrary<infer Made> ? Made : never): Terms => ({
  ...base,
  ...others,
  entries:
    tools || cap !== undefined
      ? entry({ ...(tools && { tools }), ...(cap !== undefined && { caps: { send: { per_day: cap } } }) })
      : [],
});

describe('the difference between two consents', () => {
  test('is “same” for a request and itself', () => {
    fc.assert(
      fc.property(terms, (one) => {
        const { verdict, counts } = difference(made(one), made(one));
        expect([
          verdict,
          counts.new + counts.wider + counts.changed + counts.narrower + counts.removed,
        ]).toEqual(['same', 0]);
      }),
      { numRuns: 300 },
    );
  });

  test('calls no scope narrower that the old ones do not cover, and none new or wider that they cover', () => {
    fc.assert(
      fc.property(terms, terms, (one, other) => {
        for (const { dimension, change, key = '' } of difference(made(one), made(other)).items) {
          if (dimension !== 'scope' || change === 'removed') continue;
          const isCovered = one.scopes.some((old) => covers(old, key));
          expect(change === 'narrower' || change === 'same').toBe(isCovered);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('has nothing new or wider once those scopes and tools are left out, and the time is as before', () => {
    fc.assert(
      fc.property(terms, terms, (one, other) => {
        const before = made({ ...one, purpose: null, audience: null, budget: null, cap: undefined });
        const asked = made({ ...other, purpose: null, audience: null, budget: null, cap: undefined });
        const beyond = difference(before, asked).items.filter(
          ({ change }) => change === 'new' || change === 'wider',
        );
        const out = (dimension: string) =>
          beyond.flatMap((item) => (item.dimension === dimension && item.key ? [item.key] : []));
        const lists = asked.entries.map((each) => ({
          ...each,
          tools: (each.tools ?? []).filter((tool) => !out('tools').includes(tool)),
        }));
        const isDropped = beyond.some(({ dimension, key }) => dimension === 'tools' && !key);
        fc.pre(!isDropped && lists.every(({ tools }) => tools.length > 0));
        const kept = {
          ...asked,
          scopes: asked.scopes.filter((each) => !out('scope').includes(each)),
          entries: lists,
          lifetime: beyond.find(({ dimension }) => dimension === 'lifetime')?.before ?? asked.lifetime,
        };

        const { counts } = difference(before, kept);

        expect([counts.new, counts.wider]).toEqual([0, 0]);
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, Partial<Terms>, Partial<Terms>, string]>([
    ['a list of tools is dropped', { entries: entry({ tools: ['a'] }) }, {}, 'tools wider'],
    ['a list of tools is given', {}, { entries: entry({ tools: ['a'] }) }, 'tools narrower'],
    [
      'a prefix replaces its tool',
      { entries: entry({ tools: ['send'] }) },
      { entries: entry({ tools: ['se*'] }) },
      'tools wider se*',
    ],
    ['a cap is dropped', { entries: entry({ caps: { a: { per_day: 1 } } }) }, {}, 'caps wider a per_day'],
    [
      'a cap is higher',
      { entries: entry({ caps: { a: { per_day: 1 } } }) },
      { entries: entry({ caps: { a: { per_day: 2 } } }) },
      'caps wider a per_day',
    ],
    ['a cap is added', {}, { entries: entry({ caps: { a: { per_day: 1 } } }) }, 'caps narrower a per_day'],
    [
      'limits of arguments are dropped',
      { entries: entry({ tools: ['a'], arguments: { a: { '/x': { max: '5' } } } }) },
      { entries: entry({ tools: ['a'] }) },
      'arguments wider a',
    ],
    [
      'limits of arguments are tighter',
      { entries: entry({ tools: ['a'], arguments: { a: { '/x': { max: '5' } } } }) },
      { entries: entry({ tools: ['a'], arguments: { a: { '/x': { max: '4' } } } }) },
      'arguments narrower a',
    ],
    [
      'the region is another',
      { entries: entry({ data_region: 'eu' }) },
      { entries: entry({ data_region: 'us' }) },
      'data_region changed',
    ],
    ['the purpose is dropped', { purpose: 'payments.payout' }, {}, 'purpose wider'],
    [
      'the purpose is another',
      { purpose: 'payments.payout' },
      { purpose: 'aml.screening' },
      'purpose changed',
    ],
    ['a purpose is added', {}, { purpose: 'aml.screening' }, 'purpose narrower'],
    ['the budget is dropped', { budget: usd(5n) }, {}, 'budget wider'],
    ['the budget is higher', { budget: usd(5n) }, { budget: usd(6n) }, 'budget wider'],
    ['the budget is added', {}, { budget: usd(6n) }, 'budget narrower'],
    [
      'the currency is another',
      { budget: usd(5n) },
      { budget: { units: 5n, currency: 'EUR' } },
      'budget changed',
    ],
    ['the time is longer by more than a tenth', {}, { lifetime: '12h' }, 'lifetime wider'],
    ['the time is shorter', {}, { lifetime: '9h' }, 'lifetime narrower'],
    ['the audience is dropped', { audience: 'https://a.example' }, {}, 'audience wider'],
    ['the audience is added', {}, { audience: 'https://a.example' }, 'audience narrower'],
    [
      'the browser returns elsewhere',
      { redirectHost: 'a.example' },
      { redirectHost: 'b.example' },
      'redirectHost changed',
    ],
    [
      'a manifest is there now',
      {},
      { manifests: new Map([['pay', { sha256: 'a', tools: new Map() }]]) },
      'manifest changed',
    ],
    [
      'a manifest is gone',
      { manifests: new Map([['pay', { sha256: 'a', tools: new Map() }]]) },
      {},
      'manifest changed',
    ],
    [
      'the old manifest is no longer kept',
      { manifests: new Map([['pay', { sha256: 'a', tools: undefined }]]) },
      { manifests: new Map([['pay', { sha256: 'b', tools: new Map() }]]) },
      'manifest changed',
    ],
  ])('says so when %s', (_, before, after, expected) => {
    const { items } = difference({ ...base, ...before }, { ...base, ...after });

    const told = items.filter(({ change }) => change !== 'same');
    expect(
      told.map(({ dimension, change, key }) => [dimension, change, key].filter(Boolean).join(' ')),
    ).toEqual([expected]);
  });

  test('counts a time that is longer by a tenth as the same', () => {
    expect(difference(base, { ...base, lifetime: '11h' }).verdict).toBe('same');
  });
});
