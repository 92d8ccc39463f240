import { writeAmount } from '@behest/protocol/amounts';
import { budgetEntry } from '@behest/protocol/claims';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { listAgentDids } from '../../accounts/agents/agents.queries.ts';
import { findRestOfBudget } from '../../grants/budgets/budgets.queries.ts';
import { addressIn, addressOfPrincipal, personById } from '../../people/scim/scim.queries.ts';
import { addressInSession } from '../../people/sso/sso.queries.ts';
import type { MakeSet } from '../../record/webhooks/index.ts';
import { signSet } from '../../service/keys/index.ts';
import {
  type Facts,
  membersOf,
  namesAgent,
  namesUser,
  OF_STREAM,
  SIGNALS,
  type SubjectId,
  sessionOf,
  streamSubject,
  subjectId,
  tenantSubject,
} from './events.rules.ts';
import { type ListeningReceiver, receiverOfStream } from './streams.repo.ts';

/** The id of a signal is that of its delivery, under a prefix of its own. */
export const jtiOf = (deliveryId: string): string => `set_${deliveryId.slice('whd_'.length)}`;

/** @returns undefined for a text that is no id of a signal */
export const deliveryOf = (jti: string): string | undefined =>
  /^set_[0-9A-Z]{26}$/.test(jti) ? `whd_${jti.slice('set_'.length)}` : undefined;

/**
 * Makes a signal with one event (RFC 8417). It has neither `sub` nor `exp`, as SSF 1.0 §4.1 demands. Its facts are of the
 * time of the attempt; its id and time are always the same.
 */
export const makeSet: MakeSet = async ({ db, keyRing, issuer }, event) => {
  const { developerId, webhookId: streamId, id, eventType, envelope, actor, txn } = event;
  const tenant = { developerId };
  const receiver = await receiverOfStream(db, tenant, streamId);
  if (!receiver) throw new Error(`The stream ${streamId} has no receiver.`);
  const facts: Facts = JSON.parse(envelope); // this service wrote it
  const ofStream = OF_STREAM[eventType];
  const budget = eventType.startsWith('budget.') ? await budgetOf(db, tenant, facts) : undefined;
  const members = membersOf(facts, actor, budget);
  return signSet(keyRing, {
    iss: issuer,
    aud: receiver.audience,
    iat: Math.floor(Date.parse(facts.createdAt) / 1000),
    jti: jtiOf(id),
    txn,
    sub_id: ofStream ? streamSubject(streamId) : await subjectOf(db, tenant, { receiver, facts, issuer }),
    events: { [ofStream ?? SIGNALS[eventType] ?? eventType]: members },
    ...(facts.sandbox && { sandbox: true }),
  });
};

async function budgetOf(db: Executor, tenant: Tenant, { data }: Facts): Promise<object> {
  const rest = await findRestOfBudget(db, tenant, String(data.grantId));
  return rest
    ? budgetEntry(writeAmount(rest.remaining), rest.currency)
    : budgetEntry(String(data.remaining), String(data.currency));
}

interface About {
  readonly receiver: ListeningReceiver;
  readonly facts: Facts;
  readonly issuer: string;
}

async function subjectOf(db: Executor, tenant: Tenant, about: About): Promise<SubjectId> {
  const { receiver, facts, issuer } = about;
  return subjectId(
    {
      user: namesUser(facts) ? await userOf(db, tenant, about) : undefined,
      session: sessionOf(facts, issuer),
      application: namesAgent(facts) ? await applicationOf(db, tenant, facts) : undefined,
      tenant: tenantSubject(tenant.developerId),
    },
    receiver.subjectShape,
  );
}

async function applicationOf(db: Executor, tenant: Tenant, { data }: Facts): Promise<SubjectId | undefined> {
  const agentId = String(data.agentId);
  const url = (await listAgentDids(db, tenant, [agentId])).get(agentId);
  return url === undefined ? undefined : { format: 'did', url };
}

async function userOf(
  db: Executor,
  tenant: Tenant,
  { receiver, facts: { data }, issuer }: About,
): Promise<SubjectId | undefined> {
  const principalId = await principalOf(db, tenant, data);
  if (principalId === undefined) return undefined;
  const email =
    receiver.subjectFormat === 'email' ? await emailOf(db, tenant, { principalId, data }) : undefined;
  return email === undefined
    ? { format: 'iss_sub', iss: issuer, sub: principalId }
    : { format: 'email', email };
}

/** A user who was deleted is known by what the event still says. */
async function principalOf(
  db: Executor,
  tenant: Tenant,
  { principalId, userId, principalIds, externalId, userName }: Facts['data'],
): Promise<string | undefined> {
  if (typeof principalId === 'string') return principalId;
  if (typeof userId !== 'string') return undefined;
  const person = await personById(db, tenant, userId);
  const [first] = Array.isArray(principalIds) ? principalIds : [];
  const known = person?.principalId ?? first ?? externalId ?? userName;
  return typeof known === 'string' ? known : undefined;
}

async function emailOf(
  db: Executor,
  tenant: Tenant,
  { principalId, data: { userName } }: { readonly principalId: string; readonly data: Facts['data'] },
): Promise<string | undefined> {
  const known =
    (await addressOfPrincipal(db, tenant, principalId)) ?? (await addressInSession(db, tenant, principalId));
  return known ?? (typeof userName === 'string' ? addressIn(userName) : undefined);
}
