import {
  type CheckedStatement,
  verifyRevocationStatement as check,
} from '@behest/protocol/revocation-statement';
import { readKeys } from './fetch-keys.ts';
import { verifySignature } from './signatures.ts';

export type { CheckedStatement } from '@behest/protocol/revocation-statement';

export interface StatementOptions {
  /** The keys of the service as `GET /.well-known/jwks.json` answers them, kept or fetched. */
  readonly jwks: unknown;
  /** The issuer that the statement has to name. */
  readonly issuer: string;
  /** Default: the time of this machine. */
  readonly now?: Date;
}

/**
 * Checks a statement about a revocation offline: that the service signed it, and that each verifier that it calls
 * `confirmed` signed that it had stopped.
 *
 * @param statement the member `statement` of the answer to `grants.revoke(id, { wait: 'confirmed' })`
 * @throws TypeError for keys that are no JWK Set
 *
 * @example
 * ```ts
 * const checked = await verifyRevocationStatement(statement, { jwks, issuer: 'https://auth.example.com' });
 * if (!checked.ok) throw new Error(checked.reason);
 * for (const { name, state, at } of checked.claims.verifiers) console.log(name, state, at);
 * ```
 */
export async function verifyRevocationStatement(
  statement: string,
  { jwks, issuer, now = new Date() }: StatementOptions,
): Promise<CheckedStatement> {
  const keys = readKeys(JSON.stringify(jwks));
  return check(statement, { keys: () => keys, verifySignature, issuer, now });
}
