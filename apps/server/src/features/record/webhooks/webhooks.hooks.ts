import type { Executor } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { WebhookSeals } from './secrets.ts';

/** An event on its way to a stream of signals. */
export interface EventForSet {
  readonly developerId: string;
  /** The stream. */
  readonly webhookId: string;
  readonly id: string;
  readonly eventType: string;
  readonly envelope: string;
  readonly actor: string | null;
  readonly txn: string | null;
}

export interface SetDeps {
  readonly db: Executor;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

/**
 * Makes the signal of an event: a signed security event token (RFC 8417), the same at each attempt.
 * @throws SERVICE_UNAVAILABLE when no RSA key may sign
 */
export type MakeSet = (deps: SetDeps, event: EventForSet) => Promise<string>;

/** @param endpoint its `webhookId` is the stream's */
export type OnEndpointGone = (
  deps: Pick<SetDeps, 'db'> & { readonly seals: WebhookSeals },
  endpoint: Pick<EventForSet, 'developerId' | 'webhookId'> & { readonly url: string },
  at: Date,
) => Promise<void>;

/** The receiver of a stream says that its address is gone. One feature listens. */
export const streamGone = hook<OnEndpointGone>('stream gone');

/** An event is sent as a signal. One feature listens. */
export const setMade = hook<MakeSet>('set made');
