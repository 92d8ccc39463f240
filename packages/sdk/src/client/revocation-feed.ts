import type { GrantStatus, MaybePromise, RevocationCheck } from '@behest/protocol/enforcement/ports';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import { textOf } from '../verify/token-source.ts';
import { type EventFollower, type FollowedEvent, followEvents, type Instant } from './event-stream.ts';
import { askService, type ServiceOptions } from './service.ts';

const statuses: Readonly<Record<string, GrantStatus>> = { agent_inactive: 'suspended' };

/** Asks the service about each token. What it says holds for this call alone. */
export function onlineRevocation(service: ServiceOptions): RevocationCheck {
  return {
    async check(verified): Promise<GrantStatus> {
      const token = textOf(verified);
      if (token === undefined) return 'unavailable';
      const { valid, reason } = await askService(service, '/v1/tokens/verify', { token });
      if (valid === true) return 'active';
      if (valid !== false) return 'unavailable';
      return statuses[String(reason)] ?? 'revoked';
    },
  };
}

/** A revocation check that follows the events of the service. */
export interface Revocations extends RevocationCheck {
  /** Ends the stream. From then on the check asks the service at each call. */
  close(): void;
}

const TYPES =
  'token.revoked,grant.revoked,grant.expired,agent.suspended,agent.resumed,agent.revoked,account.stopped,account.resumed';
const MOST = 10_000;
/** In milliseconds. It bounds what a service that goes on sending comments but no events can hide. */
const KEPT = 300_000;

interface Answer {
  readonly claims: VerifiedGrant['claims'];
  readonly askedAt: Instant;
  status: MaybePromise<GrantStatus>;
}

/**
 * Asks the service once for each token, and again when an event says that something has changed. While the events are
 * not known to be complete, it asks the service at each call: a token is never taken because nothing was heard of it.
 */
export function revocationFeed(service: ServiceOptions, now?: () => Instant): Revocations {
  const online = onlineRevocation(service);
  const answers = new Map<string, Answer>();
  let follower: EventFollower | undefined;
  let isClosed = false;
  const time = now ?? (() => ({ wall: Date.now(), steady: performance.now() }));

  const listener = {
    types: TYPES,
    onEvent(event: FollowedEvent) {
      for (const [token, { claims }] of answers) if (concerns(event, claims)) answers.delete(token);
    },
    onGap: () => answers.clear(),
  };

  /** The answer is in the map from before the question until after it, so that an event in between deletes it. */
  function ask(token: string, verified: VerifiedGrant): MaybePromise<GrantStatus> {
    const answer: Answer = { claims: verified.claims, askedAt: time(), status: online.check(verified) };
    const oldest = answers.size >= MOST ? answers.keys().next() : undefined;
    if (oldest && !oldest.done) answers.delete(oldest.value);
    answers.set(token, answer);
    const drop = () => {
      if (answers.get(token) === answer) answers.delete(token);
    };
    Promise.resolve(answer.status).then((status) => {
      answer.status = status;
      if (status === 'unavailable') drop();
    }, drop);
    return answer.status;
  }

  const isOld = ({ askedAt }: Answer) =>
    Math.max(time().wall - askedAt.wall, time().steady - askedAt.steady) >= KEPT;

  return {
    check(verified) {
      if (!isClosed) follower ??= followEvents(service, listener, time);
      const token = textOf(verified);
      if (!follower?.isCurrent() || token === undefined) return online.check(verified);
      const known = answers.get(token);
      return known && !isOld(known) ? known.status : ask(token, verified);
    },
    close() {
      isClosed = true;
      follower?.close();
      follower = undefined;
      answers.clear();
    },
  };
}

/** An event that does not say whom it concerns concerns everybody. */
function concerns({ type, data }: FollowedEvent, claims: VerifiedGrant['claims']): boolean {
  const [area] = String(type).split('.');
  const { tokenId, grantId, agentId } = Object(data);
  if (area === 'token') return tokenId === undefined || tokenId === claims.tokenId;
  if (area === 'grant') return grantId === undefined || grantId === claims.grantId;
  return agentId === undefined || claims.agentId === undefined || agentId === claims.agentId;
}
