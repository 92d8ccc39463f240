import type { Client, ClientOptions, Entry } from 'ldapts';
import type { Sockets } from '../../../platform/egress/sockets.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { callerFor, reporting } from './sso.callback.service.ts';
import type { SsoDeps } from './sso.deps.service.ts';
import { badState } from './sso.flight.service.ts';
import { type OpenedSession, openSsoSession } from './sso.identity.service.ts';
import { escapeDn, failureAt, filterWith } from './sso.ldap.rules.ts';
import type { LdapAnswer } from './sso.login.schema.ts';
import { groupsIn } from './sso.oidc.service.ts';
import { authFailed, type Claimed, idpBroken } from './sso.outcomes.service.ts';
import { type ConnectionRow, findConnection } from './sso.repo.ts';
import { membersOf, openSecret } from './sso.secrets.service.ts';

const TIMEOUT = 10_000; // milliseconds
const MOST_FAILURES = 5;
const FAILURE_SECONDS = 900;

/**
 * Signs a person in with the password of a directory.
 * @param input with the version of the connection where a browser began at an earlier time
 * @throws as `openSsoSession`, BAD_REQUEST, RATE_LIMITED, SSO_ERROR
 */
export async function takePassword(
  deps: SsoDeps,
  input: LdapAnswer & { readonly version?: number },
  requestId: string,
): Promise<OpenedSession> {
  const { org: developerId, connectionId, username, password, version } = input;
  const row = await findConnection(deps.db, { developerId }, connectionId);
  if (!row || row.status === 'inactive' || row.protocol !== 'ldap') throw notFound();
  if (version !== undefined && row.version !== version) throw badState();
  const caller = await callerFor(deps, { developerId }, connectionId, requestId);
  const attempt = await countAttempt(deps, connectionId, username);
  const opened = await reporting(deps, caller, row, async () => {
    // A directory takes a bind without a password for an anonymous one, and says that it succeeded (RFC 4513, 5.1.2).
    if (password === '') throw authFailed('empty_password');
    return openSsoSession(deps, caller, row, await personIn(deps, row, { username, password }));
  });
  await attempt.succeeded();
  return opened;
}

/** Counts an attempt as a failure until it has succeeded. @throws RATE_LIMITED */
async function countAttempt({ store }: SsoDeps, connectionId: string, username: string) {
  const subject = hashOf(`${connectionId}\n${username.toLowerCase()}`).toString('base64url');
  const slot = { key: `bh:{sso:${subject}}:passwords`, owner: newSecret() };
  if (!(await store.takeSlot({ ...slot, most: MOST_FAILURES, seconds: FAILURE_SECONDS }))) {
    const message = 'Too many wrong passwords for this person. Try again later.';
    throw new AppError('RATE_LIMITED', message, { retryAfter: FAILURE_SECONDS });
  }
  return { succeeded: () => store.freeSlot(slot) };
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

interface Typed {
  readonly username: string;
  readonly password: string;
}

/** @throws SSO_AUTH_FAILED, SSO_ERROR */
async function personIn(deps: SsoDeps, row: ConnectionRow, { username, password }: Typed): Promise<Claimed> {
  const members = membersOf(row);
  const { ldapSearchBase = '', ldapSearchFilter = '', groupAttribute } = members;
  const { entries, groups } = await asService(deps, row, async (client) => {
    const { searchEntries } = await orBroken('search', () =>
      client.search(ldapSearchBase, {
        scope: 'sub',
        filter: filterWith(ldapSearchFilter, 'username', username),
        sizeLimit: 2,
        attributes: [
          'mail',
          'cn',
          'displayName',
          ...IDS,
          ...(groupAttribute === null ? [] : [groupAttribute]),
        ],
        explicitBufferAttributes: ['objectGUID'],
      }),
    );
    const [only] = searchEntries;
    const found = only && searchEntries.length === 1 ? await groupsOf(client, row, only) : [];
    return { entries: searchEntries, groups: found };
  });
  const [entry, other] = entries;
  const isOne = entry !== undefined && other === undefined;
  // A bind also for a name that nobody has, so that the time tells nothing.
  const dn = isOne ? entry.dn : `cn=${escapeDn(newSecret())},${ldapSearchBase}`;
  const isRight = await withClient(deps, row, (client) => isPassword(client, dn, password));
  if (!isOne || !isRight) throw authFailed(isOne ? 'password' : entry ? 'ambiguous_entry' : 'unknown_user');
  const id = IDS.map((name) => valuesOf(entry, name)[0]).find((value) => value !== undefined) ?? entry.dn;
  return {
    subject: id,
    idpSubject: id,
    email: valuesOf(entry, 'mail')[0] ?? null,
    name: valuesOf(entry, 'displayName')[0] ?? valuesOf(entry, 'cn')[0] ?? null,
    groups,
    methods: ['pwd'],
  };
}

/** @throws SSO_ERROR when the directory said something else than yes or no */
async function isPassword(client: Client, dn: string, password: string): Promise<boolean> {
  const { InvalidCredentialsError, NoSuchObjectError } = await import('ldapts');
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof InvalidCredentialsError || error instanceof NoSuchObjectError) return false;
    throw idpBroken('bind');
  }
}

/** The names of the groups: from a search, or from the entry itself. */
async function groupsOf(client: Client, row: ConnectionRow, entry: Entry): Promise<string[]> {
  const { groupAttribute, ldapGroupSearchBase, ldapGroupSearchFilter = '' } = membersOf(row);
  const named = groupAttribute === null ? [] : valuesOf(entry, groupAttribute);
  if (!ldapGroupSearchBase) return groupsIn(named);
  const { searchEntries } = await orBroken('group_search', () =>
    client.search(ldapGroupSearchBase, {
      scope: 'sub',
      filter: filterWith(ldapGroupSearchFilter, 'dn', entry.dn),
      sizeLimit: 1000,
      attributes: ['cn'],
    }),
  );
  return groupsIn([...named, ...searchEntries.flatMap((group) => valuesOf(group, 'cn'))]);
}

const valuesOf = (entry: Entry, name: string): string[] =>
  [entry[name] ?? []]
    .flat()
    .map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value)))
    .filter((value) => value !== '');

/** Binds as the service, and looks for the search base. @throws SSO_ERROR with the step that failed */
export async function tryDirectory(deps: SsoDeps, row: ConnectionRow): Promise<string> {
  const { ldapSearchBase = '' } = membersOf(row);
  await asService(deps, row, (client) =>
    orBroken('search_base', () => client.search(ldapSearchBase, { scope: 'base', sizeLimit: 1 })),
  );
  return ldapSearchBase;
}
