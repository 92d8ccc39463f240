import { hashOf } from '../../ids.ts';
import { anonymousBills, failureBills, multipliedCharges, tokenCharges } from '../limits/bills.ts';
import { type CallerContext, type RequestCaller, unauthorized } from './credentials.ts';

/**
 * A resource that shows its own credential, in place of an API key. A good credential is charged with its own count, and
 * every other costs its address.
 * @throws UNAUTHORIZED, RATE_LIMITED
 */
export async function authenticateResource(
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
