import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { acceptUrl, type UrlRules } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { sealedColumn } from '../../../platform/seal.ts';
import { developerOf, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { recordEntry } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { ensureState, lockState } from './anomalies.repo.ts';
import type {
  AnomalyChannel,
  AnomalyChannelChange,
  AnomalyChannelList,
  Config,
  NewAnomalyChannel,
} from './anomalies.schema.ts';
import {
  type ChannelRow,
  deleteChannel,
  insertChannel,
  insertMessages,
  listChannelRows,
  updateChannel,
} from './channels.repo.ts';
import {
  ASKING,
  bodyOf,
  type ChannelType,
  type KeptConfig,
  keepAnswers,
  masked,
  misfit,
} from './channels.rules.ts';
import { beforeAllWindows } from './count.ts';

export const SEAL_KEY_USE = 'behest/anomaly-channel-seal/v1';

/** Seals and opens the configurations of channels. */
export const channelSeals = (keyRing: KeyRing) =>
  sealedColumn<KeptConfig>(
    {
      table: 'anomaly_channels',
      labels: { keyId: 'behest-anomaly-seal-kid', place: 'behest-anomaly-channel-v1' },
      toText: (config) => JSON.stringify(config),
      fromText: (text) => JSON.parse(text),
      warning: (count) =>
        `the configurations of ${count} anomaly channels open under no configured key: set them again`,
    },
    keyRing.derive(SEAL_KEY_USE),
  );
export type ChannelSeals = ReturnType<typeof channelSeals>;

export interface ChannelDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly seals: ChannelSeals;
  readonly urlRules: UrlRules;
  readonly mailer?: Mailer;
}

const MAX_CHANNELS = 20;

/** Oldest first. */
export async function listChannels(
  { db, seals }: ChannelDeps,
  { tenant }: Caller,
): Promise<AnomalyChannelList> {
  return { channels: (await listChannelRows(db, tenant)).map((row) => toChannel(row, seals)) };
}

/** Calls nothing and looks nothing up. @throws BAD_REQUEST, CONFLICT, NOT_CONFIGURED */
export async function createChannel(
  deps: ChannelDeps,
  caller: Caller,
  input: NewAnomalyChannel,
): Promise<AnomalyChannel> {
  const { type, name, config, severities = ['critical', 'high'] } = input;
  const { tenant } = caller;
  mustFit(deps, type, config);
  if (type === 'email') await mustMail(deps, tenant);
  const at = deps.clock();
  const id = newId('achan', at);
  const sealed = deps.seals.seal(config, { ...tenant, id });
  const channel = { id, type, name, severities, enabled: true, createdAt: at, ...sealed };
  await ensureState(deps.db, tenant, beforeAllWindows(at));

  return inTransaction(deps.db, async (tx) => {
    await lockState(tx, tenant);
    const rows = await listChannelRows(tx, tenant);
    if (rows.some((row) => row.name === name)) {
      throw new AppError('CONFLICT', 'A channel has this name.', { field: 'name' });
    }
    if (rows.length >= MAX_CHANNELS) {
      throw new AppError('CONFLICT', 'A developer has at most 20 channels. Delete one.', {
        limit: MAX_CHANNELS,
      });
    }
    const row = await insertChannel(tx, tenant, channel);
    if (type === 'email') await askLater(tx, tenant, id, at);
    const data = { channelId: id, changed: ['created'] };
    await recordEntry(tx, caller, { action: 'anomaly.channel_changed', data }, at);
    return toChannel(row, deps.seals);
  });
}

/** @throws NOT_FOUND, BAD_REQUEST */
export function changeChannel(
  deps: ChannelDeps,
  caller: Caller,
  id: string,
  { config, ...plain }: AnomalyChannelChange,
): Promise<AnomalyChannel> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockState(tx, tenant);
    const before = (await listChannelRows(tx, tenant)).find((row) => row.id === id);
    if (!before) throw notFound();
    if (config) mustFit(deps, before.type, config);
    const kept = config && keepAnswers(config, deps.seals.open(before) ?? {});
    const columns = { ...plain, ...(kept && deps.seals.seal(kept, before)) };
    const row = await updateChannel(tx, tenant, id, columns);
    if (!row) throw notFound();
    if (config?.to) await askLater(tx, tenant, id, at);
    const changed = [...Object.keys(plain), ...(config ? ['config'] : [])];
    const data = { channelId: id, changed };
    await recordEntry(tx, caller, { action: 'anomaly.channel_changed', data }, at);
    return toChannel(row, deps.seals);
  });
}

/** Asks the recipients who were not asked, when messages are sent next. */
const askLater = (tx: Tx, tenant: Tenant, channelId: string, at: Date) =>
  insertMessages(tx, tenant, [{ id: newId('amsg', at), channelId, body: ASKING, nextAttemptAt: at }]);

/** Messages on their way to it go too. @throws NOT_FOUND */
export function removeChannel(deps: ChannelDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockState(tx, caller.tenant);
    if (!(await deleteChannel(tx, caller.tenant, id))) throw notFound();
    const data = { channelId: id, changed: ['deleted'] };
    await recordEntry(tx, caller, { action: 'anomaly.channel_changed', data }, at);
  });
}

/** Puts a message about a made-up alert on its way. @throws NOT_FOUND */
export function testChannel(deps: ChannelDeps, caller: Caller, id: string): Promise<{ messageId: string }> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const developerName = await findDeveloperName(tx, tenant);
    const channel = (await listChannelRows(tx, tenant)).find((row) => row.id === id);
    if (!channel) throw notFound();
    const messageId = newId('amsg', at);
    const told = {
      alertId: 'test',
      ruleId: 'test',
      ruleName: 'Test',
      severity: 'low',
      agentId: 'none',
      principalId: null,
      grantId: null,
      description: 'This message tests the channel.',
      detectedAt: at.toISOString(),
    };
    const body = bodyOf(channel.type, messageId, { ...tenant, developerName }, told);
    await insertMessages(tx, tenant, [{ id: messageId, channelId: id, body, nextAttemptAt: at }]);
    return { messageId };
  });
}

/** @throws BAD_REQUEST with the place of the first channel that the developer does not have, by name or id */
export async function mustBeChannels(db: Executor, tenant: Tenant, named: readonly string[]): Promise<void> {
  if (named.length === 0) return;
  const rows = await listChannelRows(db, tenant);
  const at = named.findIndex((name) => !rows.some((row) => row.id === name || row.name === name));
  if (at >= 0) throw badField(`alertChannels.${at}`, 'not_allowed', 'Name channels of the account.');
}

/** @throws BAD_REQUEST without the URL in it, because a refused text may be a misplaced secret */
function mustFit({ urlRules }: ChannelDeps, type: ChannelType, config: Config): void {
  const wrong = misfit(type, config);
  if (wrong) throw badField(`config.${wrong}`, config[wrong] === undefined ? 'required' : 'not_allowed');
  const url = config.url ?? config.webhookUrl;
  if (url === undefined || acceptUrl(url, urlRules)) return;
  const field = config.url === undefined ? 'config.webhookUrl' : 'config.url';
  throw badField(
    field,
    'not_allowed',
    'Send an absolute URL of a public host, without user name or fragment.',
  );
}

/** @throws NOT_CONFIGURED, CONFLICT while the account's own address is not verified */
async function mustMail({ db, mailer }: ChannelDeps, tenant: Tenant): Promise<void> {
  if (!mailer) {
    throw new AppError('NOT_CONFIGURED', 'The service sends no mail: the operator has not set SMTP_URL.', {
      setting: 'SMTP_URL',
    });
  }
  const { emailVerified } = await db
    .selectFrom(developerOf(db, tenant))
    .select('emailVerified')
    .executeTakeFirstOrThrow();
  if (!emailVerified) {
    throw new AppError('CONFLICT', 'Verify the address of the account first.', { field: 'emailVerified' });
  }
}

const LEVELS = ['critical', 'high', 'medium', 'low'] as const;

function toChannel(row: ChannelRow, seals: ChannelSeals): AnomalyChannel {
  const { id, type, name, severities, enabled } = row;
  const kept = seals.open(row) ?? {};
  const config = masked(kept);
  const unconfirmed = kept.to?.filter((address) => !kept.confirmed?.includes(address));
  const listed = LEVELS.filter((level) => severities.includes(level));
  const createdAt = row.createdAt.toISOString();
  return {
    ...{ id, type, name, config, severities: listed, enabled, createdAt },
    ...(unconfirmed && { unconfirmed }),
  };
}
