import { AppError } from '../../../platform/errors.ts';
import { ADVICE, GROUPS_ADVICE } from './advice.rules.ts';
import type { GroupsRead } from './claims.rules.ts';

/** A person as an identity provider describes them. */
export interface Claimed {
  /** The key of the identity at this connection. */
  readonly subject: string;
  /** The subject in the provider's own words. */
  readonly idpSubject: string;
  /** Null also where the provider says that the address is not verified. */
  readonly email: string | null;
  readonly isUnverified?: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** The provider's own name of the session, if it gave one. */
  readonly idpSession?: string | undefined;
  /** The ID token, which a provider wants back when the person signs out. */
  readonly idToken?: string | undefined;
  /** When the person signed in at the provider, in seconds since the epoch, if it said so. */
  readonly authTime?: number | undefined;
  /** How, in the words of RFC 8176, if it said so. */
  readonly methods?: readonly string[];
}

/** A refusal of an identity provider's answer. The reason goes to the audit log and nowhere else. */
class LoginRefusal extends AppError {
  readonly reason: string;
  /** The value that the provider sent and that was wrong, such as another issuer. */
  readonly said: string | undefined;

  constructor(reason: string, said?: string) {
    super('SSO_AUTH_FAILED', 'The sign-in was refused. Begin again.');
    this.reason = reason;
    this.said = said === undefined ? undefined : shownText(said);
  }
}

/** A second subject of a provider, for a person who is linked to another one. An administrator moves the link. */
export class OtherSubject extends AppError {
  /** What an administrator needs to know for it. */
  readonly found: { readonly subject: string; readonly address: string | undefined };

  constructor(found: OtherSubject['found']) {
    super(
      'SSO_ACCOUNT_CONFLICT',
      'The person of this address is linked to another account at the identity provider. Ask an administrator to move the link.',
      { sub_reason: 'other_subject' },
    );
    this.found = found;
  }
}

const LONGEST_SHOWN = 200; // characters

/** A text of a provider, cut and in printable ASCII. */
const shownText = (text: string): string => text.slice(0, LONGEST_SHOWN).replace(/[^ -~]/g, '?');

/** One message for everything that was wrong with a token, an assertion or a password. */
export const authFailed = (reason: string, said?: string): AppError => new LoginRefusal(reason, said);

/** The groups of a person. @throws SSO_AUTH_FAILED where they could not be read, with the repair */
export function mustBeRead(read: GroupsRead): string[] {
  if ('groups' in read) return read.groups;
  const details = { sub_reason: 'groups_unreadable', cause: read.fault };
  throw new AppError('SSO_AUTH_FAILED', GROUPS_ADVICE[read.fault], details);
}

/** Why a login was refused, for the audit log: the reason, the provider's own value, and the repair. */
export function refusalOf(error: unknown) {
  if (!(error instanceof AppError)) return undefined;
  const { reason: cause, sub_reason: subReason = cause } = error.details ?? {};
  const isOurs = error instanceof LoginRefusal;
  const reason = isOurs ? error.reason : String(subReason ?? error.code.toLowerCase());
  const said = isOurs ? error.said : undefined;
  const message = ADVICE[reason] ?? (isOurs ? undefined : error.message);
  return { reason, ...(said !== undefined && { said }), ...(message !== undefined && { message }) };
}

/** The provider was not reached, or is broken: nothing about the person was decided. */
export const idpBroken = (reason: string, said?: string) =>
  new AppError(
    'SSO_ERROR',
    'The identity provider cannot be used now. Its administrator can test the connection.',
    { reason, ...(said !== undefined && { said: shownText(said) }) },
  );
