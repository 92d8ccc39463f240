import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';

export interface MetricsDeps {
  readonly metrics: Metrics;
  readonly isProduction: boolean;
  readonly metricsToken: string | undefined;
}

export interface Scraper {
  /** The address of the socket, because anybody can forge an address in a header. */
  readonly socketAddress: string | undefined;
  readonly token: string | undefined;
}

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8);
thisMachine.addAddress('::1', 'ipv6');

/** Lets in a scraper with the token, and outside production also a scraper on this machine. */
export function mayScrape(deps: Omit<MetricsDeps, 'metrics'>, { socketAddress, token }: Scraper): boolean {
  if (!deps.isProduction && socketAddress && isThisMachine(socketAddress)) return true;
  if (deps.metricsToken === undefined || token === undefined) return false;
  return timingSafeEqual(digestOf(token), digestOf(deps.metricsToken));
}

/** An IPv4 address may come in IPv6's form, `::ffff:127.0.0.1`. */
const isThisMachine = (address: string) => thisMachine.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** A digest has the same length for every token, which a comparison in constant time needs. */
const digestOf = (token: string) => createHash('sha256').update(token).digest();
