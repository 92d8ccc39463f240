import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { type Executor, ping } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';

export interface OperationsDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  /** Whether the process is stopping and wants no more requests. */
  readonly isStopping: () => boolean;
}

const PROBE_MILLISECONDS = 2000;

/**
 * Asks both dependencies at the same time. The answer names those that fail but no reason: anybody may ask.
 */
export async function checkHealth({ db, store, isStopping }: OperationsDeps): Promise<Health> {
  if (isStopping()) return { status: 'degraded', failing: [] };
  const [hasDb, hasRedis] = await Promise.all([answers(ping(db)), answers(store.ping())]);
  if (hasDb && hasRedis) return { status: 'ok' };
  return {
    status: 'degraded',
    failing: [...(hasDb ? [] : ['db' as const]), ...(hasRedis ? [] : ['redis' as const])],
  };
}

function answers(probe: Promise<void>): Promise<boolean> {
  const late = delay(PROBE_MILLISECONDS, false, { ref: false });
  return Promise.race([probe.then(() => true).catch(() => false), late]);
}

export const Liveness = Type.Object({ status: Type.Literal('ok') });

export type Health = Static<typeof Health>;
export const Health = Type.Object({
  status: Type.Enum(['ok', 'degraded']),
  failing: Type.Optional(Type.Array(Type.Enum(['db', 'redis']))),
});

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
