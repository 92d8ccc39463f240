import { createHash } from 'node:crypto';
import { type Authentication, secondOf } from '@behest/protocol/authentication';
import { isScope } from '@behest/protocol/scopes';
import { consoleRoles } from '../../../platform/capabilities.ts';
import { domainName } from '../../../platform/egress/urls.ts';
import { badField } from '../../../platform/errors.ts';
import { certificatesIn } from './certificates.rules.ts';
import { foldedName } from './ldap.rules.ts';
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
  /** Where the provider writes the address and the name. Null: under one of the names that are known. */
  readonly emailAttribute?: string | null;
  readonly nameAttribute?: string | null;
  readonly groupAttribute: string | null;
  readonly groupMappings: Readonly<Record<string, readonly string[]>>;
  readonly defaultScopes: readonly string[];
  /** Whether people come into the console of the account by the connection, and the role of each group there. */
  readonly consoleAccess?: boolean;
  readonly consoleGroupMappings?: Readonly<Record<string, ConsoleRole>>;
}

type ConsoleRole = (typeof consoleRoles)[number];

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
  'emailAttribute',
  'nameAttribute',
  'groupAttribute',
  'groupMappings',
  'defaultScopes',
  'consoleAccess',
  'consoleGroupMappings',
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
  const { idpCertificate, redirectUris, groupAttribute, groupMappings, defaultScopes, ...others } = rest;
  const { consoleGroupMappings, ...plain } = others;
  const after: SsoMembers = {
    ...before,
    ...plain,
    ...(idpCertificate !== undefined && { idpCertificates: certificatesIn(idpCertificate) }),
    ...(redirectUris !== undefined && { redirectUris: redirectUris ?? [] }),
    ...(groupAttribute !== undefined && { groupAttribute }),
    ...(groupMappings !== undefined && { groupMappings: groupMappings ?? {} }),
    ...(defaultScopes !== undefined && { defaultScopes: defaultScopes ?? [] }),
    ...(consoleGroupMappings !== undefined && { consoleGroupMappings: consoleGroupMappings ?? {} }),
  };
  for (const member of REQUIRED[protocol]) {
    const path = member === 'idpCertificates' ? 'idpCertificate' : member;
    if (after[member] === undefined) throw badField(path, 'required');
  }
  for (const [group, scopes] of Object.entries(after.groupMappings))
    mustBeScopes(`groupMappings.${group}`, scopes);
  mustBeFewScopes(after.groupMappings);
  mustBeScopes('defaultScopes', after.defaultScopes);
  if (protocol === 'ldap') {
    mustBeBases(after);
    mustBeFilters(after);
  }
  return after;
}

function mustBeScopes(path: string, scopes: readonly string[]): void {
  if (!scopes.every(isScope))
    throw badField(path, 'format', 'A scope has the form `<resource>:<permission>`.');
}

/** Distinct scopes of all groups of a connection. Each sign-in and consent compares them with what is asked for. */
const MAX_MAPPED_SCOPES = 1000;

function mustBeFewScopes(groupMappings: SsoMembers['groupMappings']): void {
  const { size } = new Set(Object.values(groupMappings).flat());
  if (size <= MAX_MAPPED_SCOPES) return;
  const message = `The groups of a connection map to ${MAX_MAPPED_SCOPES} different scopes at most, and these to ${size}. Use wildcards such as \`calendar:*\`.`;
  throw badField('groupMappings', 'too_large', message);
}

/** The test of a connection finds a wrong name. This finds what is none, such as the domain alone. */
function mustBeBases({ ldapSearchBase, ldapGroupSearchBase }: SsoMembers): void {
  for (const [name, base] of Object.entries({ ldapSearchBase, ldapGroupSearchBase })) {
    if (!base || base.includes('=')) continue;
    throw badField(name, 'format', 'Send the name of a branch, such as `ou=people,dc=example,dc=com`.');
  }
}

function mustBeFilters({ ldapSearchFilter = '', ldapGroupSearchFilter = '' }: SsoMembers): void {
  mustBeFilter('ldapSearchFilter', ldapSearchFilter, ['{{username}}']);
  mustBeFilter('ldapGroupSearchFilter', ldapGroupSearchFilter, ['{{dn}}', '{{username}}']);
}

/** Placeholders as other programs write them. Nothing here fills them, so the filter would find nobody. */
const OTHER_PLACEHOLDER = /[{}]|%[a-z(]/i;

/** @param placeholders the filter has to hold one of them: without it, it finds the same for everybody */
function mustBeFilter(name: string, filter: string, placeholders: readonly string[]): void {
  const written = placeholders.map((each) => `\`${each}\``).join(' or ');
  if (!placeholders.some((each) => filter.includes(each))) {
    throw badField(name, 'format', `The filter has to hold ${written}.`);
  }
  const rest = placeholders.reduce((text, each) => text.replaceAll(each, ''), filter);
  if (OTHER_PLACEHOLDER.test(rest)) {
    const message = `The filter holds a placeholder that nothing fills. Write ${written}, or escape the characters as in RFC 4515.`;
    throw badField(name, 'format', message);
  }
  if (!isBalanced(filter)) throw badField(name, 'format', 'The parentheses of the filter do not match.');
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

/** Members whose change makes a connection that of another provider, so that its sessions end. */
const IDENTIFYING = ['issuerUrl', 'clientId', 'idpEntityId', 'ldapUrl', 'ldapSearchBase'] as const;

export const isOtherProvider = (before: SsoMembers, after: SsoMembers): boolean =>
  IDENTIFYING.some((name) => before[name] !== after[name]) ||
  JSON.stringify(before.idpCertificates) !== JSON.stringify(after.idpCertificates);

/**
 * The provider whose subjects the identities of a connection are: the issuer, the entity id or the directory. A new
 * certificate or client leaves it as it is.
 */
export function providerOf({
  issuerUrl,
  idpEntityId,
  ldapUrl = '',
  ldapSearchBase = '',
}: SsoMembers): string {
  if (issuerUrl !== undefined) return issuerUrl.replace(/\/$/, '');
  if (idpEntityId !== undefined) return idpEntityId;
  const server = ldapUrl.replace(/^ldaps?:\/\//, '').replace(/(?::(?:389|636))?\/?$/, '');
  return `${server}/${ldapSearchBase
    .split(',')
    .map((part) => part.trim())
    .join(',')}`.toLowerCase();
}

/** The server that gets the secret. Another one gets no secret that was written for this one. */
export const secretGoesTo = ({ issuerUrl, ldapUrl }: SsoMembers): string => issuerUrl ?? ldapUrl ?? '';

/**
 * The scopes of a person in these groups, which were read. A group whose name is not mapped brings none; the default is
 * for a person with no mapped group at all. Names in a directory have no case.
 */
export function mappedScopes(
  { groupMappings, defaultScopes, ldapUrl }: Pick<SsoMembers, 'groupMappings' | 'defaultScopes' | 'ldapUrl'>,
  groups: readonly string[],
): string[] {
  const matched = valuesOf(groupMappings, groups, ldapUrl);
  const scopes = matched.length > 0 ? matched.flat() : defaultScopes;
  return [...new Set(scopes)].sort();
}

function valuesOf<T>(mapping: Readonly<Record<string, T>>, groups: readonly string[], ldapUrl?: string): T[] {
  const keyOf = ldapUrl === undefined ? (name: string) => name : foldedName;
  const held = new Set(groups.map(keyOf));
  return Object.entries(mapping).flatMap(([name, value]) => (held.has(keyOf(name)) ? [value] : []));
}

/** The role in the console of a person whom the provider named in these groups: the one that may most. */
export function consoleRoleOf(
  { consoleGroupMappings = {}, ldapUrl }: Pick<SsoMembers, 'consoleGroupMappings' | 'ldapUrl'>,
  groups: readonly string[],
): ConsoleRole | undefined {
  const held = valuesOf(consoleGroupMappings, groups, ldapUrl);
  return consoleRoles.find((role) => held.includes(role));
}

/** Members of a change that let nobody else into the console. */
const CONSOLE_STAYS: ReadonlySet<string> = new Set(['name', 'status', 'enforce']);

/** Whether a change says who comes into the console: by the switch, by a mapping, or by whom the connection believes. */
export function opensConsole(
  before: Pick<SsoMembers, 'consoleGroupMappings'>,
  after: SsoMembers,
  change: SsoConnectionChange,
): boolean {
  const textOf = ({ consoleGroupMappings = {} }: typeof before) => JSON.stringify(consoleGroupMappings);
  if (textOf(before) !== textOf(after)) return true;
  return after.consoleAccess === true && !Object.keys(change).every((name) => CONSOLE_STAYS.has(name));
}

/**
 * The domain of an address as the DNS has it: lower case, A-labels. Empty for a name before it that passes for another:
 * folded to lower case, `\u212A` is the letter `k`.
 */
export function domainOf(email: string): string {
  const at = email.lastIndexOf('@');
  const [name, said] = [email.slice(0, Math.max(at, 0)), email.slice(at + 1)];
  if (name !== name.normalize('NFKC')) return '';
  return domainName(said, { allowsSpecialUse: true }) ?? said.toLowerCase();
}

/** Whether a connection admits a person with this address. Its domains say whom it leaves out, and link nobody. */
export const isAdmitted = (domains: readonly string[], address: string | null | undefined): boolean =>
  domains.length === 0 || (typeof address === 'string' && domains.includes(domainOf(address)));

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

/** The sign-in at a provider that a session stands for. */
export type SignIn = Authentication;

interface SessionTimes {
  /** Null in sessions of the release before. */
  readonly authenticatedAt: Date | null;
  readonly createdAt: Date;
}

export const signInOf = ({
  authenticatedAt,
  createdAt,
  authMethods,
}: SessionTimes & { readonly authMethods: readonly string[] | null }): SignIn => ({
  at: authenticatedAt ?? secondOf(createdAt.getTime()),
  methods: authMethods ?? [],
});

/** The clock of a provider may be so far behind. */
export const SKEW_MS = 60_000;

/** Whether a session began with a sign-in that is late enough; null takes any. */
export const isSince = (
  { authenticatedAt, createdAt }: SessionTimes,
  since: Date | null,
  skewMs = SKEW_MS,
): boolean => since === null || (authenticatedAt ?? createdAt).getTime() + skewMs >= since.getTime();

export const LONGEST_NAME = 256; // characters of a `userName`

/** The name of a subject in the space of its connection, where no application has an id. */
export function nameWithin(connectionId: string, subject: string): string {
  const name = `${connectionId}|${subject}`;
  if (name.length <= LONGEST_NAME) return name;
  return `${connectionId}|sha256.${createHash('sha256').update(subject).digest('base64url')}`;
}
