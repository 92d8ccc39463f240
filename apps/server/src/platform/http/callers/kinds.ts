import type { FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { hashOf } from '../../ids.ts';
import { anonymousBills, failureBills, resourceBills, sessionBills, tokenCharges } from '../limits/bills.ts';
import type { Access } from '../routes/declarations.ts';
import { bearerOf, type CallerKind, unauthorized } from './credentials.ts';
import { grant } from './grant.ts';
import { key } from './key.ts';
import { browserRequestOf, member, page } from './member.ts';

/** A person by the token of a session. The database looks whether it is live, in the statement that acts for it. */
const session: CallerKind = {
  /** @throws UNAUTHORIZED, RATE_LIMITED */
  async authenticate({ request, reply, charge, limits, credentials }) {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : credentials.session(token);
    if (found) {
      await charge(sessionBills(request, found.sessionId, limits));
      return { kind: 'session', caller: { ...found, requestId: request.id } };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <session token>` with a valid token.');
  },
};

/** A receiver of signals, by its access token. */
const receiver: CallerKind = {
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

/** The operator, by `ADMIN_API_KEY`. */
const operator: CallerKind = {
  /** @throws UNAUTHORIZED, NOT_CONFIGURED */
  async authenticate({ request, reply, credentials }) {
    const key = bearerOf(request);
    if (credentials.operator(key))
      return { kind: 'operator', caller: { actor: 'admin', requestId: request.id } };
    throw unauthorized(reply, key, 'Send `Authorization: Bearer <ADMIN_API_KEY>`.');
  },
};

/** A directory that provisions people, by its SCIM token. */
const directory: CallerKind = {
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

/** An approver on the page `/approve`, by the cookie of their session. */
const approver: CallerKind = {
  isOnOwnHost: true,
  async authenticate({ request, charge, limits, credentials }) {
    requireFetchMetadata(request);
    const caller = await credentials.approver(browserRequestOf(request));
    await charge(sessionBills(request, caller.actor, limits));
    return { kind: 'approver', caller };
  },
};

/** A cookie that decides about calls counts only where the browser says that the page is the service's own. */
function requireFetchMetadata({ headers, method }: FastifyRequest): void {
  const isRead = method === 'GET' || method === 'HEAD';
  if (headers['sec-fetch-site'] !== undefined && (isRead || headers.origin !== undefined)) return;
  throw new AppError('FORBIDDEN', 'Send `Sec-Fetch-Site` and `Origin`, as browsers do.');
}

const anonymous: CallerKind = {
  async authenticate({ request, charge, limits }) {
    return {
      kind: 'none',
      async chargeResource() {
        await charge(resourceBills(request, limits));
      },
    };
  },
};

/** How the caller of a route is found, by the `access` that it declares. */
export const callerKinds: Readonly<Record<Access, CallerKind>> = {
  none: anonymous,
  developer: key,
  consent: page('consent'),
  connect: page('connect'),
  approver,
  console: member,
  session,
  grant,
  scim: directory,
  ssf: receiver,
  operator,
};
