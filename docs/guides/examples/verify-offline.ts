import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

export interface ResourceSettings {
  /** The issuer's address as tokens name it: `PUBLIC_BASE_URL`, or `JWT_ISSUER` where that is set. */
  readonly issuer: string;
  /** Where the issuer publishes its keys. */
  readonly jwksUrl: string;
  /** The name of this resource. Ask for it with `audience` in `POST /v1/authorize`. */
  readonly audience?: string;
}

/**
 * Verifies grant tokens without a call to the issuer for each. Make one verifier for the life of the process: it
 * keeps the keys, and fetches them again when a token names an unknown key.
 */
export function offlineVerifier({ issuer, jwksUrl, audience }: ResourceSettings) {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { cacheMaxAge: 300_000, cooldownDuration: 60_000 });
  return async (token: string): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['RS256', 'ES256'],
      issuer,
      typ: 'at+jwt', // the service signs other kinds of token with the same keys
      requiredClaims: ['sub', 'client_id', 'scp', 'jti', 'exp'],
      ...(audience !== undefined && { audience }),
    });
    return payload;
  };
}
