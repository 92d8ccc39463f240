import { bearerOf, type CallerKind, unauthorized } from './credentials.ts';

/** The operator, by `ADMIN_API_KEY`. */
export const operator: CallerKind = {
  /** @throws UNAUTHORIZED, NOT_CONFIGURED */
  async authenticate({ request, reply, credentials }) {
    const key = bearerOf(request);
    if (credentials.operator(key))
      return { kind: 'operator', caller: { actor: 'admin', requestId: request.id } };
    throw unauthorized(reply, key, 'Send `Authorization: Bearer <ADMIN_API_KEY>`.');
  },
};
