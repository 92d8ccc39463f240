import { BehestError } from '@behest/protocol/behest-error';
import type { TokenRefusal } from '@behest/protocol/token-refusal';

export { BehestError };

/** A token that is not taken. */
export class BehestTokenError extends BehestError {
  override readonly name: string = 'BehestTokenError';
  /** Why, in a word that stays the same. `key_not_found` may be a key that the verifier has not seen yet. */
  readonly reason: TokenRefusal | 'missing_scopes' | 'revoked' | 'not_found' | 'agent_inactive';
  /** The scopes that the token lacks. */
  readonly missing?: readonly string[];

  constructor(reason: BehestTokenError['reason'], missing?: readonly string[]) {
    super('TOKEN_REFUSED', `The token was refused: ${reason}.`);
    this.reason = reason;
    if (missing) this.missing = missing;
  }
}

/** The service could not be asked. It says nothing about the token. */
export class BehestNetworkError extends BehestError {
  override readonly name: string = 'BehestNetworkError';
  /** How often the call was sent, or tried. */
  readonly attempts: number;

  constructor(message: string, { attempts = 1, ...options }: ErrorOptions & { attempts?: number } = {}) {
    super('NETWORK', message, options);
    this.attempts = attempts;
  }
}

/** A tool call that was denied. */
export class BehestDeniedError extends BehestError {
  override readonly name: string = 'BehestDeniedError';
  /** Why, in a word that stays the same, such as `cap_exceeded`. */
  readonly reasonCode: string;
  /** More about the reason, such as `limit_reached`. */
  readonly subReason: string | null;
  /** The values of the denial, such as the limit. They may go to the model, and hold no secret. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(denied: {
    readonly reason: string;
    readonly reason_code: string;
    readonly sub_reason: string | null;
    readonly details: Readonly<Record<string, unknown>>;
  }) {
    super('DENIED', denied.reason);
    this.reasonCode = denied.reason_code;
    this.subReason = denied.sub_reason;
    this.details = denied.details;
  }
}
