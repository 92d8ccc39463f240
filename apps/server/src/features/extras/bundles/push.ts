import { randomBytes } from 'node:crypto';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { findSecret, putSecret } from './bundles.repo.ts';
import { isSigned, namesIn } from './bundles.rules.ts';
import type { Push, PushTaken, SyncSecret } from './bundles.schema.ts';
import type { BundleDeps } from './bundles.ts';
import { syncSeals } from './seals.ts';

export interface PushDeps extends BundleDeps {
  readonly keyRing: KeyRing;
}

/** Makes the secret that signs notifications. It replaces the former one, and is shown this once. */
export async function rotateSecret(deps: PushDeps, caller: Caller): Promise<SyncSecret> {
  const at = deps.clock();
  const secret = randomBytes(32).toString('base64url');
  const sealed = syncSeals(deps.keyRing).seal(secret, caller.tenant.developerId);
  await inTransaction(deps.db, async (tx) => {
    await putSecret(tx, caller.tenant, sealed, at);
    await recordEntry(tx, caller, { action: 'policy.secret_rotated', data: {} }, at);
  });
  return { secret };
}

/** Stands in for the secret of a developer who has none, so that the time of the answer does not tell. */
const NOBODYS = randomBytes(32).toString('base64url');

interface Notification {
  readonly developerId: string;
  readonly signature: string;
  readonly bytes: Buffer;
  readonly body: Push;
  readonly requestId: string;
}

/** Announces a push to the developer's repository. It fetches nothing. @throws UNAUTHORIZED */
export async function takePush(
  deps: PushDeps,
  { developerId, signature, bytes, body, requestId }: Notification,
): Promise<PushTaken> {
  const tenant = { developerId };
  const found = await findSecret(deps.db, tenant);
  const secret = found && syncSeals(deps.keyRing).open(found.secret, developerId);
  const isGood = isSigned(bytes, signature, secret ?? NOBODYS);
  if (!found || secret === undefined || !isGood) {
    throw new AppError('UNAUTHORIZED', 'Sign the body with the secret of `POST /v1/policies/sync/secret`.');
  }
  const names = namesIn(body);
  const caller = systemCaller(tenant, found, requestId);
  await inTransaction(deps.db, (tx) =>
    recordActs(tx, caller, [{ type: 'policy.sync_requested', data: names }], deps.clock()),
  );
  return { message: 'The push was announced.', ...names };
}
