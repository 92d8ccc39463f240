import { X509Certificate } from 'node:crypto';
import { isScope } from '@behest/protocol/scopes';
import { badField } from '../../../platform/errors.ts';
import type { NewSsoConnection, Protocol, SsoConnectionChange } from './sso.schema.ts';

/** A connection as it is stored. No member is secret. */
export interface SsoMembers {
  readonly issuerUrl?: string;
  readonly clientId?: string;
  readonly redirectUris: readonly string[];
  readonly idpEntityId?: string;
  readonly idpSsoUrl?: string;
  /** PEM, in the order of the request. */
  readonly idpCertificates?: readonly string[];
  readonly spEntityId?: string;
  readonly spAcsUrl?: string;
  readonly ldapUrl?: string;
  readonly ldapBindDn?: string;
  readonly ldapSearchBase?: string;
  readonly ldapSearchFilter?: string;
  readonly ldapGroupSearchBase?: string | null;
  readonly ldapGroupSearchFilter?: string;
  readonly ldapTlsEnabled?: boolean;
  readonly jitProvisioning: boolean;
  readonly scimManaged: boolean;
  readonly groupAttribute: string | null;
  readonly groupMappings: Readonly<Record<string, readonly string[]>>;
  readonly defaultScopes: readonly string[];
}

const REQUIRED = {
  oidc: ['issuerUrl', 'clientId'],
  saml: ['idpEntityId', 'idpSsoUrl', 'idpCertificates', 'spEntityId', 'spAcsUrl'],
  ldap: ['ldapUrl', 'ldapBindDn', 'ldapSearchBase'],
} as const satisfies Record<Protocol, readonly (keyof SsoMembers)[]>;

const OPTIONAL = {
  oidc: ['clientSecret', 'redirectUris'],
  saml: ['idpCertificate', 'redirectUris'],
  ldap: [
    'ldapBindPassword',
    'ldapSearchFilter',
    'ldapGroupSearchBase',
    'ldapGroupSearchFilter',
    'ldapTlsEnabled',
  ],
} as const;

const ANY = [
  'name',
  'protocol',
  'status',
  'domains',
  'jitProvisioning',
  'enforce',
  'scimManaged',
  'groupAttribute',
  'groupMappings',
  'defaultScopes',
];

const EMPTY: SsoMembers = {
  redirectUris: [],
  jitProvisioning: false,
  scimManaged: false,
  groupAttribute: null,
  groupMappings: {},
  defaultScopes: [],
};

const LDAP_DEFAULTS = {
  ldapSearchFilter: '(uid={{username}})',
  ldapGroupSearchBase: null,
  ldapGroupSearchFilter: '(member={{dn}})',
  ldapTlsEnabled: false,
};

export const newMembers = (input: NewSsoConnection): SsoMembers =>
  mergedMembers(input.protocol, { ...EMPTY, ...(input.protocol === 'ldap' && LDAP_DEFAULTS) }, input);

/** The members after a change: what the body leaves out stays, and `null` clears. @throws BAD_REQUEST */
export function mergedMembers(
  protocol: Protocol,
  before: SsoMembers,
  change: SsoConnectionChange,
): SsoMembers {
  const known: ReadonlySet<string> = new Set([...ANY, ...REQUIRED[protocol], ...OPTIONAL[protocol]]);
  for (const name of Object.keys(change)) {
    if (!known.has(name)) throw badField(name, 'not_allowed', `A connection by ${protocol} has no ${name}.`);
  }
  const { name, protocol: _, status, domains, enforce, clientSecret, ldapBindPassword, ...rest } = change;
  const { idpCertificate, redirectUris, groupAttribute, groupMappings, defaultScopes, ...plain } = rest;
  const after: SsoMembers = {
    ...before,
    ...plain,
    ...(idpCertificate !== undefined && { idpCertificates: certificatesIn(idpCertificate) }),
    ...(redirectUris !== undefined && { redirectUris: redirectUris ?? [] }),
    ...(groupAttribute !== undefined && { groupAttribute }),
    ...(groupMappings !== undefined && { groupMappings: groupMappings ?? {} }),
    ...(defaultScopes !== undefined && { defaultScopes: defaultScopes ?? [] }),
  };
  for (const member of REQUIRED[protocol]) {
    const path = member === 'idpCertificates' ? 'idpCertificate' : member;
    if (after[member] === undefined) throw badField(path, 'required');
  }
  for (const [group, scopes] of Object.entries(after.groupMappings))
    mustBeScopes(`groupMappings.${group}`, scopes);
  mustBeScopes('defaultScopes', after.defaultScopes);
  if (protocol === 'ldap') mustBeFilters(after);
  return after;
}

function mustBeScopes(path: string, scopes: readonly string[]): void {
  if (!scopes.every(isScope))
    throw badField(path, 'format', 'A scope has the form `<resource>:<permission>`.');
}

function mustBeFilters({ ldapSearchFilter = '', ldapGroupSearchFilter = '' }: SsoMembers): void {
  if (!ldapSearchFilter.includes('{{username}}')) {
    throw badField('ldapSearchFilter', 'format', 'The filter has to hold `{{username}}`.');
  }
  if (!isBalanced(ldapSearchFilter)) throw badField('ldapSearchFilter', 'format');
  if (!isBalanced(ldapGroupSearchFilter)) throw badField('ldapGroupSearchFilter', 'format');
}

/** The client of LDAP reads the rest. An open parenthesis would let the name of a person close it. */
function isBalanced(filter: string): boolean {
  let depth = 0;
  for (const [index, character] of [...filter].entries()) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    const isEnd = index === filter.length - 1;
    if (depth < 0 || (depth === 0) !== isEnd) return false;
  }
  return depth === 0 && filter !== '';
}

const MOST_CERTIFICATES = 5;

/** Certificates of PEM or bare base64 text, as PEM. @throws BAD_REQUEST */
function certificatesIn(said: string | readonly string[]): string[] {
  const texts = typeof said === 'string' ? [said] : said;
  const blocks = texts.flatMap(
    (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [text],
  );
  if (blocks.length > MOST_CERTIFICATES) throw badField('idpCertificate', 'too_large');
  return blocks.map((block) => {
    const base64 = block.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '');
    const certificate = certificateOf(base64);
    if (!certificate || !isStrong(certificate)) {
      const message =
        'Send X.509 certificates with an RSA key of 2048 bits or more, or a key on P-256, P-384 or P-521.';
      throw badField('idpCertificate', 'format', message);
    }
    return certificate.toString();
  });
}

function certificateOf(base64: string): X509Certificate | undefined {
  try {
    return /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
      ? new X509Certificate(Buffer.from(base64, 'base64'))
      : undefined;
  } catch {
    return undefined; // not a certificate
  }
}

const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

function isStrong({ publicKey }: X509Certificate): boolean {
  const { modulusLength = 0, namedCurve = '' } = publicKey.asymmetricKeyDetails ?? {};
  if (publicKey.asymmetricKeyType === 'rsa') return modulusLength >= 2048;
  return publicKey.asymmetricKeyType === 'ec' && CURVES.has(namedCurve);
}

const untilOf = (pem: string) => new Date(new X509Certificate(pem).validTo);

/** The certificates that may have signed at this time. */
export const unexpired = (certificates: readonly string[], now: Date): string[] =>
  certificates.filter((pem) => untilOf(pem) > now);

export const shownCertificates = (certificates: readonly string[]) =>
  certificates.map((pem) => ({
    fingerprintSha256: new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: untilOf(pem).toISOString(),
  }));

/** Members whose change makes a connection that of another provider, so that its sessions end. */
const IDENTIFYING = ['issuerUrl', 'clientId', 'idpEntityId', 'ldapUrl', 'ldapSearchBase'] as const;

export const isOtherProvider = (before: SsoMembers, after: SsoMembers): boolean =>
  IDENTIFYING.some((name) => before[name] !== after[name]) ||
  JSON.stringify(before.idpCertificates) !== JSON.stringify(after.idpCertificates);

/** The server that gets the secret. Another one gets no secret that was written for this one. */
export const secretGoesTo = ({ issuerUrl, ldapUrl }: SsoMembers): string => issuerUrl ?? ldapUrl ?? '';

/** The scopes of a person in these groups. */
export function mappedScopes(
  { groupMappings, defaultScopes }: Pick<SsoMembers, 'groupMappings' | 'defaultScopes'>,
  groups: readonly string[],
): string[] {
  const matched = groups.filter((group) => Object.hasOwn(groupMappings, group));
  const scopes = matched.length > 0 ? matched.flatMap((group) => groupMappings[group] ?? []) : defaultScopes;
  return [...new Set(scopes)].sort();
}

/** The domain of an address, in the form of the DNS as far as its case goes. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/** A path of this service that a browser may be sent to: no other origin, in any reading of it. */
export function isOwnPath(path: string, base: string): boolean {
  if (!path.startsWith('/') || /[\\\s\p{Cc}]/u.test(path) || !URL.canParse(path, base)) return false;
  const url = new URL(path, base);
  return url.origin === new URL(base).origin && !path.startsWith('//') && !url.pathname.startsWith('//');
}

/** Where a login at a connection begins, below the address of the service. */
export const loginPath = (org: string, connection: string): string =>
  `/sso/login?${new URLSearchParams({ org, connection })}`;

/** The page where a person types the password of a directory. */
export const directoryPath = (state: string): string => `/sso/ldap?${new URLSearchParams({ state })}`;
