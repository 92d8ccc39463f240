import type { ManifestTool } from '@behest/protocol/manifest/manifest';
import { covers } from '@behest/protocol/scopes';
import { TOOLS_TYPE, type ToolsEntry } from '@behest/protocol/tools-entry';
import { scopeInWords } from '@behest/protocol/words';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { difference, type Terms } from './diff.rules.ts';
import { sayer } from './diff-words.rules.ts';

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
  words: {},
};
const entry = (more: Partial<ToolsEntry>): ToolsEntry[] => [{ type: TOOLS_TYPE, connector: 'pay', ...more }];
const usd = (units: bigint) => ({ units, currency: 'USD' });

const WRITE: ManifestTool = { permission: 'write', caps: { per_day: 3 } };

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
      'a cap is lower',
      { entries: entry({ caps: { a: { per_day: 2 } } }) },
      { entries: entry({ caps: { a: { per_day: 1 } } }) },
      'caps narrower a per_day',
    ],
    [
      'a cap of another time is added',
      { entries: entry({ caps: { a: { per_day: 2 } } }) },
      { entries: entry({ caps: { a: { per_day: 2, per_hour: 1 } } }) },
      'caps narrower a per_hour',
    ],
    [
      'a tool is no longer listed',
      { entries: entry({ tools: ['a', 'b'] }) },
      { entries: entry({ tools: ['a'] }) },
      'tools narrower',
    ],
    [
      'arguments of a tool are limited that is called as a member of every object',
      { entries: entry({ tools: ['constructor'] }) },
      { entries: entry({ tools: ['constructor'], arguments: { constructor: { '/x': { max: '4' } } } }) },
      'arguments narrower constructor',
    ],
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
    ['the budget is lower', { budget: usd(6n) }, { budget: usd(5n) }, 'budget narrower'],
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
    const { items, verdict } = difference({ ...base, ...before }, { ...base, ...after });

    const told = items.filter(({ change }) => change !== 'same');
    expect(
      told.map(({ dimension, change, key }) => [dimension, change, key].filter(Boolean).join(' ')),
    ).toEqual([expected]);
    expect(verdict).toBe(/ (wider|changed)/.test(expected) ? 'wider' : 'narrower');
  });

  test('shows a scope beside those that it reaches further than, and those that it took the place of', () => {
    const told = (before: string[], after: string[]) =>
      difference({ ...base, scopes: before }, { ...base, scopes: after })
        .items.filter(({ dimension }) => dimension === 'scope')
        .map(({ change, before: was, after: is }) => [change, was, is]);

    expect(told(['mail:read', 'mail:send'], ['mail:*'])).toEqual([
      ['wider', 'mail:read mail:send', 'mail:*'],
    ]);
    expect(told(['mail:*'], ['mail:read', 'files:read'])).toEqual([
      ...[
        ['new', null, 'files:read'],
        ['narrower', null, 'mail:read'],
        ['removed', 'mail:*', null],
      ],
    ]);
  });

  test('leaves the limits of a connector to its scope, where the scope is new', () => {
    const before = { ...base, scopes: ['mail:read'] };
    const after = { ...base, scopes: ['mail:read', 'tool:pay:write'], entries: entry({ tools: ['send'] }) };

    const changes = difference(before, after).items.filter(({ change }) => change !== 'same');

    expect(changes.map(({ dimension, change, key }) => [dimension, change, key])).toEqual([
      ['scope', 'new', 'tool:pay:write'],
    ]);
  });

  test.each<[string, Partial<Terms>, [ManifestTool | undefined, ManifestTool | undefined], string[]]>([
    ['says that a tool may do more', {}, [WRITE, { permission: 'write' }], ['wider send']],
    ['says that a tool is limited more', {}, [{ permission: 'write' }, WRITE], ['narrower send']],
    ['says that a tool is new', {}, [undefined, WRITE], ['new send']],
    ['says that a tool is gone', {}, [WRITE, undefined], ['removed send']],
    ['says nothing of a tool that is as before', {}, [WRITE, WRITE], []],
    ['says nothing of a tool that no scope reaches', {}, [undefined, { permission: 'admin' }], []],
    [
      'says nothing of a tool that is not listed',
      { entries: entry({ tools: ['list'] }) },
      [undefined, WRITE],
      [],
    ],
    [
      'says it of a tool whose prefix is listed',
      { entries: entry({ tools: ['se*'] }) },
      [undefined, WRITE],
      ['new send'],
    ],
    ['says nothing of another connector', { scopes: ['tool:crm:write'] }, [undefined, WRITE], []],
    [
      'says it for a scope of every connector beside',
      { scopes: ['tool:*:write', 'tool:pay:read'] },
      [undefined, WRITE],
      ['new send'],
    ],
  ])('%s, by its manifest', (_, terms, [old, now], expected) => {
    const manifest = (sha256: string, tool?: ManifestTool) =>
      new Map([['pay', { sha256, tools: new Map(tool ? [['send', tool]] : []) }]]);
    const [before, after] = [
      { ...base, ...terms, manifests: manifest('a', old) },
      { ...base, ...terms, manifests: manifest('b', now) },
    ];

    const told = difference(before, after).items.filter(({ dimension }) => dimension === 'manifest');

    expect(told.map(({ change, key }) => `${change} ${key}`)).toEqual(expected);
  });

  test('says of the same manifest that it is the same', () => {
    const manifests = new Map([['pay', { sha256: 'a', tools: new Map([['send', WRITE]]) }]]);

    const told = difference({ ...base, manifests }, { ...base, manifests }).items.at(-1);

    expect(told).toMatchObject({ dimension: 'manifest', change: 'same', connector: 'pay' });
  });

  test('counts a time that is longer by a tenth as the same', () => {
    expect(difference(base, { ...base, lifetime: '11h' }).verdict).toBe('same');
  });
});

const say = sayer({
  inWords: (scope) => (scope === 'orders:read' ? 'See your orders' : scopeInWords(scope)),
});
const refund = { connector: 'stripe', tool: 'refund' };
const [units, perDay] = [
  { ...refund, tool: 'cost_units', window: 'per_case' },
  { ...refund, window: 'per_day' },
] as const;

/** A sentence that has its two values in the wrong order says the opposite. */
describe('a sentence about a difference says what is asked now, and then what it was', () => {
  test.each<[string, string | null]>([
    [say.scope('new', 'orders:read'), '“See your orders” is new.'],
    [say.scope('wider', 'mail:*'), '“Do everything with your mail” reaches further than before.'],
    [say.tool('stripe', 'payout'), '“payout” of “stripe” is a tool that you did not allow before.'],
    [say.tools('stripe', 'wider').text, 'Every tool of “stripe” may be used, and before only some.'],
    [say.tools('stripe', 'narrower').text, 'Only some tools of “stripe” may be used, and before every one.'],
    [
      say.tools('stripe', 'narrower', ['list', 'refund']).text,
      'Tools of “stripe” that are no longer asked for: “list”, “refund”.',
    ],
    [say.cap(perDay, 'wider', [3, 5]), '“refund” of “stripe”: at most 5 a day, and before at most 3.'],
    [say.cap(perDay, 'same', [3, 3]), '“refund” of “stripe”: at most 3 a day, as before.'],
    [
      say.cap(perDay, 'wider', [3, undefined]),
      '“refund” of “stripe”: no limit for a day, and before at most 3.',
    ],
    [
      say.cap(units, 'narrower', [undefined, 5]),
      'The cost units of “stripe”: at most 5 a case, and before without a limit.',
    ],
    [
      say.rules(refund, 'wider'),
      'The limits of what “refund” of “stripe” may be given are looser than before, or gone.',
    ],
    [
      say.region('stripe', 'changed', ['eu', 'us']),
      'The region for the data of “stripe”: “us”, and before “eu”.',
    ],
    [
      say.region('stripe', 'changed', ['eu', null]),
      'The region for the data of “stripe”: none, and before “eu”.',
    ],
    [say.budget('wider', ['10 USD', '20 USD']), 'The budget is 20 USD, and before 10 USD.'],
    [say.budget('wider', ['10 USD', null]), 'No budget limits the spending, and before it was 10 USD.'],
    [say.budget('narrower', [null, '10 USD']), 'A budget limits the spending: 10 USD.'],
    [say.lifetime('wider', [3600, 7200]), 'The permission lasts for 2 hours, and before for 1 hour.'],
    [
      say.place('audience', 'changed', ['https://a.test', 'https://b.test']),
      'The token counts at “https://b.test”, and before “https://a.test”.',
    ],
    [
      say.place('redirectHost', 'changed', ['a.test', null]),
      'The browser goes back to no named place, and before “a.test”.',
    ],
    [say.agent('key'), 'The key of the agent has changed.'],
    [
      say.manifestTool('stripe', 'refund', 'wider'),
      '“refund” of “stripe” may do more, or is limited less, than when you agreed.',
    ],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected);
  });
});
