import { compactVerify, createLocalJWKSet } from 'jose';
import type { Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError } from '../../../platform/errors.ts';
import { keysFor } from '../../people/sso/index.ts';
import { type WorkloadRow, workloadsAtIssuer } from './workloads.repo.ts';
import { claimsOf, issuerOf, isTrusted } from './workloads.rules.ts';

interface ProofDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly upstream: Egress;
}

/** A JWT that identifies an agent. */
export interface ProvedWorkload {
  readonly issuer: string;
  /** Absent where the JWT has none, and where the developer lets it be shown again. */
  readonly jti: string | undefined;
  /** The seconds for which the JWT is good. */
  readonly seconds: number;
}

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/**
 * Finds out whether a JWT is that of a workload which the developer trusts to be this agent.
 * @returns undefined for any other
 * @throws SERVICE_UNAVAILABLE when the issuer shows no keys: nothing about the JWT was decided
 */
export async function provedWorkload(
  deps: ProofDeps,
  tenant: Tenant,
  agentId: string,
  jwt: string,
): Promise<ProvedWorkload | undefined> {
  const claims = claimsOf(jwt);
  const issuer = claims && issuerOf(claims);
  if (!claims || issuer === undefined) return undefined;
  const now = deps.clock();
  const rows = await workloadsAtIssuer(deps.db, tenant, agentId, issuer);
  // The cheap checks come first, so that no other text makes the service ask for keys.
  const row = rows.find((each) => isTrusted(claims, each, now));
  if (!row || !(await isSigned(deps, row, jwt))) return undefined;
  const { jti, exp } = claims;
  const isOnce = !row.allowReuse && typeof jti === 'string';
  return {
    issuer,
    jti: isOnce ? jti : undefined,
    seconds: Math.ceil(Number(exp) - now.getTime() / 1000),
  };
}

async function isSigned(deps: ProofDeps, { jwksUri }: WorkloadRow, jwt: string): Promise<boolean> {
  const keys = await keysFor(deps, { jwksUri }, jwt);
  if (!keys) throw new AppError('SERVICE_UNAVAILABLE', 'The keys of the issuer cannot be read; ask again.');
  try {
    // The keys of a trust domain name no `use` that jose knows, and its bundle is for JWTs and certificates.
    const forJwts = {
      keys: keys.keys.filter(({ use }) => use !== 'x509-svid').map(({ use: _, ...key }) => key),
    };
    await compactVerify(jwt, createLocalJWKSet(forJwts), { algorithms: ALGORITHMS });
    return true;
  } catch {
    return false; // jose throws for every token that is not good
  }
}
