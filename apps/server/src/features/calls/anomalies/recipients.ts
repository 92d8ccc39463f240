import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText, newSecret, secretParts } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail, rates } from '../../accounts/emails/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { lockState } from './anomalies.repo.ts';
import type { RecipientConfirmation } from './anomalies.schema.ts';
import { type ChannelRow, listChannelRows, updateChannel } from './channels.repo.ts';
import { confirmationMail, type KeptConfig } from './channels.rules.ts';
import type { ChannelSeals } from './channels.ts';

export interface RecipientDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly seals: ChannelSeals;
  readonly publicBaseUrl: string;
}

interface AskDeps extends RecipientDeps {
  readonly chargeRecipient: ChargeRecipient;
}

const LEASE = 60_000; // milliseconds

/**
 * Asks the holder of an address, once, whether messages may come. A mail that the mail server refuses does not count.
 * @throws RATE_LIMITED
 */
export async function askRecipient(
  deps: AskDeps,
  mailer: Mailer,
  { id, developerId }: ChannelRow,
  address: string,
): Promise<void> {
  const tenant = { developerId };
  const secret = newSecret();
  const hash = hashOf(secret).toString('base64url');
  const at = deps.clock();
  const isNew = await inTransaction(deps.db, async (tx) => {
    const isOurs = await change(deps, tx, tenant, id, (config) => {
      const before = config.asked?.[address];
      const isUnderWay = before && at.getTime() - Date.parse(before.at) < LEASE;
      if (!config.to?.includes(address) || before?.isSent || isUnderWay) return undefined;
      const asked = { hash, at: at.toISOString(), isSent: false };
      return { ...config, asked: { ...config.asked, [address]: asked } };
    });
    if (isOurs) await deps.chargeRecipient([rates.mailRecipient, rates.mailDeveloper], address, tenant);
    return isOurs;
  });
  if (!isNew) return;
  const developerName = await findDeveloperName(deps.db, tenant);
  const link = `${deps.publicBaseUrl}/v1/anomaly/recipients/${developerId}.${id}.${secret}`;
  const mail = { to: address, ...confirmationMail({ developerName, developerId }, link) };
  const failure = await mailer.send(mail).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  await inTransaction(deps.db, (tx) =>
    change(deps, tx, tenant, id, (config) => {
      const { [address]: ours, ...others } = config.asked ?? {};
      if (ours?.hash !== hash) return undefined;
      return { ...config, asked: failure ? others : { ...others, [address]: { ...ours, isSent: true } } };
    }),
  );
  if (failure) throw failure.error;
}

/** @returns whether the channel is there and the change found something to do */
async function change(
  { seals }: RecipientDeps,
  tx: Tx,
  tenant: Tenant,
  id: string,
  next: (config: KeptConfig) => KeptConfig | undefined,
): Promise<boolean> {
  await lockState(tx, tenant);
  const row = (await listChannelRows(tx, tenant)).find((each) => each.id === id);
  const config = row && seals.open(row);
  const changed = config && next(config);
  if (!changed) return false;
  await updateChannel(tx, tenant, id, seals.seal(changed, { ...tenant, id }));
  return true;
}

/** Changes nothing, because programs that look for bad links open them all. @throws NOT_FOUND */
export async function showRecipient(deps: RecipientDeps, token: string): Promise<RecipientConfirmation> {
  const { tenant, channelId, hash } = partsOf(token);
  const row = (await listChannelRows(deps.db, tenant)).find(({ id }) => id === channelId);
  const config = row && deps.seals.open(row);
  const address = config && addressOf(config, hash);
  if (!config || address === undefined) throw unknownLink();
  const account = nameInMail(await findDeveloperName(deps.db, tenant), tenant.developerId);
  return { account, email: address, status: config.confirmed?.includes(address) ? 'confirmed' : 'pending' };
}

/** Lets messages of the channel come to the address. A link that has done so before changes nothing. @throws NOT_FOUND */
export async function confirmRecipient(deps: RecipientDeps, token: string): Promise<RecipientConfirmation> {
  const { tenant, channelId, hash } = partsOf(token);
  await inTransaction(deps.db, async (tx) => {
    const isNew = await change(deps, tx, tenant, channelId, (config) => {
      const address = addressOf(config, hash);
      if (address === undefined || config.confirmed?.includes(address)) return undefined;
      return { ...config, confirmed: [...(config.confirmed ?? []), address] };
    });
    const parts = isNew && (await findCallerParts(tx, tenant));
    if (!parts) return;
    const data = { channelId, changed: ['confirmed'] };
    const caller = systemCaller(tenant, parts, 'deliveries');
    await recordEntry(tx, caller, { action: 'anomaly.channel_changed', data }, deps.clock());
  });
  return showRecipient(deps, token);
}

/** The address that the link was mailed to, as long as the channel has it. */
const addressOf = ({ to, asked = {} }: KeptConfig, hash: string): string | undefined =>
  to?.find((address) => isSameText(asked[address]?.hash ?? '', hash));

function partsOf(token: string) {
  const { developerId, id, secret } = secretParts(token);
  return { tenant: { developerId }, channelId: id, hash: hashOf(secret).toString('base64url') };
}

const unknownLink = () =>
  new AppError('NOT_FOUND', 'This link is unknown, or the account has taken the address off its channel.');
