import { Id, nameOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { acceptUrl, type UrlRules } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { sealedColumn } from '../../../platform/seal.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import { type ChannelRow, deleteChannel, insertChannel, listChannelRows } from './notices.repo.ts';

export type NewDecisionChannel = Static<typeof NewDecisionChannel>;
export const NewDecisionChannel = Type.Object(
  {
    kind: Type.Enum(['slack', 'teams']),
    name: nameOf(100),
    url: Type.String({ minLength: 1, maxLength: 2048 }),
  },
  { additionalProperties: false },
);
export type DecisionChannel = Static<typeof DecisionChannel>;
export const DecisionChannel = Type.Object({
  id: Id,
  kind: Type.Enum(['slack', 'teams']),
  name: Type.String(),
  url: Type.String({ description: 'Its origin and last four characters, because such a URL is a secret.' }),
  createdAt: Time,
});
export const DecisionChannelList = Type.Object({ channels: Type.Array(DecisionChannel) });
export const ChannelPath = Type.Object({ id: Id });

const MAX_CHANNELS = 10;

export interface ChannelDeps extends DecisionsDeps {
  readonly urlRules: UrlRules;
}

export async function listChannels({ db, seals }: ChannelDeps, { tenant }: Caller) {
  return { channels: (await listChannelRows(db, tenant)).map((row) => toChannel(row, seals.open(row))) };
}

/** Calls nothing. @throws BAD_REQUEST for a URL that no message may go to, CONFLICT for one too many */
export function createChannel(
  deps: ChannelDeps,
  caller: Caller,
  { kind, name, url }: NewDecisionChannel,
): Promise<DecisionChannel> {
  if (!acceptUrl(url, deps.urlRules)) {
    throw badField(
      'url',
      'not_allowed',
      'Send an absolute URL of a public host, without user name or fragment.',
    );
  }
  const at = deps.clock();
  const id = newId('dchan', at);
  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, caller.tenant);
    if ((await listChannelRows(tx, caller.tenant)).length >= MAX_CHANNELS) {
      throw new AppError('CONFLICT', 'An account has at most 10 channels. Delete one.', {
        limit: MAX_CHANNELS,
      });
    }
    const sealed = deps.seals.seal(url, { ...caller.tenant, id });
    const row = await insertChannel(tx, caller.tenant, { id, kind, name, createdAt: at, ...sealed });
    const data = { channelId: id, changed: 'created' } as const;
    await recordEntry(tx, caller, { action: 'decision.channel_changed', data }, at);
    return toChannel(row, url);
  });
}

/** @throws NOT_FOUND */
export function removeChannel({ db, clock }: ChannelDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    if (!(await deleteChannel(tx, caller.tenant, id))) throw notFound();
    const data = { channelId: id, changed: 'deleted' } as const;
    await recordEntry(tx, caller, { action: 'decision.channel_changed', data }, clock());
  });
}

const toChannel = ({ id, kind, name, createdAt }: ChannelRow, url: string | undefined): DecisionChannel => ({
  ...{ id, kind, name, createdAt: createdAt.toISOString() },
  url: url === undefined ? '' : masked(new URL(url)),
});

const SHORTEST = 24;

/** The end tells channels of one host apart. A short URL has none to spare. */
const masked = ({ origin, pathname, search }: URL) => {
  const secret = `${pathname}${search}`;
  return `${origin}/…${secret.length < SHORTEST ? '' : secret.slice(-4)}`;
};

export const SEAL_KEY_USE = 'behest/decision-channel-seal/v1';

/** Seals and opens the URLs of channels. */
export const channelSeals = (keyRing: KeyRing) =>
  sealedColumn<string>(
    {
      table: 'decision_channels',
      labels: { keyId: 'behest-decision-seal-kid', place: 'behest-decision-channel-v1' },
      toText: (url) => url,
      fromText: (text) => text,
      warning: (count) =>
        `the URLs of ${count} decision channels open under no configured key: set them again`,
    },
    keyRing.derive(SEAL_KEY_USE),
  );
export type ChannelSeals = ReturnType<typeof channelSeals>;
