import type { Client, ClientOptions, Entry } from 'ldapts';
import type { Sockets } from '../../../platform/egress/egress.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { subjectOf } from '../../../platform/http/limits/rates.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { callerFor, reporting, type SignInClient } from './callback.ts';
import { addressAmong, type GroupsRead, groupsIn, nameAmong } from './claims.rules.ts';
import type { SsoDeps } from './deps.ts';
import { badState } from './flight.ts';
import { type OpenedSession, openSsoSession } from './identity.ts';
import { attributesIn, bindFault, comparedName, escapeDn, failureAt, filterWith } from './ldap.rules.ts';
import type { LdapLogin } from './login.schema.ts';
import { authFailed, type Claimed, idpBroken, mustBeRead } from './outcomes.ts';
import { membersOf, openSecret } from './secrets.ts';
import { type ConnectionRow, findConnection } from './sso.repo.ts';

const TIMEOUT = 10_000; // milliseconds
const MAX_FAILURES = 5;
const MAX_OF_STRANGERS = 20;
const KNOWN_SECONDS = 30 * 86_400;
const FAILURE_SECONDS = 900;

/**
 * Signs a person in with the password of a directory.
 * @param input with the version of the connection where a browser began at an earlier time
 * @throws as `openSsoSession`, BAD_REQUEST, RATE_LIMITED, SSO_ERROR
 */
export async function takePassword(
  deps: SsoDeps,
  input: LdapLogin & { readonly version?: number },
  { requestId, address }: Pick<SignInClient, 'requestId' | 'address'>,
): Promise<OpenedSession> {
  const { org: developerId, connectionId, username, password, version } = input;
  const row = await findConnection(deps.db, { developerId }, connectionId);
  if (!row || row.status === 'inactive' || row.protocol !== 'ldap') throw notFound();
  if (version !== undefined && row.version !== version) throw badState();
  const caller = await callerFor(deps, { developerId }, connectionId, requestId);
  const attempt = await countAttempt(deps, { connectionId, username, address });
  const opened = await reporting(deps, caller, row, async () => {
    // A directory takes a bind without a password for an anonymous one, and says that it succeeded (RFC 4513, 5.1.2).
    if (password === '') throw authFailed('empty_password');
    return openSsoSession(deps, caller, row, await personIn(deps, row, { username, password }));
  });
  await attempt.succeeded();
  return opened;
}

interface Attempt extends Pick<LdapLogin, 'connectionId' | 'username'> {
  readonly address: string;
}

/**
 * Counts an attempt as a failure until it has succeeded: for the person at one address, and at all addresses together
 * from which the person has not signed in lately. So nobody keeps a person out who is where they usually are, and many
 * addresses do not guess without end.
 * @throws RATE_LIMITED
 */
async function countAttempt({ store }: SsoDeps, { connectionId, username, address }: Attempt) {
  const subject = hashOf(`${connectionId}\n${comparedName(username)}`).toString('base64url');
  const own = `bh:{sso:${subject}}:passwords`;
  const here = hashOf(subjectOf(address)).toString('base64url');
  const known = { key: `${own}:known:${here}`, value: '1', seconds: KNOWN_SECONDS };
  const owner = newSecret();
  const atAddress = { key: `${own}:${here}`, owner, most: MAX_FAILURES, seconds: FAILURE_SECONDS };
  const elsewhere = { key: own, owner, most: MAX_OF_STRANGERS, seconds: FAILURE_SECONDS };
  const isKnown = (await store.get(known.key)) !== undefined;
  const slots = isKnown ? [atAddress] : [atAddress, elsewhere];
  for (const slot of slots) {
    if (await store.takeSlot(slot)) continue;
    if (slot === elsewhere) await store.freeSlot(atAddress); // this attempt is none
    const message = 'Too many wrong passwords for this person. Try again later.';
    throw new AppError('RATE_LIMITED', message, { retryAfter: FAILURE_SECONDS });
  }
  return {
    async succeeded() {
      for (const slot of slots) await store.freeSlot(slot);
      await store.put([known]);
    },
  };
}

/** A connection of its own for each bind. Certificates are checked always. @throws SSO_ERROR */
async function clientOf(deps: SsoDeps, row: ConnectionRow): Promise<Client> {
  const { ldapUrl = '', ldapTlsEnabled = false } = membersOf(row);
  const located = await deps.upstream.locate(ldapUrl.replace(/^ldaps?:/, 'https:'));
  if (located.failure !== undefined) throw idpBroken(located.failure);
  const { Client: Library } = await import('ldapts');
  const client = new Library({
    url: ldapUrl,
    timeout: TIMEOUT,
    connectTimeout: TIMEOUT,
    ...dialling(located),
  });
  if (ldapUrl.startsWith('ldap:') && ldapTlsEnabled) {
    await orBroken('start_tls', () => client.startTLS({ servername: new URL(ldapUrl).hostname }));
  }
  return client;
}

type Dialling = Required<Pick<ClientOptions, 'createConnection' | 'createSecureConnection'>>;
type TlsOptions = Parameters<Sockets['secure']>[0];

/** The library types these as every form of Node's functions, and calls one or two. */
function dialling({ plain, secure }: Sockets): Dialling {
  const connect = (port: number, host: string) => plain(port, host);
  const connectTls = (first: number | TlsOptions, host: string) =>
    secure(typeof first === 'number' ? { port: first, host } : first);
  return {
    createConnection: connect as Dialling['createConnection'],
    createSecureConnection: connectTls as Dialling['createSecureConnection'],
  };
}

/** @throws SSO_ERROR in place of whatever the directory or the network said */
async function orBroken<T>(reason: string, work: () => Promise<T>): Promise<T> {
  const { ResultCodeError } = await import('ldapts');
  try {
    return await work();
  } catch (error) {
    throw idpBroken(failureAt(reason, error, error instanceof ResultCodeError));
  }
}

/** Works with a connection, and ends it. */
async function withClient<T>(
  deps: SsoDeps,
  row: ConnectionRow,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await clientOf(deps, row);
  try {
    return await work(client);
  } finally {
    await client.unbind().catch(() => {}); // the answer is known
  }
}

/** Binds as the service. @throws SSO_ERROR */
async function asService<T>(
  deps: SsoDeps,
  row: ConnectionRow,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { ldapBindDn = '' } = membersOf(row);
  const password = openSecret(deps, row);
  return withClient(deps, row, async (client) => {
    await orBroken('bind', () => client.bind(ldapBindDn, password));
    return work(client);
  });
}

const IDS = ['entryUUID', 'objectGUID'];
/** The library compares these by case, and a directory may answer in any. */
const BINARY = ['objectGUID', 'objectguid', 'ObjectGUID', 'OBJECTGUID'];

interface Typed {
  readonly username: string;
  readonly password: string;
}

/** @throws SSO_AUTH_FAILED, SSO_ERROR */
async function personIn(deps: SsoDeps, row: ConnectionRow, { username, password }: Typed): Promise<Claimed> {
  const members = membersOf(row);
  const { ldapSearchBase = '', ldapSearchFilter = '', groupAttribute } = members;
  const emailName = members.emailAttribute ?? 'mail';
  const nameNames = members.nameAttribute ? [members.nameAttribute] : ['displayName', 'cn'];
  const { entries, read } = await asService(deps, row, async (client) => {
    const { searchEntries } = await orBroken('search', () =>
      client.search(ldapSearchBase, {
        scope: 'sub',
        filter: filterWith(ldapSearchFilter, { username }),
        sizeLimit: 2,
        attributes: [
          emailName,
          ...nameNames,
          'givenName',
          'sn',
          ...IDS,
          ...(groupAttribute === null ? [] : [groupAttribute]),
        ],
        explicitBufferAttributes: BINARY,
      }),
    );
    const [only] = searchEntries;
    const isOnly = only && searchEntries.length === 1;
    const read = isOnly ? await groupsOf(client, row, only, username) : undefined;
    return { entries: searchEntries, read };
  });
  const [entry, other] = entries;
  const isOne = entry !== undefined && other === undefined;
  // A bind also for a name that nobody has, so that the time tells nothing.
  const dn = isOne ? entry.dn : `cn=${escapeDn(newSecret())},${ldapSearchBase}`;
  const fault = await withClient(deps, row, (client) => passwordFault(client, dn, password));
  if (!isOne) throw authFailed(entry ? 'ambiguous_entry' : 'unknown_user');
  if (fault !== undefined) throw authFailed(fault);
  const { valuesOf } = attributesIn(entry);
  const [given, family] = members.nameAttribute ? [] : ['givenName', 'sn'].map((name) => valuesOf(name)[0]);
  const id = IDS.map((name) => valuesOf(name)[0]).find((value) => value !== undefined) ?? entry.dn;
  return {
    subject: id,
    idpSubject: id,
    email: addressAmong(valuesOf(emailName), row.domains),
    name: nameAmong({ whole: nameNames.flatMap(valuesOf), given, family }),
    groups: mustBeRead(read ?? { groups: [] }),
    methods: ['pwd'],
  };
}

/**
 * @returns undefined for the right password
 * @throws SSO_ERROR when the directory said nothing of the password
 */
async function passwordFault(client: Client, dn: string, password: string): Promise<string | undefined> {
  const { ResultCodeError } = await import('ldapts');
  try {
    await client.bind(dn, password);
    return undefined;
  } catch (error) {
    const isRefusal = error instanceof ResultCodeError;
    const fault = isRefusal ? bindFault(error) : undefined;
    if (fault !== undefined) return fault;
    throw idpBroken(failureAt('person_bind', error, isRefusal));
  }
}

/** The names of the groups: from a search, and from the entry itself. */
async function groupsOf(
  client: Client,
  row: ConnectionRow,
  entry: Entry,
  username: string,
): Promise<GroupsRead> {
  const { groupAttribute, ldapGroupSearchBase, ldapGroupSearchFilter = '' } = membersOf(row);
  const { valuesOf, isPart } = attributesIn(entry);
  if (groupAttribute !== null && isPart(groupAttribute)) return { fault: 'range' };
  const named = groupAttribute === null ? [] : valuesOf(groupAttribute);
  if (!ldapGroupSearchBase) return groupsIn(named);
  const { SizeLimitExceededError } = await import('ldapts');
  const filter = filterWith(ldapGroupSearchFilter, { dn: entry.dn, username });
  // Without a size of ours: with one, the library takes the first part of the groups for all of them.
  const found = await orBroken('group_search', async () => {
    try {
      return await client.search(ldapGroupSearchBase, { scope: 'sub', filter, attributes: ['cn'] });
    } catch (error) {
      if (error instanceof SizeLimitExceededError) return undefined;
      throw error;
    }
  });
  if (!found) return { fault: 'size_limit' };
  return groupsIn([...named, ...found.searchEntries.flatMap((group) => attributesIn(group).valuesOf('cn'))]);
}

/** Binds as the service, and looks for the search base. @throws SSO_ERROR with the step that failed */
export async function tryDirectory(deps: SsoDeps, row: ConnectionRow): Promise<string> {
  const { ldapSearchBase = '' } = membersOf(row);
  await asService(deps, row, (client) =>
    orBroken('search_base', () => client.search(ldapSearchBase, { scope: 'base', sizeLimit: 1 })),
  );
  return ldapSearchBase;
}
