import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { type CallRow, listCallRows } from './calls.repo.ts';
import type { PassedQuery, ProxyCall, ProxyCallPage } from './proxy.schema.ts';

export async function listCalls(
  { db }: { readonly db: Executor },
  { tenant }: Caller,
  query: PassedQuery,
): Promise<ProxyCallPage> {
  const rows = await listCallRows(db, tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toCall);
  return { calls: page, nextCursor };
}

function toCall({ id, developerId: _, responseBytes, createdAt, ...row }: CallRow): ProxyCall {
  const bytes = responseBytes === null ? null : Number(responseBytes);
  return { callId: id, ...row, responseBytes: bytes, createdAt: createdAt.toISOString() };
}
