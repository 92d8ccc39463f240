import { failureBills, sessionBills } from '../limits/bills.ts';
import { bearerOf, type CallerKind, unauthorized } from './credentials.ts';

/** A person by the token of a session. The database looks whether it is live, in the statement that acts for it. */
export const session: CallerKind = {
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
