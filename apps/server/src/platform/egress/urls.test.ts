import fc from 'fast-check';
import { expect, test } from 'vitest';
import { acceptUrl } from './urls.ts';

const strict = { allowsHttp: false, allowsPrivateHosts: false };
const development = { allowsHttp: true, allowsPrivateHosts: true };

test.each([
  'https://hooks.acme.test/behest',
  'https://hooks.acme.test',
  'https://hooks.acme.test:8443/a?b=c&d=%23',
  'https://HOOKS.acme.test./a',
  'https://bücher.example/a',
  'https://93.184.216.34/a',
  'https://[2606:2800:220:1:248:1893:25c8:1946]/a',
  'https://acme.test/@behest',
])('%s may be called', (url) => {
  expect(acceptUrl(url, strict)?.protocol).toBe('https:');
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '0.0.0.0',
  '192.0.0.8',
  '203.0.113.9',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
])('S1: %s may not be called, whatever the path', (host) => {
  for (const url of [`https://${host}`, `https://${host}:443/a`, `https://${host}/?a=b`]) {
    expect(acceptUrl(url, strict), url).toBeUndefined();
  }
  expect(acceptUrl(`https://${host}/`, development)).toBeDefined();
});

test.each([
  ['decimal', '2130706433'],
  ['hexadecimal', '0x7f000001'],
  ['hexadecimal in parts', '0x7f.0.0.0x1'],
  ['octal', '0177.0.0.1'],
  ['short', '127.1'],
  ['shortest', '0'],
  ['with a dot at its end', '127.0.0.1.'],
  ['in full-width digits', '１２７．０．０．１'],
  ['with percent signs', '%31%32%37.0.0.1'],
  ['in circled digits', '①②⑦.⓪.⓪.①'],
  ['mapped into IPv6', '[::ffff:127.0.0.1]'],
  ['mapped into IPv6, in hexadecimal', '[::ffff:7f00:1]'],
  ['translated', '[64:ff9b::7f00:1]'],
  ['tunnelled', '[2002:7f00:1::]'],
  ['as a name', 'localhost'],
  ['as a name with a dot', 'localhost.'],
  ['as a name with two dots', 'localhost..'],
  ['as an address with two dots', '127.0.0.1..'],
  ['as a name in capitals', 'LOCALHOST'],
  ['as a name below that one', 'hooks.localhost'],
  ['as a name of a local domain', 'router.local'],
  ['as an internal name', 'hooks.internal'],
  ['as a name of metadata', 'metadata.google.internal'],
  ['as a short name of metadata', 'metadata'],
  ['in full-width letters', 'ｌｏｃａｌｈｏｓｔ'],
])('S2: a private host may not be called %s: %s', (_, host) => {
  expect(acceptUrl(`https://${host}/hook`, strict)).toBeUndefined();
});

test.each([
  'https://user@hooks.acme.test/',
  'https://user:password@hooks.acme.test/',
  'https://:@hooks.acme.test/',
  'https://@hooks.acme.test/',
  'https://hooks.acme.test:0/',
  'https://hooks.acme.test:65536/',
  'https://hooks.acme.test:-1/',
  'https://hooks.acme.test/#part',
  'https://hooks.acme.test/#',
  'https://hooks.acme.test/a\r\nHost: other',
  'https://hooks.acme.test/a\tb',
  'https://hooks.acme.test/a b',
  ' https://hooks.acme.test/',
  'https://hooks.acme.test\\@10.0.0.1/',
  'https:\\\\hooks.acme.test/',
  'https://hooks.acme.test/\u0000',
  'gopher://hooks.acme.test/',
  'file:///etc/passwd',
  'ftp://hooks.acme.test/',
  'ws://hooks.acme.test/',
  'wss://hooks.acme.test/',
  'javascript:alert(1)',
  'data:text/plain,a',
  'hooks.acme.test',
  '//hooks.acme.test/',
  'https://',
  '',
])('S5: %j may not be called, in development either', (url) => {
  expect(acceptUrl(url, strict)).toBeUndefined();
  expect(acceptUrl(url, development)).toBeUndefined();
});

test('S5: a URL without TLS may not be called, unless the operator allows it', () => {
  expect(acceptUrl('http://hooks.acme.test/', strict)).toBeUndefined();
  expect(acceptUrl('http://hooks.acme.test/', { ...strict, allowsHttp: true })).toBeDefined();
});

test('S2: no number is the name of a host, however it is written', () => {
  const spelling = fc.tuple(fc.nat(0xffffffff), fc.constantFrom(10, 16, 8));
  fc.assert(
    fc.property(spelling, ([number, base]) => {
      const text = `${base === 16 ? '0x' : base === 8 ? '0' : ''}${number.toString(base)}`;
      const accepted = acceptUrl(`https://${text}/`, strict);
      const dotted = [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
      const asWritten = acceptUrl(`https://${dotted}/`, strict);
      expect(accepted?.hostname).toBe(asWritten?.hostname);
    }),
  );
});

test('I7: a URL of any length is judged at once', () => {
  for (const part of ['@', '/', '.', 'a.', '%', '\\', 'https://']) {
    const startedAt = performance.now();
    acceptUrl(`https://${part.repeat(100_000)}`, strict);
    expect(performance.now() - startedAt, part).toBeLessThan(500);
  }
});
