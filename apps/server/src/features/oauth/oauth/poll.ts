import type { Clock } from '../../../platform/clock.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import type { OAuthError } from '../../../platform/oauth-errors.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { type AuthorizationDeps, getRequest } from '../../grants/authorization/index.ts';
import {
  type DelegateDeps,
  exchangeRequest,
  type RequestedToken,
  type TokensOfCode,
} from '../../grants/tokens/index.ts';
import type { Client } from './client.ts';
import type { CredentialFormat } from './request.rules.ts';

export interface PollDeps extends DelegateDeps, AuthorizationDeps {}

interface PollInput {
  readonly channel: Flow['channel'];
  /** `device_code` or `auth_req_id`. */
  readonly secret: string | undefined;
  readonly credentialFormat: CredentialFormat;
}

/**
 * Answers a client that asks whether the person has decided, with tokens once they have approved.
 * @see RFC 8628 §3.5; OpenID CIBA Core 1.0 §11
 * @throws authorization_pending, access_denied, expired_token, invalid_grant, or a refusal of the engine
 */
export async function pollRequest(
  deps: PollDeps,
  client: Client,
  { channel, secret, credentialFormat }: PollInput,
  requested: RequestedToken,
): Promise<TokensOfCode> {
  if (!secret) throw oauthRefusal('invalid_request', 'Send `device_code` or `auth_req_id`.');
  const flow = await getFlow(deps, secret);
  const isOwn = flow.clientId === client.clientId && flow.developerId === client.caller.tenant.developerId;
  if (!isOwn || flow.channel !== channel) throw unknownFlow();
  if (new Date(flow.expiresAt) <= deps.clock()) throw expiredFlow();
  if (flow.refusal) throw oauthRefusal(flow.refusal.error, flow.refusal.error_description);
  if (flow.requestId === null) throw pending();
  const { caller, agentId } = client;
  const { status } = await getRequest(deps, caller, flow.requestId);
  if (status === 'pending') throw pending();
  if (status === 'expired') throw expiredFlow();
  if (status === 'denied' || status === 'cancelled') {
    throw oauthRefusal('access_denied', 'The request was denied.');
  }
  const { requestId } = flow;
  return exchangeRequest(deps, caller, { requestId, agentId, credentialFormat }, requested);
}

const pending = () => oauthRefusal('authorization_pending', 'The person has not decided yet.');

/**
 * A request whose client polls for the decision. The store has it, so a lost store ends it. The row of the request is the
 * record of the decision.
 */
interface Flow {
  readonly developerId: string;
  readonly clientId: string;
  /** It is polled only by the grant type of this channel. */
  readonly channel: 'device' | 'ciba';
  /** Null until the person has entered the code of a device. */
  readonly requestId: string | null;
  /** Why the request of the entered code was not made. */
  readonly refusal?: OAuthError;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

export interface FlowDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
}

/** The seconds between two polls, at first and in addition for each poll that came too early. */
export const POLL_SECONDS = 5;
/** A client that hurries all the time has to find its way back. */
const MAX_PAUSE = 60; // seconds
/** A client that is late reads that its time is over, for as long. */
const LATE_SECONDS = 600;

/** The store has the hash of the secret, so that no reader of the store can poll. */
export const flowIdOf = (secret: string) => hashOf(secret).toString('base64url');
const flowKey = (flowId: string) => `bh:{flow:${flowId}}`;
const paceKey = (flowId: string) => `bh:{flow:${flowId}}:pace`;

/** @returns the secret by which the client polls */
export async function startFlow(deps: FlowDeps, flow: Flow): Promise<string> {
  const secret = newSecret();
  await keepFlow(deps, flowIdOf(secret), flow);
  return secret;
}

export async function keepFlow({ store, clock }: FlowDeps, flowId: string, flow: Flow): Promise<void> {
  const seconds = secondsLeft(flow, clock()) + LATE_SECONDS;
  await store.put([{ key: flowKey(flowId), value: JSON.stringify(flow), seconds }]);
}

async function findFlow({ store }: Pick<FlowDeps, 'store'>, flowId: string): Promise<Flow | undefined> {
  const found = await store.get(flowKey(flowId));
  return found === undefined ? undefined : JSON.parse(found);
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * Finds the flow that a client polls. One that the store has lost reads as one whose time is over.
 * @throws expired_token, invalid_grant
 */
export async function getFlow(deps: Pick<FlowDeps, 'store'>, secret: string): Promise<Flow> {
  if (!SECRET.test(secret)) throw unknownFlow();
  const flow = await findFlow(deps, flowIdOf(secret));
  if (!flow) throw expiredFlow();
  return flow;
}

const expiredFlow = () => oauthRefusal('expired_token', 'The time for a decision is over; start again.');
const unknownFlow = () => oauthRefusal('invalid_grant', 'The client has begun no such flow.');

export const secondsLeft = ({ expiresAt }: Pick<Flow, 'expiresAt'>, now: Date): number =>
  Math.max(0, Math.ceil((Date.parse(expiresAt) - now.getTime()) / 1000));

interface Pace {
  readonly at: number;
  readonly seconds: number;
}

/**
 * Notes a poll. Each one that comes too early makes the pause longer.
 * @see RFC 8628 §3.5
 */
export async function pollsTooFast(
  { store, clock }: FlowDeps,
  secret: string,
  { clientId }: { readonly clientId: string },
): Promise<boolean> {
  const flowId = flowIdOf(secret);
  const flow = await findFlow({ store }, flowId);
  if (flow?.clientId !== clientId) return false;
  const found = await store.get(paceKey(flowId));
  const pace: Pace | undefined = found === undefined ? undefined : JSON.parse(found);
  const at = clock().getTime();
  const pause = pace?.seconds ?? POLL_SECONDS;
  const isEarly = pace !== undefined && at < pace.at + pause * 1000;
  const next: Pace = { at, seconds: isEarly ? Math.min(pause + POLL_SECONDS, MAX_PAUSE) : pause };
  const seconds = secondsLeft(flow, clock()) + LATE_SECONDS;
  await store.put([{ key: paceKey(flowId), value: JSON.stringify(next), seconds }]);
  return isEarly;
}
