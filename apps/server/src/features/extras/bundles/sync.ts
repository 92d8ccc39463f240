import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Act } from '../../../platform/acts.ts';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { beforeTransaction, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { sealedRows, sealsUnder } from '../../../platform/seal.ts';
import { mustMayLoosen, needsTwo } from '../../accounts/developers/index.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { faultsOfCedar } from '../../grants/policies/index.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import {
  type BundleRow,
  deleteBundleRow,
  findActive,
  findBundle,
  findContent,
  findSecret,
  findVersion,
  insertBundle,
  listBundleRows,
  listSealedOtherwiseAcrossTenants,
  lockBundles,
  putSecret,
  replaceSealed,
  setActive,
} from './bundles.repo.ts';
import type {
  BundleQuery,
  NewPolicyBundle,
  PolicyBundle,
  PolicyBundlePage,
  PolicyBundleSync,
  PolicyPushReceipt,
  PolicySyncSecret,
  Push,
} from './bundles.schema.ts';

export interface BundleDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  /** Whether the service evaluates the active Cedar bundle itself. Then one with a fault is refused. */
  readonly runsCedar: boolean;
}

/**
 * Stores a bundle. The same version with the same content is stored once.
 * @returns whether it is new @throws BAD_REQUEST, CONFLICT, PLAN_LIMIT_EXCEEDED
 */
export async function syncBundle(
  deps: BundleDeps,
  caller: Caller,
  { content: text, activate, sha256: stated, ...fields }: NewPolicyBundle,
): Promise<{ isNew: boolean; bundle: PolicyBundleSync }> {
  const content = contentOf(text);
  const sha256 = sha256Of(content);
  if (stated !== undefined && stated !== sha256) {
    throw badField('sha256', 'not_allowed', 'The content has another digest.');
  }
  const { tenant } = caller;
  const [fault, ...others] = await faultsIn(deps, caller, fields.format, content);
  if (fault !== undefined) throw badField('content', 'not_allowed', sentenceOf([fault, ...others]));
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    await lockBundles(tx, tenant);
    const before = await findVersion(tx, tenant, fields.format, fields.version);
    if (before && before.sha256 !== sha256) {
      throw new AppError('CONFLICT', 'This version has other content already.');
    }
    if (before) return { isNew: false, bundle: toSynced(before) };
    if (activate && (await needsTwo(tx, caller))) {
      const message =
        'Store it with `activate` false, and then activate it: a second member has to agree to that.';
      throw new AppError('CONFLICT', message, { field: 'activate', sub_reason: 'second_member' });
    }
    await useQuota(tx, deps.quotas, caller, 'bundles', at);
    const row = { ...fields, ...tenant, id: newId('pbnd', at), sha256, active: false, createdAt: at };
    await insertBundle(tx, row, content);
    if (activate) await makeActive(tx, caller, row, at);
    return { isNew: true, bundle: toSynced({ ...row, active: activate }) };
  });
}

/** Rolls back or forward to a bundle. @throws NOT_FOUND, CONFLICT for one that Cedar cannot evaluate */
export async function activateBundle(deps: BundleDeps, caller: Caller, id: string): Promise<PolicyBundle> {
  const stored = deps.runsCedar ? await findContent(deps.db, caller.tenant, id) : undefined;
  const faults = stored ? await faultsIn(deps, caller, stored.format, stored.content) : [];
  if (faults.length > 0) throw new AppError('CONFLICT', sentenceOf(faults), { field: 'content' });
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockBundles(tx, caller.tenant);
    const row = await findBundle(tx, caller.tenant, id);
    if (!row) throw notFound();
    if (!row.active) {
      const active = await findActive(tx, caller.tenant, row.format);
      const difference = { from: active?.id ?? null, to: id, sha256: row.sha256 };
      await mustMayLoosen(tx, caller, { about: `policy bundle ${id}`, difference });
      await makeActive(tx, caller, row, at);
    }
    return toBundle({ ...row, active: true });
  });
}

/** Makes room for another. The active one of a format stays until another is active. @throws NOT_FOUND, CONFLICT */
export function deleteBundle(deps: BundleDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockBundles(tx, caller.tenant);
    const row = await findBundle(tx, caller.tenant, id);
    if (!row) throw notFound();
    if (row.active) throw new AppError('CONFLICT', 'This bundle is active. Activate another one first.');
    await deleteBundleRow(tx, caller.tenant, id);
    await freeQuota(tx, caller, 'bundles', 1);
    const { format, version, sha256 } = row;
    const deleted: Act = { type: 'policy.bundle_deleted', data: { bundleId: id, format, version, sha256 } };
    await recordActs(tx, caller, [deleted], at);
  });
}

async function faultsIn(
  { db, runsCedar }: BundleDeps,
  caller: Caller,
  format: PolicyBundle['format'],
  content: Buffer,
): Promise<readonly string[]> {
  if (!runsCedar || format !== 'cedar') return [];
  const { developerId } = caller.tenant;
  return beforeTransaction(db, caller, sha256Of(content), () => faultsOfCedar(content, developerId));
}

const sentenceOf = (faults: readonly string[]) => `Cedar refuses this bundle. ${faults.join('. ')}.`;

async function makeActive(tx: Tx, caller: Caller, row: BundleRow, at: Date): Promise<void> {
  const { id: bundleId, format, version, sha256 } = row;
  const previous = await findActive(tx, caller.tenant, format);
  if (previous) await setActive(tx, caller.tenant, previous.id, false);
  await setActive(tx, caller.tenant, bundleId, true);
  const data = { bundleId, format, version, sha256, previousBundleId: previous?.id ?? null };
  const activated: Act = { type: 'policy.bundle_activated', data };
  await recordActs(tx, caller, [activated], at);
}

/** The newest first. */
export async function listBundles(
  { db }: BundleDeps,
  { tenant }: Caller,
  query: BundleQuery,
): Promise<PolicyBundlePage> {
  const { page, nextCursor } = pageOf(await listBundleRows(db, tenant, query), byId, toBundle);
  return { bundles: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function getActiveBundle(
  { db }: BundleDeps,
  { tenant }: Caller,
  format: PolicyBundle['format'],
): Promise<PolicyBundle> {
  const row = await findActive(db, tenant, format);
  if (!row) throw notFound();
  return toBundle(row);
}

/** @throws NOT_FOUND */
export async function getContent({ db }: BundleDeps, { tenant }: Caller, id: string) {
  const found = await findContent(db, tenant, id);
  if (!found) throw notFound();
  return found;
}

const toBundle = (row: BundleRow): PolicyBundle => ({ ...row, createdAt: row.createdAt.toISOString() });

const toSynced = ({ id, format, version, sha256, fileCount, active }: BundleRow): PolicyBundleSync => ({
  bundleId: id,
  format,
  version,
  sha256,
  fileCount,
  activated: active,
});

const MAX_BYTES = 5_242_880;

/** Base64 with its padding and nothing else, so that a content has one text. @throws BAD_REQUEST */
function contentOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw badField('content', 'format', 'The content has to be base64.');
  if (bytes.length > MAX_BYTES) throw badField('content', 'too_long');
  return bytes;
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Whether a header signs these bytes: `sha256=` and the HMAC in hexadecimal. */
function isSigned(bytes: Buffer, header: string, secret: string): boolean {
  const due = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`);
  const sent = Buffer.from(header);
  return sent.length === due.length && timingSafeEqual(sent, due);
}

const LONGEST_NAME = 256;

/** The names in a notification that the audit log repeats. Hosts have their own shapes, and a part may be absent. */
function namesIn(body: object) {
  const { ref, repository } = Object(body);
  return { ref: nameIn(ref), repository: nameIn(Object(repository).full_name) };
}

const nameIn = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_NAME) : null);

export interface PushDeps extends BundleDeps {
  readonly keyRing: KeyRing;
}

/** Makes the secret that signs notifications. It replaces the former one, and is shown this once. */
export async function rotateSecret(deps: PushDeps, caller: Caller): Promise<PolicySyncSecret> {
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
const DECOY_SECRET = randomBytes(32).toString('base64url');

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
): Promise<PolicyPushReceipt> {
  const tenant = { developerId };
  const found = await findSecret(deps.db, tenant);
  const secret = found && syncSeals(deps.keyRing).open(found.secret, developerId);
  const isGood = isSigned(bytes, signature, secret ?? DECOY_SECRET);
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

export const SEAL_KEY_USE = 'behest/policy-sync-seal/v1';

/** Seals and opens the secrets of Git notifications. A sealed secret is bound to its developer. */
function syncSeals(keyRing: KeyRing) {
  const labels = { keyId: 'behest-policy-sync-seal-kid', place: 'behest-policy-sync-v1' };
  const seals = sealsUnder(keyRing.derive(SEAL_KEY_USE), labels);
  return {
    keyId: seals.keyId,
    seal: (secret: string, developerId: string) => ({
      secret: seals.seal(secret, [developerId]),
      sealKeyId: seals.keyId,
    }),
    /** @returns undefined when the key that sealed it is no longer configured */
    open: (sealed: Buffer, developerId: string) => seals.open(sealed, [developerId]),
  };
}

export function sealedSyncSecrets(keyRing: KeyRing) {
  const { keyId, seal, open } = syncSeals(keyRing);
  return sealedRows({
    keyId,
    list: listSealedOtherwiseAcrossTenants,
    open: ({ secret, developerId }) => open(secret, developerId),
    write: (db, row, secret) => replaceSealed(db, row, row.secret, seal(secret, row.developerId)),
    warning: (count) =>
      `the secrets of Git notifications of ${count} developers open under no configured key: make them again`,
  });
}
