import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { purposes } from './purposes.ts';
import { chosenLanguage, durationInWords, purposeLabel, scopeInWords, wantedLanguages } from './words.ts';

describe('scopes in words', () => {
  test.each([
    ['calendar:read', 'Read your calendar'],
    ['user_profile:write', 'Change your user profile'],
    ['email:send', 'Send email in your name'],
    ['payments:initiate', 'Start payments in your name'],
    ['files:*', 'Do everything with your files'],
    ['*', 'Do everything except using tools'],
    ['vault:credentials:exchange', 'Use any of your stored credentials'],
    ['vault:github:read', 'Use your stored credentials for github'],
    ['vault:github:*', 'Use your stored credentials for github'],
    ['github:credentials:read', 'Use your stored credentials for github'],
    ['tool:gmail:read', 'Read with gmail'],
    ['tool:gmail:write', 'Read and make changes with gmail'],
    ['tool:gmail:delete', 'Read, make changes and delete with gmail'],
    ['tool:*:*', 'Do everything with every connected tool, administration included'],
    ['tool:gmail:read:inbox', 'Read with gmail, only inbox'],
    ['tool:gmail:read:inv*', 'Read with gmail, only names that begin with inv'],
    [
      'tool:stripe:write:refunds:capped:12.50',
      'Read and make changes with stripe, only refunds, for amounts up to 12.50',
    ],
  ])('%s: %s', (scope, words) => {
    expect(scopeInWords(scope)).toBe(words);
  });

  test.each([
    'openid',
    'calendar:frobnicate',
    'payments:initiate:max_500',
    'tool:gmail:reed',
    'calendar:constructor',
    '<b>x</b>:read',
    '123:read',
    ':read',
  ])('%s means nothing known, and is shown as it is', (scope) => {
    expect(scopeInWords(scope)).toBe(scope);
  });

  test('the developer’s own words come first, for exactly the scope they describe', () => {
    const own = { 'calendar:read': 'See when you are free' };

    expect(scopeInWords('calendar:read', own)).toBe('See when you are free');
    expect(scopeInWords('calendar:write', own)).toBe('Change your calendar');
    expect(scopeInWords('constructor', own)).toBe('constructor');
    expect(scopeInWords('__proto__', own)).toBe('__proto__');
  });

  test('I7: 100,000 characters take no time', () => {
    const scopes = ['a:'.repeat(50_000), `vault:${'a'.repeat(100_000)}`, `${'_'.repeat(100_000)}:read`];

    for (const scope of scopes) expect(shortest(() => scopeInWords(scope))).toBeLessThan(50);
  });
});

describe('purposes in words', () => {
  test('each of the vocabulary has its sentence', () => {
    const labels = purposes.map((purpose) => purposeLabel(purpose));

    expect(new Set(labels).size).toBe(purposes.length);
    for (const label of labels) expect(label).toMatch(/^[A-Z][a-z]+ing /);
  });

  test('a private one is in the words of its organisation, and an unknown one as it is', () => {
    expect(purposeLabel('x-acme-bank.claims_review.second')).toBe(
      'acme-bank’s own purpose: claims review second',
    );
    expect(purposeLabel('aml.other')).toBe('aml.other');
  });
});

describe('durations in words', () => {
  test.each([
    [60, 'for 1 minute'],
    [90, 'for 1 minute and 30 seconds'],
    [3_600, 'for 1 hour'],
    [5_400, 'for 1 hour and 30 minutes'],
    [86_400, 'for 24 hours'],
    [172_799, 'for 47 hours, 59 minutes and 59 seconds'],
    [172_800, 'for 2 days'],
    [30 * 86_400, 'for 30 days'],
    [365 * 86_400, 'for 365 days'],
    [200_000, 'for 2 days, 7 hours, 33 minutes and 20 seconds'],
    [0, 'for 0 seconds'],
  ])('%d seconds: %s', (seconds, words) => {
    expect(durationInWords(seconds)).toBe(words);
  });

  test('say exactly how long, whatever the number', () => {
    const unitSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 };
    const read = (words: string) =>
      [...words.matchAll(/(\d+) (day|hour|minute|second)s?/g)].reduce((sum, [, count, unit]) => {
        const name = Object.entries(unitSeconds).find(([known]) => known === unit);
        return sum + Number(count) * (name?.[1] ?? Number.NaN);
      }, 0);

    fc.assert(fc.property(fc.nat(400 * 86_400), (seconds) => read(durationInWords(seconds)) === seconds));
  });
});

describe('the language of words', () => {
  test.each<[string | undefined, string | undefined]>([
    ['de', 'de'],
    ['de-AT, fr;q=0.9', 'de'],
    ['pt, de;q=0.5', 'pt-BR'],
    ['nl;q=0.2, DE;q=0.8', 'de'],
    ['en-GB, en, de', undefined],
    ['nl, en;q=0.9, de;q=0.8', undefined],
    ['de;q=0, pt-BR', 'pt-BR'],
    ['*, ;;, de;q=2', undefined],
    ['nl', undefined],
    ['', undefined],
    [undefined, undefined],
    [`${'nl,'.repeat(100_000)}de`, undefined],
  ])('for %s is %s', (header, language) => {
    expect(chosenLanguage(wantedLanguages(header), ['de', 'pt-BR'])).toBe(language);
  });
});
