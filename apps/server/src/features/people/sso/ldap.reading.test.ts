import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { GROUPS_ADVICE } from './advice.rules.ts';

const SERVICE = 'cn=svc,dc=corp';
const ADA = 'uid=ada,ou=people,dc=corp';
const PEOPLE = 'ou=people,dc=corp';
const GROUPS = 'ou=groups,dc=corp';

type Attributes = Readonly<Record<string, readonly (string | Buffer)[]>>;

async function startDirectory(members: object = {}) {
  let attributes: Attributes = {};
  let groups: { code?: number; count?: number } = {};
  const ldap = await startLdapServer({
    bind: () => ({ code: 0 }),
    search: (base) => {
      if (base === PEOPLE) return { entries: [{ dn: ADA, attributes }] };
      const entries = Array.from({ length: groups.count ?? 0 }, (_, index) => ({
        dn: `cn=g${index},${GROUPS}`,
        attributes: { CN: [`g${index}`] },
      }));
      return { entries, code: groups.code ?? 0 };
    },
  });
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const body = {
    name: 'Directory',
    protocol: 'ldap',
    ldapUrl: ldap.url,
    ldapBindDn: SERVICE,
    ldapBindPassword: 'svc-pass',
    ldapSearchBase: PEOPLE,
    ...members,
  };
  const { id: connectionId } = (await acme('POST', '/v1/sso/connections', body)).json();
  const signIn = (entry: Attributes = {}, found: typeof groups = {}, username = 'ada') => {
    attributes = { entryUUID: ['u-1'], ...entry };
    groups = found;
    const input = { username, password: 'pw', connectionId, org: acme.developerId };
    return service.app.inject({ method: 'POST', url: '/sso/callback/ldap', body: input });
  };
  const tried = async () => (await acme('POST', `/v1/sso/connections/${connectionId}/test`, {})).json();
  const refusals = async () =>
    (await entriesOf(acme, 'sso.login_failed')).map(({ metadata }) => Object(metadata));
  return { ldap, service, acme, signIn, tried, refusals };
}

test('K9, l02: the names of attributes have no case, and neither has a binary one', async () => {
  const { signIn } = await startDirectory({
    groupAttribute: 'memberof',
    groupMappings: { 'CN=Staff,OU=Groups,DC=corp': ['calendar:read'] },
    emailAttribute: 'USERPRINCIPALNAME',
  });
  const entry = { DisplayName: ['Ada'], userPrincipalName: ['ada@acme.test'] };
  const bytes = Buffer.from('00ff10fe00ff10fe00ff10fe00ff10fe', 'hex');

  expect(
    (
      await signIn({ ...entry, entryUUID: [], entryuuid: ['u-2'], memberOf: ['cn=staff, ou=groups,dc=corp'] })
    ).json(),
  ).toMatchObject({
    sub: 'u-2',
    email: 'ada@acme.test',
    name: 'Ada',
    groups: ['cn=staff, ou=groups,dc=corp'],
    mappedScopes: ['calendar:read'],
  });
  expect((await signIn({ ...entry, entryUUID: [], objectguid: [bytes] })).json().sub).toBe(
    bytes.toString('hex'),
  );
});

test('K4, l07: one of several addresses is in a domain of the connection, and a name comes in two parts', async () => {
  const { signIn } = await startDirectory({ domains: ['acme.test'] });
  const entry = { mail: ['ada@old.test', 'ada@acme.test'], givenName: ['Ada'], sn: ['King'] };

  expect((await signIn(entry)).json()).toMatchObject({ email: 'ada@acme.test', name: 'Ada King' });
  expect(refusalOf(await signIn({ mail: ['ada@old.test'] }))).toBe('403 SSO_DOMAIN_NOT_ALLOWED');
});

test('K3: a part of the groups is not all of them: it signs nobody in', async () => {
  const { signIn } = await startDirectory({
    groupAttribute: 'memberOf',
    ldapGroupSearchBase: GROUPS,
    groupMappings: { g1: ['calendar:read'] },
    defaultScopes: ['files:read'],
  });
  const causeOf = async (...input: Parameters<typeof signIn>) => {
    const { code, message, details } = (await signIn(...input)).json();
    return [code, message, details?.cause];
  };
  const refused = (cause: keyof typeof GROUPS_ADVICE) => ['SSO_AUTH_FAILED', GROUPS_ADVICE[cause], cause];

  expect(await causeOf({ 'memberOf;range=0-1499': ['cn=g1'], memberOf: [] })).toEqual(refused('range'));
  const all = { 'memberOf;range=0-*': ['cn=g1'], memberOf: [] };
  expect((await signIn(all)).json()).toMatchObject({ groups: ['cn=g1'] });
  expect(await causeOf({}, { count: 500, code: 4 })).toEqual(refused('size_limit'));
  expect(await causeOf({}, { count: 1001 })).toEqual(refused('too_many'));
  expect((await signIn({}, { count: 1000 })).json()).toMatchObject({ mappedScopes: ['calendar:read'] });
  expect((await signIn()).json()).toMatchObject({ groups: [], mappedScopes: ['files:read'] });
});

test('K3, K10: a filter for groups that finds the same for everybody, or nobody, is refused when it is set', async () => {
  const { acme } = await startDirectory();
  const [{ id }] = (await acme('GET', '/v1/sso/connections')).json().connections;
  const set = async (ldapGroupSearchFilter: string) => {
    const answer = await acme('PATCH', `/v1/sso/connections/${id}`, { ldapGroupSearchFilter });
    return answer.statusCode === 200 ? 200 : answer.json().details.fields[0].path;
  };
  const good = ['(member={{dn}})', '(&(objectClass=posixGroup)(memberUid={{username}}))'];
  const bad = [
    '(objectClass=groupOfNames)',
    '(member={{DN}})',
    '(&(member={{dn}})(ou={{tenant}}))',
    '(&(member={{dn}})(uid=%s))',
    '(|(member={{dn}})(memberUid={0}))',
    '(member={{dn}}',
  ];

  for (const filter of good) expect(`${filter} ${await set(filter)}`).toBe(`${filter} 200`);
  for (const filter of bad) expect(`${filter} ${await set(filter)}`).toBe(`${filter} ldapGroupSearchFilter`);
  const search = await acme('PATCH', `/v1/sso/connections/${id}`, {
    ldapSearchFilter: '(&(uid={{username}})(member={{dn}}))',
  });
  expect(search.json().message).toContain('a placeholder that nothing fills');
  for (const name of ['ldapSearchBase', 'ldapGroupSearchBase']) {
    const base = await acme('PATCH', `/v1/sso/connections/${id}`, { [name]: 'corp.example.com' });
    expect([base.statusCode, base.json().details.fields[0].path]).toEqual([400, name]);
  }
});

const dataOf = (data: string) => `80090308: LdapErr: DSID-0C090447, comment: error, data ${data}, v4563`;

test('K6, l08: a refused password has the reason that the directory names', async () => {
  const { ldap, service, signIn, refusals } = await startDirectory();
  const cases: readonly (readonly [reason: string, code: number, message?: string])[] = [
    ['password', 49, dataOf('52e')],
    ['logon_hours', 49, dataOf('530')],
    ['workstation', 49, dataOf('531')],
    ['password_expired', 49, dataOf('532')],
    ['account_disabled', 49, dataOf('533')],
    ['account_expired', 49, dataOf('701')],
    ['password_must_change', 49, dataOf('773')],
    ['account_locked', 49, dataOf('775')],
    ['account_locked', 19, 'Exceed password retry limit. Please try later.'],
    ['account_disabled', 53, 'Account inactivated. Contact system administrator.'],
    ['unwilling_to_perform', 53],
    ['password', 32],
  ];
  for (const [index, [reason, code, message = '']] of cases.entries()) {
    ldap.behaviour.bind = (dn) => (dn === SERVICE ? { code: 0 } : { code, message });
    expect(`${reason}: ${refusalOf(await signIn({}, {}, `ada${index}`))}`).toBe(
      `${reason}: 401 SSO_AUTH_FAILED`,
    );
    service.advance(60); // the log has the first refusal of each minute
  }
  const entries = await refusals();
  expect(entries.map(({ reason }) => reason).toSorted()).toEqual(cases.map(([reason]) => reason).toSorted());
  expect(entries.filter(({ message }) => typeof message !== 'string')).toEqual([]);

  ldap.behaviour.bind = (dn) => ({ code: dn === SERVICE ? 0 : 51 });
  expect(refusalOf(await signIn())).toBe('502 SSO_ERROR unavailable');
});

test('K6, l04: a test says why the directory refused the account of the service', async () => {
  const { ldap, tried } = await startDirectory();
  const cases: readonly (readonly [error: string, words: string, code: number, message?: string])[] = [
    ['tls_required', 'ldaps:', 8],
    ['tls_required', 'ldapTlsEnabled', 13],
    ['bind', '`ldapBindDn` with its password', 49, dataOf('52e')],
    ['bind_password_expired', 'has expired', 49, dataOf('532')],
    ['bind_account_locked', 'locked', 19],
    ['bind_unwilling_to_perform', 'code 53', 53],
    ['bind_dn', 'not a name', 34],
    ['bind_method', 'with a password', 48],
    ['unavailable', 'busy', 51],
  ];
  for (const [error, words, code, message = ''] of cases) {
    ldap.behaviour.bind = () => ({ code, message });
    expect(await tried()).toMatchObject({ success: false, error, message: expect.stringContaining(words) });
  }
  ldap.behaviour.bind = () => ({ code: 0 });
  ldap.behaviour.search = () => ({ code: 50 });
  expect(await tried()).toMatchObject({ error: 'search_access' });
});

/** An entry as a directory sends it. */
interface LdapEntry {
  readonly dn: string;
  readonly attributes: Readonly<Record<string, readonly (string | Buffer)[]>>;
}

interface Behaviour {
  /** The answer to a bind: a result code, and the message beside it. */
  bind: (dn: string, password: string) => { readonly code: number; readonly message?: string };
  /** The answer to a search below this base. */
  search: (base: string) => { readonly entries?: readonly LdapEntry[]; readonly code?: number };
}

const lengthOf = (length: number): Buffer =>
  length < 128 ? Buffer.of(length) : Buffer.of(0x83, length >> 16, (length >> 8) & 255, length & 255);
const tlv = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
};
const octets = (text: string | Buffer, tag = 0x04) => tlv(tag, Buffer.from(text));

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly end: number;
}

/** The element at a place of BER, once all of it has come. */
function elementAt(bytes: Buffer, at: number): Element | undefined {
  if (bytes.length < at + 2) return undefined;
  const first = bytes.readUInt8(at + 1);
  const more = first < 128 ? 0 : first & 127;
  const start = at + 2 + more;
  if (bytes.length < start) return undefined;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  if (bytes.length < start + length) return undefined;
  return { tag: bytes.readUInt8(at), content: bytes.subarray(start, start + length), end: start + length };
}

function elementsIn(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0, next = elementAt(bytes, 0); next; next = elementAt(bytes, at)) {
    elements.push(next);
    at = next.end;
  }
  return elements;
}

const resultOf = (tag: number, code: number, message = '') =>
  tlv(tag, tlv(0x0a, Buffer.of(code)), octets(''), octets(message));

const entryOf = ({ dn, attributes }: LdapEntry) => {
  const listed = Object.entries(attributes).map(([name, values]) =>
    tlv(0x30, octets(name), tlv(0x31, ...values.map((value) => octets(value)))),
  );
  return tlv(0x64, octets(dn), tlv(0x30, ...listed));
};

/** A directory that answers what a test makes it answer (RFC 4511), for answers that OpenLDAP does not give. */
async function startLdapServer(behaviour: Behaviour) {
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let message = elementAt(bytes, 0); message; message = elementAt(bytes, 0)) {
        bytes = bytes.subarray(message.end);
        const [id, operation] = elementsIn(message.content);
        const say = (part: Buffer) => socket.write(tlv(0x30, tlv(0x02, id?.content ?? Buffer.of(0)), part));
        const parts = operation ? elementsIn(operation.content) : [];
        const textAt = (index: number) => String(parts[index]?.content ?? '');
        if (operation?.tag === 0x60) {
          const { code, message: said } = behaviour.bind(textAt(1), textAt(2));
          say(resultOf(0x61, code, said));
        } else if (operation?.tag === 0x63) {
          const { entries = [], code = 0 } = behaviour.search(textAt(0));
          for (const entry of entries) say(entryOf(entry));
          say(resultOf(0x65, code));
        } else socket.end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `ldap://127.0.0.1:${Object(server.address()).port}`, behaviour };
}
