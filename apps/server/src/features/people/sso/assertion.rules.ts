/** A person as an assertion of an identity provider names them. */
export interface Asserted {
  readonly issuer: string;
  readonly subject: string;
  /** The customer of the provider, where the issuer serves several. */
  readonly tenant: string | undefined;
  /** The id that the person has here, where the provider knows it. */
  readonly audSubject: string | undefined;
  /** Undefined also where the provider says that the address is not verified. */
  readonly email: string | undefined;
  readonly isUnverified: boolean;
  readonly name: string | undefined;
}

/** Issuers under whose one name many customers sign in. An assertion of theirs has to name the customer. */
const SHARED_ISSUERS: ReadonlySet<string> = new Set([
  'https://accounts.google.com',
  'https://login.microsoftonline.com/common/v2.0',
  'https://login.microsoftonline.com/organizations/v2.0',
  'https://login.microsoftonline.com/consumers/v2.0',
  'https://gitlab.com',
  'https://login.salesforce.com',
  'https://slack.com',
]);

export const isSharedIssuer = (issuer: string): boolean => SHARED_ISSUERS.has(issuer.replace(/\/$/, ''));

/** The key of an identity at its connection, as a login at the same provider has it. */
export const identityOf = ({ issuer, subject }: Pick<Asserted, 'issuer' | 'subject'>): string =>
  `${issuer}|${subject}`;
