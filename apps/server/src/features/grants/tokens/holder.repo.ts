import type { Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { heldToken, type TokenRow } from './tokens.queries.ts';

export type HeldTokenRow = TokenRow & { readonly mode: Mode; readonly plan: Plan };

const usedGrantToken = lookUp<HeldTokenRow, [developerId: string, tokenId: string, at: Date]>(
  'use_grant_token',
  `select ${heldToken}, f.mode, f.plan from use_grant_token($1, $2, $3) f`,
);

/** As `findUsedToken`, with the developer, for the agent that shows the token itself. */
export async function findHeldToken(
  db: Executor,
  { developerId }: Tenant,
  tokenId: string,
  at: Date,
): Promise<HeldTokenRow | undefined> {
  return (await usedGrantToken(db, developerId, tokenId, at))[0];
}
