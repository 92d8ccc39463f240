import type { Role } from '../../caller.ts';
import { AppError } from '../../errors.ts';
import { hashOf } from '../../ids.ts';
import {
  anonymousBills,
  type Charging,
  developerCharges,
  failureBills,
  multipliedCharges,
  tokenCharges,
} from '../limits/bills.ts';
import type { RateCharges } from '../limits/rates.ts';
import {
  bearerOf,
  type CallerContext,
  type CallerKind,
  type Identity,
  type RequestCaller,
  unauthorized,
} from './credentials.ts';
import { developerVersion, type KnownCaller, type KnownCallers } from './known-callers.ts';
import { authenticateMember, isOfConsole } from './member.ts';

/** An API key, the session of a member or, on routes that take resources, the credential of one. */
export const key: CallerKind = {
  chargesAddress: true,
  /** @throws UNAUTHORIZED, FORBIDDEN, RATE_LIMITED */
  async authenticate(context) {
    const { request, reply, charge, limits, callers } = context;
    const { role = 'full', boundKeys = 'forbidden', takesResources } = request.declared;
    if (isOfConsole(request)) return authenticateMember(context);
    const apiKey = bearerOf(request);
    if (takesResources && apiKey?.startsWith('bh_res_')) return authenticateResource(context, apiKey);
    const decision = await authenticateKey(callers, {
      apiKey,
      role,
      takesBoundKeys: boundKeys !== 'forbidden',
      charge,
      anonymousBills: anonymousBills(request, limits),
      developerCharges: (identity) => developerCharges(request, identity, limits),
      onHolder(identity) {
        request.keyHolder = identity;
      },
    });
    if (decision.result === 'accepted') {
      const { identity } = decision;
      return {
        kind: 'key',
        caller: { ...identity, requestId: request.id, address: request.ip },
        async chargeMore(times) {
          await charge([multipliedCharges(developerCharges(request, identity, limits), times)]);
        },
      };
    }
    if (decision.because === 'role_too_weak')
      throw new AppError('FORBIDDEN', 'This route needs an API key with the role `full`.');
    if (decision.because === 'key_is_bound') {
      const message =
        'This route concerns more than the agents of this API key; use a key that is not bound.';
      throw new AppError('FORBIDDEN', message);
    }
    request.keyHolder = null; // a key that this process knew until now
    await charge(failureBills(request, limits));
    throw unauthorized(reply, apiKey);
  },
};

/** One request on a route that asks for an API key. */
interface KeyedRequest {
  /** The key as the client sent it, if any. */
  readonly apiKey: string | undefined;
  /** The weakest role that the route allows. */
  readonly role: Role;
  /** Whether the route takes a key that is bound to agents. */
  readonly takesBoundKeys: boolean;
  readonly charge: Charging;
  /** Charged whether the key is good or not. */
  readonly anonymousBills: readonly RateCharges[];
  /** Charged to the developer whose key it is. */
  readonly developerCharges: (identity: Identity) => RateCharges;
  /** Called with the holder of the key before the request is charged. */
  readonly onHolder: (identity: Identity) => void;
}

type KeyDecision =
  | { readonly result: 'accepted'; readonly identity: Identity }
  | { readonly result: 'refused'; readonly because: 'no_valid_key' | 'role_too_weak' | 'key_is_bound' };

/**
 * Finds the caller of an API key and charges the request. A key that this process knows takes one trip to
 * Redis, or none when its counts are leased, and none to Postgres. Any other key takes one to Redis, one to
 * Postgres and, when it is good, a second one to Redis.
 * @throws RATE_LIMITED
 */
async function authenticateKey(callers: KnownCallers, request: KeyedRequest): Promise<KeyDecision> {
  if (request.apiKey === undefined) {
    await request.charge(request.anonymousBills);
    return NO_VALID_KEY;
  }
  const keyHash = hashOf(request.apiKey);
  const known = callers.recall(keyHash);
  if (known) request.onHolder(known.identity);
  const bills = known ? [...request.anonymousBills, knownCharges(request, known)] : request.anonymousBills;
  const before = (await request.charge(bills)).get('developer');
  if (known?.version !== undefined && before?.outcome === 'charged') return decide(request, known.identity);

  const read = await callers.read(keyHash);
  if (!read) return NO_VALID_KEY;
  request.onHolder(read.identity);
  const decision = decide(request, read.identity);
  if (decision.result === 'accepted') {
    const after = (await request.charge([billOf(request, read.identity)])).get('developer');
    read.keep({ before: before?.version, after: after?.version });
  }
  return decision;
}

const NO_VALID_KEY: KeyDecision = { result: 'refused', because: 'no_valid_key' };

/**
 * Charges the developer whose version is still the known one. Without a known version the trip charges nothing,
 * and reads the version that the developer has before the database is asked.
 */
function knownCharges(request: KeyedRequest, { identity, version }: KnownCaller): RateCharges {
  if (version !== undefined) return billOf(request, identity, version);
  return { payer: 'developer', counts: [], version: developerVersion(identity.tenant) };
}

/** The developer of a refused key is not charged. */
function billOf(request: KeyedRequest, identity: Identity, version?: string): RateCharges {
  const bill = request.developerCharges(identity);
  const { result } = decide(request, identity);
  return {
    ...bill,
    counts: result === 'accepted' ? bill.counts : [],
    version: developerVersion(identity.tenant, version),
  };
}

function decide({ role, takesBoundKeys }: KeyedRequest, identity: Identity): KeyDecision {
  const isEnough = role === 'runtime' || identity.role === 'full';
  if (!isEnough) return { result: 'refused', because: 'role_too_weak' };
  const isBound = identity.agentIds !== null;
  if (isBound && !takesBoundKeys) return { result: 'refused', because: 'key_is_bound' };
  return { result: 'accepted', identity };
}

/**
 * A resource that shows its own credential, in place of an API key. A good credential is charged with its own count, and
 * every other costs its address.
 * @throws UNAUTHORIZED, RATE_LIMITED
 */
async function authenticateResource(
  { request, reply, charge, limits, credentials }: CallerContext,
  credential: string,
): Promise<RequestCaller> {
  const found = await credentials.resource(hashOf(credential));
  if (!found) {
    await charge(failureBills(request, limits));
    throw unauthorized(reply, credential);
  }
  const { resource, connectors, ...identity } = found;
  const bill = tokenCharges(request, identity.actor, limits);
  await charge([...anonymousBills(request, limits), bill]);
  return {
    kind: 'resource',
    caller: { ...identity, requestId: request.id, address: request.ip },
    server: { resource, connectors },
    async chargeMore(times) {
      await charge([multipliedCharges(bill, times)]);
    },
  };
}
