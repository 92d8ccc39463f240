import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicAddress } from './urls.ts';

/** RFC 6890 and the IANA registries of special-purpose addresses: first, last, and purpose. */
const special: readonly (readonly [first: string, last: string, what: string])[] = [
  ['0.0.0.0', '0.255.255.255', 'this network'],
  ['10.0.0.0', '10.255.255.255', 'private'],
  ['100.64.0.0', '100.127.255.255', 'shared by carriers'],
  ['127.0.0.0', '127.255.255.255', 'loopback'],
  ['169.254.0.0', '169.254.255.255', 'link-local, with the metadata of clouds'],
  ['172.16.0.0', '172.31.255.255', 'private'],
  ['192.0.0.0', '192.0.0.255', 'protocol assignments'],
  ['192.0.2.0', '192.0.2.255', 'documentation'],
  ['192.168.0.0', '192.168.255.255', 'private'],
  ['198.18.0.0', '198.19.255.255', 'benchmarks'],
  ['198.51.100.0', '198.51.100.255', 'documentation'],
  ['203.0.113.0', '203.0.113.255', 'documentation'],
  ['224.0.0.0', '239.255.255.255', 'multicast'],
  ['240.0.0.0', '255.255.255.255', 'reserved, and broadcast at its end'],
];

const numberOf = (address: string) => address.split('.').reduce((all, part) => all * 256 + Number(part), 0);
const textOf = (number: number) => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
const between = (first: string, last: string) =>
  fc.integer({ min: numberOf(first), max: numberOf(last) }).map(textOf);

test.each(special)('S1: no address from %s to %s is public: %s', (first, last) => {
  expect([first, last].filter(isPublicAddress)).toEqual([]);
  fc.assert(fc.property(between(first, last), (address) => !isPublicAddress(address)));
});

test('S1: the addresses between those are public', () => {
  const edges = ['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'];
  const others = ['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'];
  const rest = ['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'];

  for (const address of [...edges, ...others, ...rest]) expect(isPublicAddress(address), address).toBe(true);
});

test.each([
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'fc00::1',
  'fdff::1',
  'ff02::1',
  '100::1',
  '2001:db8::1',
  '2001:2::1',
  '2001:10::1',
  '5f00::1',
  '3fff::1',
])('S1: %s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:93.184.216.34',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::5db8:d822',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:5db8:d822::',
  '2001:0:5db8:d822::1',
])('S2: %s, which carries another address in it, is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test('an address of the internet is public, and a name is no address', () => {
  expect(isPublicAddress('2606:2800:220:1:248:1893:25c8:1946')).toBe(true);
  expect(isPublicAddress('93.184.216.34')).toBe(true);
  for (const text of ['', 'hooks.acme.test', '[::1]', '1.2.3.4.5']) {
    expect(isPublicAddress(text), text).toBe(false);
  }
});
