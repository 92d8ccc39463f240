import type { Caller } from '../../../platform/caller.ts';
import { AppError, scimRefusal } from '../../../platform/errors.ts';
import { type BulkOperation, readBulk, withIds } from './bulk.rules.ts';
import { createGroup, deleteGroup, patchGroup, replaceGroup } from './groups.ts';
import { type PatchWork, patchWork } from './patch.work.ts';
import type { DirectoryDeps, ShownResource } from './users.show.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './users.ts';

/** The outcome of one operation. */
export interface BulkResult {
  readonly operation: BulkOperation;
  readonly status: number;
  readonly seen?: ShownResource | undefined;
  readonly refusal?: AppError;
}

/**
 * Does operations one after the other. Each commits by itself, as if it had come alone (RFC 7644 §3.7).
 * @throws invalidSyntax, invalidValue, PAYLOAD_TOO_LARGE
 */
export async function doBulk(deps: DirectoryDeps, caller: Caller, body: object): Promise<BulkResult[]> {
  const { operations, failOnErrors } = readBulk(body);
  const ids = new Map<string, string>();
  const results: BulkResult[] = [];
  const work = patchWork();
  let refused = 0;
  for (const operation of operations) {
    const result = await attempt(deps, caller, operation, { ids, work });
    results.push(result);
    if (result.refusal) refused += 1;
    if (refused >= failOnErrors) break;
  }
  return results;
}

const OPERATION_STEPS = 200;

async function attempt(
  deps: DirectoryDeps,
  caller: Caller,
  operation: BulkOperation,
  sofar: { readonly ids: Map<string, string>; readonly work: PatchWork },
): Promise<BulkResult> {
  try {
    await sofar.work.spend(OPERATION_STEPS);
    const seen = await doOne(deps, caller, operation, sofar);
    if (operation.bulkId !== undefined && seen) sofar.ids.set(operation.bulkId, String(seen.resource.id));
    return { operation, status: STATUSES[operation.method], seen };
  } catch (error) {
    if (error instanceof AppError) return { operation, status: error.status, refusal: error };
    throw error;
  }
}

const STATUSES = { POST: 201, PUT: 200, PATCH: 200, DELETE: 204 } as const;

async function doOne(
  deps: DirectoryDeps,
  caller: Caller,
  operation: BulkOperation,
  { ids, work }: { readonly ids: ReadonlyMap<string, string>; readonly work: PatchWork },
): Promise<ShownResource | undefined> {
  const { method, endpoint, version, fault } = operation;
  if (fault !== undefined) throw scimRefusal('invalidSyntax', fault);
  const isUser = endpoint === 'Users';
  const [id, data] = [withIds(operation.id ?? '', ids), withIds(operation.data, ids)];
  const asked = { query: {}, ifMatch: version, work };
  switch (method) {
    case 'POST':
      return (isUser ? createUser : createGroup)(deps, caller, data, {});
    case 'PUT':
      return (isUser ? replaceUser : replaceGroup)(deps, caller, id, data, asked);
    case 'PATCH':
      return (isUser ? patchUser : patchGroup)(deps, caller, id, data, asked);
    case 'DELETE':
      await (isUser ? deleteUser : deleteGroup)(deps, caller, id, asked);
      return undefined;
  }
}
