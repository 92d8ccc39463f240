import { expect, test } from 'vitest';
import { limitsOf } from './tokens.rules.ts';

const entry = (connector: string, per_day: number) => ({ connector, caps: { send: { per_day } } });

test('the limits of a token are its own, and those of its grant for connectors that it has no entry for', () => {
  const [mail, crm] = [entry('mail', 5), entry('crm', 9)];
  const narrower = entry('mail', 1);

  expect(limitsOf([narrower], [mail, crm])).toEqual([narrower, crm]);
  expect(limitsOf(null, [mail])).toEqual([mail]);
  expect(limitsOf([narrower], null)).toEqual([narrower]);
  expect(limitsOf(null, null)).toBeNull();
});
