import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { row } from '../../../platform/db/row.ts';
import { statement } from '../../../platform/db/statement.ts';
import type { NewToken } from './tokens.repo.ts';

const writing = statement<{ refusal: 'token_ended' | null }, [string, at: Date, write: string]>(
  'write_resource_exchange',
  'select write_resource_exchange($1, $2, $3) as refusal',
);

/** Writes in the caller's transaction. @returns whether the received token was still good */
export async function writeResourceExchange(
  tx: Tx,
  { developerId }: Tenant,
  at: Date,
  token: NewToken,
): Promise<boolean> {
  const [made] = await writing(
    tx,
    developerId,
    at,
    JSON.stringify({ token: row({ ...token, developerId }) }),
  );
  return made?.refusal === null;
}
