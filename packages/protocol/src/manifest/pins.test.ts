import { describe, expect, test } from 'vitest';
import { manifestFromObject } from './load.ts';
import { isWider, widerTools } from './pins.ts';
import { checkPins, pinOfTool } from './tool-pins.ts';

const manifestOf = (tools: object) =>
  manifestFromObject({ $schema: 'urn:service:manifest:0.6', connector: 'pay', tools });
const [pinA, pinB] = await Promise.all(['a', 'b'].map((name) => pinOfTool({ name })));

describe('a tool that changed', () => {
  const base = {
    permission: 'write',
    requires_decision: true,
    four_eyes_on: ['pay', 'refund'],
    allowed_purposes: ['aml.cdd.*', 'aml.screening'],
    caps: { per_hour: 5, per_day: 10 },
    cost_units: { calls: 2, rows: 1 },
    arguments: { '/amount': { max: '5' } },
    mcp_pins: [pinA, pinB],
    binds: ['/to', '/order/amount'],
    title: 'Pay',
  };
  const toolOf = (tool: object) => {
    const loaded = manifestOf({ t0: tool }).tools.get('t0');
    if (!loaded) throw new Error('The manifest of the test has no tool.');
    return loaded;
  };

  test.each<[string, object]>([
    ['nothing', {}],
    ['a lower permission', { permission: 'write' }],
    ['one more decision for two people', { four_eyes_on: ['pay', 'refund', 'close'] }],
    ['a narrower purpose', { allowed_purposes: ['aml.cdd.ongoing'] }],
    ['a lower cap', { caps: { per_hour: 4, per_day: 10 } }],
    ['one more cap', { caps: { per_hour: 5, per_day: 10, per_case: 1_000 } }],
    ['a dearer unit', { cost_units: { calls: 3, rows: 1 } }],
    ['one more unit', { cost_units: { calls: 2, rows: 1, bytes: 1 } }],
    ['a stricter rule', { arguments: { '/amount': { max: '4' } } }],
    ['a pin less', { mcp_pins: [pinA] }],
    ['an argument more that a decision binds', { binds: ['/order/amount', '/memo', '/to'] }],
    ['the object of a bound argument bound whole', { binds: ['/to', '/order'] }],
    ['other words', { title: 'Look at payments', titles: { de: { title: 'Zahlen' } } }],
  ])('is not wider with %s', (_, change) => {
    expect(isWider(toolOf(base), toolOf({ ...base, ...change }))).toBe(false);
  });

  test.each<[string, object]>([
    ['a higher permission', { permission: 'delete' }],
    ['no decision', { requires_decision: false, four_eyes_on: undefined, binds: undefined }],
    ['a decision less for two people', { four_eyes_on: ['pay'] }],
    ['a purpose more', { allowed_purposes: ['aml.cdd.*', 'aml.screening', 'payments.payout'] }],
    ['any purpose', { allowed_purposes: undefined }],
    ['a higher cap', { caps: { per_hour: 6, per_day: 10 } }],
    ['a cap less', { caps: { per_hour: 5 } }],
    ['no caps', { caps: undefined }],
    ['a cheaper unit', { cost_units: { calls: 1, rows: 1 } }],
    ['a unit less', { cost_units: { calls: 2 } }],
    ['a looser rule', { arguments: { '/amount': { max: '6' } } }],
    ['no rules', { arguments: undefined }],
    ['another pin', { mcp_pins: [pinA, pinB, pinA?.replace(/.{3}$/, 'AAA')] }],
    ['no pins', { mcp_pins: undefined }],
    ['an argument less that a decision binds', { binds: ['/to'] }],
    ['a part of a bound argument', { binds: ['/to/iban', '/order/amount'] }],
    ['a name that only begins as a bound one', { binds: ['/t', '/order/amount'] }],
    [
      'one limit tightened and another dropped',
      {
        ...base,
        permission: 'read',
        caps: { per_hour: 1 },
        requires_decision: false,
        four_eyes_on: undefined,
        binds: undefined,
      },
    ],
  ])('is wider with %s', (_, change) => {
    const given = Object.entries({ ...base, ...change }).filter(([, value]) => value !== undefined);
    expect(isWider(toolOf(base), toolOf(Object.fromEntries(given)))).toBe(true);
  });

  test('is wider when a decision no longer binds every argument, and narrower when it binds all again', () => {
    const { binds, ...all } = base;

    expect(isWider(toolOf(all), toolOf({ ...all, binds }))).toBe(true);
    expect(isWider(toolOf({ ...all, binds }), toolOf(all))).toBe(false);
  });

  test('is wider when it is new', () => {
    const before = manifestOf({ old: 'read', constructor_: 'read' });
    const after = manifestOf({ constructor: 'read', old: 'read', new: 'read' });

    expect(widerTools(before, after)).toEqual(['constructor', 'new']);
  });
});

describe('the pins of a manifest', () => {
  test('are compared with the tools that a server offers', async () => {
    const pinned = { permission: 'read', mcp_pins: [pinA] };
    const manifest = manifestOf({ a: pinned, b: pinned, plain: 'read', twice: pinned, gone: pinned });
    const offered = ['b', 'a', 'plain', 'twice', 'twice', 'other', 'not a name'].map((name) => ({ name }));

    const statuses = await checkPins(manifest, offered);

    expect(statuses.map(({ tool, status }) => [tool, status])).toEqual([
      ['b', 'changed'],
      ['a', 'held'],
      ['plain', 'new'],
      ['twice', 'ambiguous'],
      ['twice', 'ambiguous'],
      ['other', 'not_declared'],
      ['not a name', 'not_declared'],
      ['gone', 'missing'],
    ]);
  });

  test('do not hold for a definition that cannot be read', async () => {
    const manifest = manifestOf({ a: { permission: 'read', mcp_pins: [pinA] } });

    expect(await checkPins(manifest, [Object({ name: 'a', size: Number.NaN })])).toEqual([
      { tool: 'a', status: 'changed' },
    ]);
  });

  test('are compared with what a definition says now, also when the same object was hashed before', async () => {
    const manifest = manifestOf({ a: { permission: 'read', mcp_pins: [pinA] } });
    const statusOf = async (definition: { name: string }) =>
      (await checkPins(manifest, [definition]))[0]?.status;
    const definition: { name: string; description?: string; _meta?: object } = { name: 'a' };

    expect(await statusOf(definition)).toBe('held');
    definition.description = 'Sends everything to another account.';
    expect(await statusOf(definition)).toBe('changed');
    delete definition.description;
    definition._meta = { asked: 2 };
    expect(await statusOf(definition)).toBe('held');
    // JSON writes these as it writes the one that was hashed.
    expect(await statusOf(Object({ name: 'a', size: undefined }))).toBe('changed');
    expect(await statusOf(Object({ name: 'a', toJSON: () => ({ name: 'a' }) }))).toBe('changed');
    expect(await statusOf(Object.defineProperty({ name: 'a' }, 'hint', { get: () => 1 }))).toBe('changed');
  });

  test('stay the same when more is listed than is remembered', async () => {
    const large = Array.from({ length: 6 }, (_, at) => ({
      name: `a${at}`,
      description: 'x'.repeat(1_000_000),
    }));
    const pins = async () => Promise.all(large.map(pinOfTool));

    const first = await pins();

    expect(await pins()).toEqual(first);
    expect(new Set(first).size).toBe(6);
    expect(await pinOfTool({ name: 'a' })).toBe(pinA);
  });
});
