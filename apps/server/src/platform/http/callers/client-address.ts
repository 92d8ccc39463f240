import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';

/** `false`, a number of hops, or the proxies' addresses and ranges between commas. */
export type TrustedProxies = false | number | string;

/** Whether the hop with this address is one of our proxies. The socket is hop 0. */
type Trust = (address: string, hop: number) => boolean;

/**
 * Makes `request.ip` the address of the client: limits, policies, audit entries and pages all read it there, so what an
 * address is gets decided once. Fastify's own `trustProxy` takes any text of `X-Forwarded-For` for an address.
 */
export function addClientAddress(app: FastifyInstance, trusted: TrustedProxies): void {
  const trust = trustOf(trusted);
  app.decorateRequest('ip', {
    getter() {
      return clientAddress(this.raw, trust);
    },
  });
}

/**
 * Walks from the socket outwards, past the proxies that are trusted. An entry that is no address ends the walk at the
 * nearest trusted hop: counted by its text, each `unknown` or made-up word would be a client of its own.
 */
function clientAddress({ socket, headers }: IncomingMessage, trust: Trust | undefined): string {
  let address = addressOf(socket);
  if (!trust) return address;
  const forwarded = fromEnd(String(headers['x-forwarded-for'] ?? ''));
  for (let hop = 0; trust(address, hop); hop += 1) {
    const next = addressIn(forwarded.next().value ?? '');
    if (next === undefined) break;
    address = next;
  }
  return address;
}

/** The addresses of open connections, which several steps of each of their requests ask for. */
const addresses = new WeakMap<Socket, string>();

function addressOf(socket: Socket): string {
  const known = addresses.get(socket);
  if (known !== undefined) return known;
  const { remoteAddress } = socket; // undefined once the client has left
  if (remoteAddress === undefined) return '';
  const address = addressIn(remoteAddress) ?? remoteAddress;
  addresses.set(socket, address);
  return address;
}

/** The entries of a list from its end. Only those are read that are asked for: a client may send thousands before them. */
function* fromEnd(list: string): Generator<string, undefined> {
  for (let end = list.length; end > 0; ) {
    const comma = list.lastIndexOf(',', end - 1);
    const entry = list.slice(comma + 1, end).trim();
    if (entry !== '') yield entry;
    end = comma;
  }
}

const PORT = /:\d{1,5}$/;

/**
 * One spelling of an address that may have a port (Azure's gateways write `203.0.113.7:4711`), brackets or a zone. IPv4
 * inside IPv6, as sockets for both families write it, is IPv4.
 * @returns undefined for what is no address
 */
export function addressIn(text: string): string | undefined {
  const plain = [text, text.replace(PORT, '')].map(withoutBrackets).find((each) => isIP(each) > 0);
  return plain === undefined ? undefined : ipaddr.process(plain).toString();
}

const withoutBrackets = (text: string) => text.replace(/^\[([^\]]*)\]$/, '$1').replace(/%[\s\S]*$/, '');

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function trustOf(trusted: TrustedProxies): Trust | undefined {
  if (trusted === false) return undefined;
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  const ranges = trusted.split(',').map(rangeOf);
  return (address) => isIP(address) > 0 && ranges.some((range) => isWithin(ipaddr.parse(address), range));
}

/** A range of IPv4 inside IPv6 is one of IPv4, as the addresses that are compared with it are. */
function rangeOf(text: string): Range {
  const [address = '', prefix] = text.split('/');
  const parsed = ipaddr.parse(address);
  const bits = Number(prefix ?? (parsed.kind() === 'ipv4' ? 32 : 128));
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress();
  return isMapped ? [parsed.toIPv4Address(), bits - 96] : [parsed, bits];
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, [range, bits]: Range) =>
  address.kind() === range.kind() && address.match(range, bits);
