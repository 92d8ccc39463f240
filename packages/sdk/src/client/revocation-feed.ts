import type { GrantStatus, MaybePromise, RevocationCheck } from '@behest/protocol/enforcement/ports';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import { textOf } from '../verify/token-source.ts';
import {
  type EventFollower,
  type EventListener,
  type FollowedEvent,
  followEvents,
  type Instant,
} from './event-stream.ts';
import { askService, type ServiceOptions } from './service.ts';
import { positionIn, type VerifierLease, verifierLease } from './verifier-lease.ts';

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
/** Says what verifiers have to confirm. */
const ASKING = 'revocation.confirmation_requested';
const MOST = 10_000;
/** The most times that a call asks anew because an event has overtaken the answer. */
const MOST_ROUNDS = 10;
/** In milliseconds. It bounds what a service that goes on sending comments but no events can hide. */
const KEPT = 300_000;

interface Answer {
  readonly claims: VerifiedGrant['claims'];
  readonly askedAt: Instant;
  status: MaybePromise<GrantStatus>;
}

export interface FeedOptions {
  /** The name under which this verifier confirms revocations. Without a name it confirms none. */
  readonly confirmsAs?: string;
  readonly now?: () => Instant;
}

/**
 * Asks the service once for each token, and again when an event says that something has changed. While the events are
 * not known to be complete, it asks the service at each call: a token is never taken because nothing was heard of it.
 *
 * A feed that confirms answers from memory only while it has a lease. It signs that it accepts nothing any more that was
 * revoked up to a position, and from then on no call ends well by an answer from before, also a call that had begun. The
 * same holds from the end of a lease.
 */
export function revocationFeed(
  service: ServiceOptions,
  { confirmsAs: name, now }: FeedOptions = {},
): Revocations {
  const online = onlineRevocation(service);
  const answers = new Map<string, Answer>();
  const underWay = new Set<{ readonly claims: VerifiedGrant['claims']; isOvertaken: boolean }>();
  let follower: EventFollower | undefined;
  let lease: VerifierLease | undefined;
  let isClosed = false;
  const time = now ?? (() => ({ wall: Date.now(), steady: performance.now() }));

  const forget = () => {
    answers.clear();
    for (const asked of underWay) asked.isOvertaken = true;
  };
  const listener: EventListener = {
    types: name === undefined ? TYPES : `${TYPES},${ASKING}`,
    ...(name !== undefined && { query: '&for=verifier' }),
    onEvent(event) {
      if (event.type === ASKING) return confirm(event);
      for (const [token, { claims }] of answers) if (concerns(event, claims)) answers.delete(token);
      for (const asked of underWay) if (concerns(event, asked.claims)) asked.isOvertaken = true;
    },
    onGap: forget,
    onWhole: () => lease?.renew(), // while the stream was broken, something may have been asked
  };

  /** A whole stream keeps the order: the revocation came before this event. */
  function confirm({ data }: FollowedEvent): void {
    const position = positionIn(data);
    if (position && follower?.isCurrent()) lease?.confirm(position);
    else lease?.renew();
  }

  /**
   * Asks once, or, of a verifier that confirms, until no event and no end of the lease has overtaken the answer. Without a
   * lease the service counts on it that each call asks, and not that it has asked before.
   */
  async function askOnline(verified: VerifiedGrant): Promise<GrantStatus> {
    if (name === undefined) return online.check(verified);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const asked = { claims: verified.claims, isOvertaken: false };
      const isLeased = lease?.holds() === true;
      underWay.add(asked);
      try {
        const status = await online.check(verified);
        const isOvertaken = asked.isOvertaken || (isLeased && !lease?.holds());
        if (status !== 'active' || !isOvertaken) return status;
      } finally {
        underWay.delete(asked);
      }
    }
    return 'unavailable';
  }

  function start(): void {
    if (isClosed) return;
    follower ??= followEvents(service, listener, time);
    if (name !== undefined) lease ??= verifierLease(service, { name, forget, time });
  }

  /** The answer is in the map from before the question until after it, so that an event in between deletes it. */
  function ask(token: string, verified: VerifiedGrant): MaybePromise<GrantStatus> {
    const answer: Answer = { claims: verified.claims, askedAt: time(), status: askOnline(verified) };
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
      start();
      const token = textOf(verified);
      const mayRemember = follower?.isCurrent() && (name === undefined || lease?.holds());
      if (!mayRemember || token === undefined) return askOnline(verified);
      const known = answers.get(token);
      return known && !isOld(known) ? known.status : ask(token, verified);
    },
    close() {
      isClosed = true;
      follower?.close();
      lease?.close();
      follower = undefined;
      lease = undefined;
      forget();
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
