import { expect, test } from 'vitest';
import { nameInMail } from './mail.rules.ts';

test.each([
  ['Acme Inc. of Oslo', 'Acme Inc. of Oslo'],
  ['Ångström & Søn', 'Ångström & Søn'],
  ['Version 2 … and 3', 'Version 2 … and 3'],
  ['.NET, or not.', '.NET, or not.'],
  ['two\u2028lines\u00a0here', 'two lines here'],
  ['open https://evil.example/x now', 'open now'],
  ['open HTTPS:/x now', 'open now'],
  ['WWW.evil today', 'today'],
  ['write a@b today', 'write today'],
  ['evil.example wins', 'wins'],
  ['1.2 wins', 'wins'],
  ['evil\u3002example evil\uff0eexample evil\uff61example wins', 'wins'],
  ['evil\u2024example wins', 'wins'],
  ['evil\u200b.\u00adexample wins', 'wins'],
  ['e\u0301.example wins', 'wins'],
  ['\u{1f4a9}.la wins', 'wins'],
  ['\uff57\uff57\uff57\uff0eevil a\uff20b wins', 'wins'],
  ['open http:evil or file:evil or [here](evil) now', 'open or or now'],
  ['evil-.example evil_.example //evil \\\\evil tel:555 wins', 'wins'],
  ['Re: case a:b', 'Re: case a:b'],
  ['evil\u0000.example wins', 'wins'],
  ['evil.example', 'ag_1'],
  ['\u200b', 'ag_1'],
  ['x'.repeat(60), 'x'.repeat(60)],
  ['x'.repeat(61), `${'x'.repeat(59)}…`],
  ['\u{1f600}'.repeat(61), `${'\u{1f600}'.repeat(59)}…`],
])('the name %j stands in a mail as %j', (name, shown) => {
  expect(nameInMail(name, 'ag_1')).toBe(shown);
});
