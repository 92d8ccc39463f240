import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

export interface ResourceSettings {
  /** The issuer's address as tokens name it: `PUBLIC_BASE_URL`, or `JWT_ISSUER` where that is set. */
  readonly issuer: string;
  /**
   * The developer whose tokens this resource takes, as the answer to sign-up or `GET /v1/me` names it. All accounts of
   * the issuer sign with the same keys, so a genuine token may be a stranger's.
   */
  readonly developerId: string;
  /** True to take tokens of a sandbox account, which no person approved. */
  readonly allowSandbox?: boolean;
  /** Where the issuer publishes its keys. */
  readonly jwksUrl: string;
  /** The name of this resource. Ask for it with `audience` in `POST /v1/authorize`. */
  readonly audience?: string;
}

/**
 * Verifies grant tokens without a call to the issuer for each. Make one verifier for the life of the process: it
 * keeps the keys, and fetches them again when a token names an unknown key.
 */
export function offlineVerifier(settings: ResourceSettings) {
  const { issuer, developerId, allowSandbox = false, jwksUrl, audience } = settings;
  if (!developerId) throw new TypeError('developerId is required: take yours from GET /v1/me.');
  const keys = createRemoteJWKSet(new URL(jwksUrl), { cacheMaxAge: 300_000, cooldownDuration: 60_000 });
  return async (token: string): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['RS256', 'ES256'],
      issuer,
      typ: 'at+jwt', // the service signs other kinds of token with the same keys
      requiredClaims: ['sub', 'client_id', 'dev', 'scp', 'jti', 'exp'],
      ...(audience !== undefined && { audience }),
    });
    if (payload.dev !== developerId) throw new Error("The token is another account's.");
    if (payload.sandbox !== undefined && !allowSandbox) throw new Error('The token is of a sandbox account.');
    return payload;
  };
}
