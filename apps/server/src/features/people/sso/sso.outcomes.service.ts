import { AppError } from '../../../platform/errors.ts';

/** A person as an identity provider describes them. */
export interface Claimed {
  /** The key of the identity at this connection. */
  readonly subject: string;
  /** The subject in the provider's own words. */
  readonly idpSubject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** The provider's own name of the session, if it gave one. */
  readonly idpSession?: string | undefined;
  /** When the person signed in at the provider, in seconds since the epoch, if it said so. */
  readonly authTime?: number | undefined;
  /** How, in the words of RFC 8176, if it said so. */
  readonly methods?: readonly string[];
}

/** A refusal of an identity provider's answer. The reason goes to the audit log and nowhere else. */
class LoginRefusal extends AppError {
  readonly reason: string;

  constructor(reason: string) {
    super('SSO_AUTH_FAILED', 'The sign-in was refused. Begin again.');
    this.reason = reason;
  }
}

/** One message for everything that was wrong with a token, an assertion or a password. */
export const authFailed = (reason: string): AppError => new LoginRefusal(reason);

export const reasonOf = (error: unknown): string | undefined =>
  error instanceof LoginRefusal
    ? error.reason
    : error instanceof AppError
      ? error.code.toLowerCase()
      : undefined;

/** The provider was not reached, or is broken: nothing about the person was decided. */
export const idpBroken = (reason: string) =>
  new AppError(
    'SSO_ERROR',
    'The identity provider cannot be used now. Its administrator can test the connection.',
    {
      reason,
    },
  );
