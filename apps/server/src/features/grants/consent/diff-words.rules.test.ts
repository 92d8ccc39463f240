import { describe, expect, test } from 'vitest';
import { sayer } from './diff-words.rules.ts';

const say = sayer({ 'orders:read': 'See your orders' });
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
