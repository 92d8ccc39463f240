import { hashOf } from '../../ids.ts';
import { anonymousBills, failureBills, tokenCharges } from '../limits/bills.ts';
import { bearerOf, type CallerKind, unauthorized } from './credentials.ts';

/** A directory that provisions people, by its SCIM token. */
export const directory: CallerKind = {
  chargesAddress: true,
  /** @throws UNAUTHORIZED, RATE_LIMITED */
  async authenticate({ request, reply, charge, limits, credentials }) {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await credentials.scim(hashOf(token));
    if (found) {
      await charge([...anonymousBills(request, limits), tokenCharges(request, found.actor, limits)]);
      return { kind: 'directory', caller: { ...found, requestId: request.id } };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <SCIM token>` with a valid token.');
  },
};
