import { describe, expect, test } from 'vitest';
import { PlainMeter } from '../../test/plain-meter.ts';
import { type Counter, MeterError } from './meter.ts';
import { linkMeter } from './meter-link.ts';

const PATIENCE_MS = 5_000;
const MAX_INSTANT_MS = 8_640_000_000_000_000;
const counter: Counter = { key: '["k"]', limit: 5, units: 1, windowMs: 3_600_000, grainMs: 1 };
const counters = [counter, { ...counter, key: '["l"]' }];

function linkTo(change: object) {
  return linkMeter(Object.assign(new PlainMeter(() => 0), change), PATIENCE_MS);
}

describe('a charge', () => {
  const charge = (reserve: unknown) => linkTo({ reserve }).charge('dev_1', 'call-0001', counters);

  test.each<[string, object, object]>([
    ['took from every counter', { reserved: true, used: [1, 0] }, { id: 'call-0001', used: [1, 0] }],
    ['found the first full', { full: 0, used: 0, retryAtMs: 0 }, { full: 0, used: 0, retryAtMs: 0 }],
    [
      'found the last full',
      { full: 1, used: 2 ** 40, retryAtMs: MAX_INSTANT_MS },
      { full: 1, used: 2 ** 40, retryAtMs: MAX_INSTANT_MS },
    ],
    ['never has room', { full: 1, used: 5, retryAtMs: null }, { full: 1, used: 5, retryAtMs: null }],
  ])('is passed on when it %s', async (_, answer, outcome) => {
    expect(await charge(async () => answer)).toEqual({ ok: true, outcome });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'reserved'],
    ['no list of uses', { reserved: true }],
    ['a text as uses', { reserved: true, used: 'ab' }],
    ['one use too few', { reserved: true, used: [1] }],
    ['one use too many', { reserved: true, used: [1, 1, 1] }],
    ['a use below 0', { reserved: true, used: [1, -1] }],
    ['half a use', { reserved: true, used: [0.5, 1] }],
    ['a use that is a text', { reserved: true, used: [1, '1'] }],
    ['neither of the two', { reserved: false, used: [1, 1] }],
    ['a counter beyond the last', { full: 2, used: 1, retryAtMs: null }],
    ['a counter before the first', { full: -1, used: 1, retryAtMs: null }],
    ['a counter that is a text', { full: '0', used: 1, retryAtMs: null }],
    ['a full counter without its use', { full: 0, retryAtMs: null }],
    ['a full counter without its instant', { full: 0, used: 5 }],
    ['an instant that is a text', { full: 0, used: 5, retryAtMs: '9' }],
    ['an instant before 1970', { full: 0, used: 5, retryAtMs: -1 }],
    ['an instant that no date holds', { full: 0, used: 5, retryAtMs: MAX_INSTANT_MS + 2 }],
  ])('is none when the meter answers %s', async (_, answer) => {
    expect(await charge(async () => answer)).toEqual({ ok: false, problem: 'unreachable' });
  });

  test('asks under a hundred ids, and then no more', async () => {
    const ids: string[] = [];
    const reserve = async (_: string, id: string) => {
      ids.push(id);
      return { reused: true };
    };

    expect(await charge(reserve)).toEqual({ ok: false, problem: 'unreachable' });
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, 'call-0001', 'call-0001.99']);
  });

  test.each(['data_loss', 'misconfigured', 'timeout'] as const)('keeps the problem %s', async (problem) => {
    const reserve = () => Promise.reject(new MeterError(problem));

    expect(await charge(reserve)).toEqual({ ok: false, problem });
  });

  test('is late after the time limit', async () => {
    const meter = Object.assign(new PlainMeter(() => 0), { reserve: () => new Promise(() => undefined) });
    const link = linkMeter(Object(meter), 1);

    expect(await link.charge('dev_1', 'call-0001', counters)).toEqual({ ok: false, problem: 'timeout' });
  });
});

describe('a reading of counters', () => {
  const free = { used: 0, retryAtMs: null };
  const read = (answer: unknown) => linkTo({ usage: async () => answer }).usage('dev_1', counters);

  test('is passed on', async () => {
    const answer = [free, { used: 5, retryAtMs: 0 }];

    expect(await read(answer)).toEqual({ ok: true, answer });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'ab'],
    ['a counter too few', [free]],
    ['a counter too many', [free, free, free]],
    ['nothing of a counter', [free, null]],
    ['a use below 0', [free, { ...free, used: -1 }]],
    ['no use', [free, { retryAtMs: null }]],
    ['no instant', [free, { used: 1 }]],
  ])('is none when the meter answers %s', async (_, answer) => {
    expect(await read(answer)).toEqual({ ok: false, problem: 'unreachable' });
  });

  test('keeps the problem of the meter', async () => {
    const usage = () => Promise.reject(new MeterError('data_loss'));

    expect(await linkTo({ usage }).usage('dev_1', counters)).toEqual({ ok: false, problem: 'data_loss' });
  });
});
