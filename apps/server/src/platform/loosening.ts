import type { Capability } from './capabilities.ts';

/** A request as it is kept until it is decided. */
export interface KeptRequest {
  readonly operation: string;
  readonly params: unknown;
  readonly body: unknown;
}

/** What a request asks of who agrees to it. */
export interface NeededFor {
  capabilitiesFor(body: unknown): readonly (Capability | 'never' | undefined)[];
}

/** What a request would weaken. */
export interface Loosening {
  /** The record, in words of the service: `policy pol_…`. */
  readonly about: string;
  /** What is now, and what would be. The same before and after nothing else has changed. */
  readonly difference: Readonly<Record<string, unknown>>;
}

/** A change that members have agreed to. */
export interface AgreedChange {
  readonly changeId: string;
  /** As they saw it. */
  readonly difference: unknown;
  /** Called when the change turns out to be the one that they saw. */
  readonly onReached: () => void;
}

/** Ends the work on a request that a second member has to agree to. Nothing of it stays. */
export class NeedsSecondMember extends Error {
  override readonly name = 'NeedsSecondMember';
  readonly loosening: Loosening;

  constructor(loosening: Loosening) {
    super(`A second member has to agree: ${loosening.about}`);
    this.loosening = loosening;
  }
}
