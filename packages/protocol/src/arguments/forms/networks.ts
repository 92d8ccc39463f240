import type { Form } from './hosts.ts';

const IPV4 = /^(?:0|[1-9][0-9]{0,2})(?:[.](?:0|[1-9][0-9]{0,2})){3}$/;
const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const LENGTH = /^(?:0|[1-9][0-9]{0,2})$/;
/** `::ffff:0:0/96`, in which an IPv4 address has a second spelling. */
const MAPPED = 0xffffn;

/** An address is the network of its full length. */
interface Network {
  readonly width: 32 | 128;
  readonly length: number;
  /** The bits of the network, without those of its hosts. */
  readonly prefix: bigint;
}

function readNetwork(text: string): Network | undefined {
  const [address = '', lengthText, ...more] = text.split('/');
  const width = address.includes(':') ? 128 : 32;
  const bits = width === 32 ? readIpv4(address) : readIpv6(address);
  if (bits === undefined || more.length > 0) return undefined;
  if (lengthText !== undefined && !LENGTH.test(lengthText)) return undefined;
  const length = lengthText === undefined ? width : Number(lengthText);
  if (length > width) return undefined;
  const hostBits = BigInt(width - length);
  const prefix = bits >> hostBits;
  if (prefix << hostBits !== bits) return undefined;
  if (width === 128 && length >= 96 && bits >> 32n === MAPPED) return undefined;
  return { width, length, prefix };
}

function readIpv4(text: string): bigint | undefined {
  if (!IPV4.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 255) ? joined(bytes, 8n) : undefined;
}

function readIpv6(text: string): bigint | undefined {
  const [before = '', after, ...more] = text.split('::');
  const [left, right] = [groupsOf(before), groupsOf(after ?? '')];
  const missing = 8 - left.length - right.length;
  if (more.length > 0 || ![...left, ...right].every((group) => GROUP.test(group))) return undefined;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  const zeros = Array<string>(missing).fill('0');
  return joined(
    [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16)),
    16n,
  );
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((all, part) => (all << bits) | BigInt(part), 0n);
}

function contains(wide: Network, narrow: Network): boolean {
  if (wide.width !== narrow.width || narrow.length < wide.length) return false;
  return narrow.prefix >> BigInt(narrow.length - wide.length) === wide.prefix;
}

/** The form of `cidr`: an IPv4 or IPv6 address or network. */
export const networkForm: Form<Network, Network> = {
  readItem: readNetwork,
  readValue: readNetwork,
  allows: contains,
  isWithin: (narrow, wide) => contains(wide, narrow),
};
