import type { TokenRefusal } from '@behest/protocol/token-refusal';

/** The error of everything below. Its message holds no token and no key. */
export class BehestError extends Error {
  override readonly name: string = 'BehestError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A token that is not taken. */
export class BehestTokenError extends BehestError {
  override readonly name = 'BehestTokenError';
  readonly reason: TokenRefusal | 'missing_scopes' | 'revoked';
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
  override readonly name = 'BehestNetworkError';

  constructor(message: string, options?: ErrorOptions) {
    super('NETWORK', message, options);
  }
}
