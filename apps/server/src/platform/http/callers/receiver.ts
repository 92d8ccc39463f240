import { AppError } from '../../errors.ts';
import { hashOf } from '../../ids.ts';
import { anonymousBills, failureBills, tokenCharges } from '../limits/bills.ts';
import { bearerOf, type CallerKind, unauthorized } from './credentials.ts';

/** A receiver of signals, by its access token. */
export const receiver: CallerKind = {
  chargesAddress: true,
  /** @throws UNAUTHORIZED, FORBIDDEN for a token without the route's scope, RATE_LIMITED */
  async authenticate({ request, reply, charge, limits, credentials }) {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await credentials.ssf(hashOf(token));
    if (!found) {
      await charge(failureBills(request, limits));
      throw unauthorized(reply, token, 'Send `Authorization: Bearer <access token>` with a valid token.');
    }
    const { receiverId, scopes, ...identity } = found;
    await charge([...anonymousBills(request, limits), tokenCharges(request, receiverId, limits)]);
    const { ssfScope = '' } = request.declared;
    if (!scopes.includes(ssfScope)) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${ssfScope}"`);
      throw new AppError('FORBIDDEN', `This route needs a token with the scope \`${ssfScope}\`.`);
    }
    const caller = { ...identity, requestId: request.id, address: request.ip };
    return { kind: 'receiver', caller, receiverId };
  },
};
