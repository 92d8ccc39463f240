import { createHash } from 'node:crypto';
import { type AuditEntry, type ChainVerdict, continueChain, startChain } from '@behest/protocol/audit-chain';
import { agreesWithCheckpoint, checkpointOf } from '@behest/protocol/audit-checkpoint';
import { createRemoteJWKSet, jwtVerify } from 'jose';

export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Recomputes the developer's whole chain from the answers of the API, page by page. */
export async function checkChain({ baseUrl, apiKey }: Account): Promise<ChainVerdict> {
  let progress = startChain();
  let cursor: string | null = '';
  while (cursor !== null && progress.valid) {
    const page = await pageOf({ baseUrl, apiKey }, { limit: '500', ...(cursor && { cursor }) });
    progress = continueChain(progress, page.entries, sha256);
    cursor = page.nextCursor;
  }
  return progress;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Tells whether the chain still has the entry of a checkpoint that the service signed and you kept elsewhere. */
export async function keepsCheckpoint(account: Account, checkpoint: string): Promise<boolean> {
  const keys = createRemoteJWKSet(new URL(`${account.baseUrl}/.well-known/jwks.json`));
  const expected = { algorithms: ['RS256', 'ES256'], typ: 'audit-checkpoint+jwt' };
  const said = checkpointOf((await jwtVerify(checkpoint, keys, expected)).payload);
  if (!said) return false;
  const { entries } = await pageOf(account, { limit: '1', cursor: String(said.seq - 1) });
  return agreesWithCheckpoint(said, entries);
}

async function pageOf({ baseUrl, apiKey }: Account, query: Record<string, string>): Promise<Page> {
  const answer = await fetch(`${baseUrl}/v1/audit/entries?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  if (!answer.ok) throw new Error(`The service answered ${answer.status}.`);
  return (await answer.json()) as Page;
}

interface Page {
  readonly entries: AuditEntry[];
  readonly nextCursor: string | null;
}
