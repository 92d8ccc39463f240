import { domainOf, type SsoMembers } from './sso.rules.ts';

/** Why the groups of a person could not be read. */
export type GroupsFault = 'overage' | 'range' | 'size_limit' | 'too_many' | 'too_long' | 'form' | 'userinfo';

/** The groups of a person. A fault is not "no groups": nobody knows then which scopes the person has. */
export type GroupsRead = { readonly groups: string[] } | { readonly fault: GroupsFault };

type Claims = Readonly<Record<string, unknown>>;

const MAX_GROUPS = 1000;
const LONGEST_GROUP = 1024; // characters; a DN of Active Directory passes 256

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** The names of groups in a claim or attribute: a list, one text, or a list written as JSON. */
export function groupsIn(value: unknown): GroupsRead {
  if (isAbsent(value)) return { groups: [] };
  const said = (Array.isArray(value) ? value : [value]).flatMap(listIn);
  const isReadable = said.every((group) => typeof group === 'string' || Number.isSafeInteger(group));
  if (!isReadable) return { fault: 'form' };
  const groups = [...new Set(said.map((group) => String(group).trim()))].filter((group) => group !== '');
  if (groups.length > MAX_GROUPS) return { fault: 'too_many' };
  return groups.some((group) => group.length > LONGEST_GROUP) ? { fault: 'too_long' } : { groups };
}

/** Custom attributes of some providers hold texts only, so that a list comes as JSON. */
function listIn(value: unknown): unknown[] {
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return [value];
  try {
    return [JSON.parse(value)].flat();
  } catch {
    return [value]; // the name of a group may begin with a bracket
  }
}

/** The first source that says something of a claim, which may be a path. */
const claimIn = (sources: readonly Claims[], path: string): unknown =>
  sources.map((source) => claimAt(source, path)).find((value) => !isAbsent(value));

/** Reads the groups of a person from the claims of a token, or else from those of another source. */
export function groupsOfClaims(sources: readonly Claims[], attribute: string): GroupsRead {
  const value = claimIn(sources, attribute);
  if (value !== undefined) return groupsIn(value);
  return sources.some((source) => isOverage(source, attribute)) ? { fault: 'overage' } : { groups: [] };
}

/**
 * Whether a provider says that it left the attribute out, because it has too many values: Entra ID names the place to ask
 * for them (OpenID Connect Core 1.0, section 5.6.2), or says `hasgroups`.
 */
function isOverage(claims: Claims, attribute: string): boolean {
  const { _claim_names: elsewhere } = claims;
  const names = hasGroups(attribute) ? [attribute, 'groups'] : [attribute];
  const isElsewhere = names.some((name) => Object.hasOwn(Object(elsewhere), name));
  const isSaid = ([name, value]: [string, unknown]) =>
    hasGroups(attribute) && name.toLowerCase() === 'hasgroups' && String(value).toLowerCase() === 'true';
  const isLinked = Object.keys(claims).some((name) => isLinkTo(name, attribute));
  return isElsewhere || isLinked || Object.entries(claims).some(isSaid);
}

/** Entra ID calls groups by its own name for them, whatever the attribute's is. Roles of an application are none of them. */
const hasGroups = (attribute: string): boolean => /group|member/i.test(attribute.split(/[./:]/).at(-1) ?? '');

/** The name under which Entra ID puts an address in the place of the attribute. */
const isLinkTo = (name: string, attribute: string): boolean =>
  name === `${attribute}.link` ||
  (hasGroups(attribute) && /(?:^|\/)groups(?:\.link|:src\d+)$/i.test(name)) ||
  (name.startsWith(`${attribute}:src`) && /^\d+$/.test(name.slice(attribute.length + 4)));

/** Attributes of a person in an assertion. */
export interface Attributes {
  readonly all: ReadonlyMap<string, readonly string[]>;
  /** Finds the values of an attribute, by a name that has no case. */
  readonly valuesOf: (name: string) => readonly string[];
}

/** Reads the groups of a person from the attributes of an assertion. */
export function groupsOfAttributes({ all, valuesOf }: Attributes, attribute: string): GroupsRead {
  const values = valuesOf(attribute).filter((value) => value.trim() !== '');
  if (values.length > 0) return groupsIn(values);
  return [...all.keys()].some((name) => isLinkTo(name, attribute)) ? { fault: 'overage' } : { groups: [] };
}

const MAX_STEPS = 8;

/**
 * A claim by its name, or by the path to it, such as `realm_access.roles`. A name may have dots itself. `null` is a claim
 * that is left out, so that userinfo and the directory are asked for it.
 */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path] ?? undefined;
  const parts = path.split('.');
  if (parts.length > MAX_STEPS) return undefined;
  for (let end = 1; end < parts.length; end += 1) {
    const name = parts.slice(0, end).join('.');
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue;
    const found = claimAt({ ...inner }, parts.slice(end).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

const LONGEST_ADDRESS = 320; // RFC 5321, section 4.5.3.1

/**
 * The address of a person among several: one that a connection admits, or else the first.
 * @param values as the provider wrote them, which may be no address
 */
export function addressAmong(values: readonly unknown[], domains: readonly string[]): string | null {
  const addresses = values.flatMap((value) => {
    const text = typeof value === 'string' ? value.trim().replace(/^(?:smtp|mailto):/i, '') : '';
    return text.length <= LONGEST_ADDRESS && /^[^\s@]\S*@[^\s@]+$/.test(text) ? [text] : [];
  });
  return addresses.find((address) => domains.includes(domainOf(address))) ?? addresses[0] ?? null;
}

/** The names by which providers say that they have not verified an address: of claims, and of SAML attributes. */
const VERIFIED = /(?:^|[/:._-])(?:e-?mail[_-]?verified|verified[_-]?e-?mail|xms_edov)$/i;
const NO = new Set(['false', '0', 'no']);

/**
 * Whether a provider says itself that it has not verified the address of a person. Such an address counts for nothing,
 * as if it were not there. A provider that says nothing of it may be right.
 */
export const isCalledUnverified = (claims: Iterable<readonly [name: string, value: unknown]>): boolean =>
  [...claims].some(([name, value]) => {
    if (VERIFIED.test(name)) return [value].flat().some((each) => NO.has(String(each).trim().toLowerCase()));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && isCalledUnverified(Object.entries(value));
  });

const LONGEST_NAME = 256; // characters

interface NameParts {
  /** Whole names, the best first. */
  readonly whole: readonly unknown[];
  readonly given?: unknown;
  readonly family?: unknown;
}

/** The name of a person. Some providers write the sign-in name where others write what people are called. */
export function nameAmong({ whole, given, family }: NameParts): string | null {
  const names = whole.map(wordsIn).filter((name) => name !== '');
  const joined = [given, family].map(wordsIn).join(' ').trim();
  const name = names.find((each) => !each.includes('@')) ?? (joined === '' ? names[0] : joined);
  return name === undefined ? null : [...name].slice(0, LONGEST_NAME).join('');
}

const wordsIn = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The claims that name a person, for a connection that may say where they are. */
const EMAIL_CLAIMS = ['email', 'emails'];
const NAME_CLAIMS = ['name', 'displayName', 'display_name'];

/** The address and name of a person in the claims of a token, or else of another source. */
export function personInClaims(
  sources: readonly Claims[],
  { emailAttribute, nameAttribute }: Pick<SsoMembers, 'emailAttribute' | 'nameAttribute'>,
  domains: readonly string[],
) {
  const claim = (path: string) => claimIn(sources, path);
  const emails = (emailAttribute ? [emailAttribute] : EMAIL_CLAIMS).map(claim);
  const [given, family] = nameAttribute ? [] : ['given_name', 'family_name'].map(claim);
  const isUnverified = sources.some((source) => isCalledUnverified(Object.entries(source)));
  const said = [emails.find((email) => email !== undefined)].flat();
  return {
    email: isUnverified ? null : addressAmong(said, domains),
    isUnverified,
    name: nameAmong({ whole: (nameAttribute ? [nameAttribute] : NAME_CLAIMS).map(claim), given, family }),
  };
}

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
