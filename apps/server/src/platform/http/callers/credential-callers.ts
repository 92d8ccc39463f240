import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, GrantHolder, OperatorCaller } from '../../caller.ts';
import { AppError } from '../../errors.ts';
import { hashOf } from '../../ids.ts';
import {
  anonymousBills,
  type Charging,
  developerBill,
  failureBills,
  sessionBills,
  timesBill,
  tokenBill,
} from '../limits/bills.ts';
import type { RateLimits } from '../limits/rate-rules.ts';
import type { RateBill } from '../limits/rates.ts';
import { authenticateKey } from './api-key.ts';
import {
  bearerOf,
  type CheckOperator,
  type FindProvisioner,
  type FindResource,
  type FindSsfCaller,
  type ReadHolder,
  type ReadSession,
  unauthorized,
} from './credentials.ts';
import type { KnownCallers } from './known-callers.ts';
import { grantTokenUnauthorized, shownToken } from './proof-of-possession.ts';

export interface CredentialCallersOptions {
  readonly limits: RateLimits;
  readonly callers: KnownCallers;
  readonly session: ReadSession;
  readonly grant: ReadHolder;
  readonly scim: FindProvisioner;
  readonly ssf: FindSsfCaller;
  readonly resource: FindResource;
  readonly operator: CheckOperator;
}

/** Finds the caller that the `Authorization` header names (RFC 6750), and charges the request to that caller. */
export function credentialCallers(path: CredentialCallersOptions) {
  const { limits } = path;
  return { callerByKey, holderByToken, provisionerByToken, receiverByToken, operatorIn, sessionIn };

  /** @throws UNAUTHORIZED, FORBIDDEN, RATE_LIMITED */
  async function callerByKey(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const apiKey = bearerOf(request);
    if (request.declared.takesResources && apiKey?.startsWith('bh_res_')) {
      return resourceByCredential(request, reply, { credential: apiKey, charge });
    }
    const { role = 'full', boundKeys = 'forbidden' } = request.declared;
    const authentication = await authenticateKey(path.callers, {
      apiKey,
      role,
      takesBoundKeys: boundKeys !== 'forbidden',
      charge,
      anonymousBills: anonymousBills(request, limits),
      developerBill: (identity) => developerBill(request, identity, limits),
    });
    if (authentication.result === 'accepted') {
      if (request.declared.takesResources) {
        const bill = developerBill(request, authentication.identity, limits);
        request.chargeMore = chargeMoreOf(bill, charge);
      }
      return { ...authentication.identity, requestId: request.id, address: request.ip };
    }
    if (authentication.because === 'role_too_weak') {
      throw new AppError('FORBIDDEN', 'This route needs an API key with the role `full`.');
    }
    if (authentication.because === 'key_is_bound') {
      const message =
        'This route concerns more than the agents of this API key; use a key that is not bound.';
      throw new AppError('FORBIDDEN', message);
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, apiKey);
  }

  /**
   * A good token is charged by its id and never to its developer's plan. Every other costs its address.
   * @throws UNAUTHORIZED with one sentence for every reason, RATE_LIMITED
   */
  async function holderByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<GrantHolder> {
    const shown = shownToken(request);
    const read =
      shown === undefined
        ? { refusal: 'missing' }
        : await path.grant({ ...shown, takesExchanged: request.declared.takesExchanged === true });
    if (!('refusal' in read)) {
      await charge([...anonymousBills(request, limits), tokenBill(request, read.tokenId, limits)]);
      return { ...read, requestId: request.id, address: request.ip };
    }
    await charge(failureBills(request, limits));
    request.log.info({ reason: read.refusal }, 'grant token refused');
    throw grantTokenUnauthorized(reply, shown, read);
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, RATE_LIMITED */
  async function resourceByCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    { credential, charge }: { readonly credential: string; readonly charge: Charging },
  ): Promise<Caller> {
    const found = await path.resource(hashOf(credential));
    if (found) {
      const { resource, connectors, ...identity } = found;
      request.resourceServer = { resource, connectors };
      const bill = tokenBill(request, identity.actor, limits);
      await charge([...anonymousBills(request, limits), bill]);
      request.chargeMore = chargeMoreOf(bill, charge);
      return { ...identity, requestId: request.id, address: request.ip };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, credential);
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, RATE_LIMITED */
  async function provisionerByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await path.scim(hashOf(token));
    if (found) {
      await charge([...anonymousBills(request, limits), tokenBill(request, found.actor, limits)]);
      return { ...found, requestId: request.id };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <SCIM token>` with a valid token.');
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, FORBIDDEN for a token without the route's scope, RATE_LIMITED */
  async function receiverByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await path.ssf(hashOf(token));
    if (!found) {
      await charge(failureBills(request, limits));
      throw unauthorized(reply, token, 'Send `Authorization: Bearer <access token>` with a valid token.');
    }
    const { receiverId, scopes, ...identity } = found;
    await charge([...anonymousBills(request, limits), tokenBill(request, receiverId, limits)]);
    const { ssfScope = '' } = request.declared;
    if (!scopes.includes(ssfScope)) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${ssfScope}"`);
      throw new AppError('FORBIDDEN', `This route needs a token with the scope \`${ssfScope}\`.`);
    }
    request.ssfReceiver = receiverId;
    return { ...identity, requestId: request.id, address: request.ip };
  }

  /** The address was charged already. @throws UNAUTHORIZED, NOT_CONFIGURED */
  function operatorIn(request: FastifyRequest, reply: FastifyReply): OperatorCaller {
    const key = bearerOf(request);
    if (path.operator(key)) return { actor: 'admin', requestId: request.id };
    throw unauthorized(reply, key, 'Send `Authorization: Bearer <ADMIN_API_KEY>`.');
  }

  async function sessionIn(request: FastifyRequest, reply: FastifyReply, charge: Charging) {
    const token = bearerOf(request);
    const session = token === undefined ? undefined : path.session(token);
    if (session) {
      await charge(sessionBills(request, session.sessionId, limits));
      return { ...session, requestId: request.id };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <session token>` with a valid token.');
  }
}

const chargeMoreOf = (bill: RateBill, charge: Charging) => async (times: number) => {
  await charge([timesBill(bill, times)]);
};
