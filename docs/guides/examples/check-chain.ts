import { createHash } from 'node:crypto';
import { type AuditEntry, type ChainVerdict, continueChain, startChain } from '@behest/protocol/audit-chain';

export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Recomputes the developer's whole chain from what the API answers, page by page. */
export async function checkChain({ baseUrl, apiKey }: Account): Promise<ChainVerdict> {
  let progress = startChain();
  let cursor: string | null = '';
  while (cursor !== null && progress.valid) {
    const query = new URLSearchParams({ limit: '500', ...(cursor && { cursor }) });
    const answer = await fetch(`${baseUrl}/v1/audit/entries?${query}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    if (!answer.ok) throw new Error(`The service answered ${answer.status}.`);
    const page = (await answer.json()) as { entries: AuditEntry[]; nextCursor: string | null };
    progress = continueChain(progress, page.entries, sha256);
    cursor = page.nextCursor;
  }
  return progress;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
