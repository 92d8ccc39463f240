import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Attribute, Change, Client } from 'ldapts';
import { onTestFinished } from 'vitest';
import { makeThrowAway, waitUntil } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import { accountForPostgres, giveTo } from '../../../../scripts/postgres/cluster.ts';
import certificate from '../app/localhost-certificate.json' with { type: 'json' };
import { debianProgram } from './debian-program.ts';

const DEBIAN = {
  name: 'slapd',
  path: 'usr/sbin/slapd',
  packages: [['slapd', 'libltdl7', 'libwrap0']],
  flags: ['-VV'],
} as const;

/** Fetches the server where the machine has none, which may take a minute. */
export const findSlapd = () => debianProgram(DEBIAN);

const BASE = 'dc=acme,dc=test';
export const directory = {
  base: BASE,
  people: `ou=people,${BASE}`,
  groups: `ou=groups,${BASE}`,
  bindDn: `cn=service,${BASE}`,
  bindPassword: 'the password of the service',
};

/** A directory, and the changes that its administrator makes. */
interface Directory {
  readonly url: string;
  readonly secureUrl: string;
  readonly add: Client['add'];
  readonly setPassword: (uid: string, password: string) => Promise<void>;
}

/**
 * An OpenLDAP server with two people and a group, with TLS for the name `localhost`. It ends with the test.
 */
export async function startSlapd(): Promise<Directory> {
  const { root, path, libraries } = await findSlapd();
  const home = makeThrowAway('slapd');
  const account = accountForPostgres();
  const port = await freePort();
  const url = `ldap://localhost:${port}`;
  const secureUrl = `ldaps://localhost:${await freePort()}`;
  const data = join(home, 'data');
  mkdirSync(data, { mode: 0o700 });
  const settings = join(home, 'slapd.conf');
  const [certificateFile, keyFile] = [join(home, 'certificate.pem'), join(home, 'key.pem')];
  writeFileSync(certificateFile, certificate.cert, { mode: 0o600 });
  writeFileSync(keyFile, certificate.key, { mode: 0o600 });
  const lines = [
    ...['core', 'cosine', 'inetorgperson'].map(
      (name) => `include ${join(root, 'etc/ldap/schema', `${name}.schema`)}`,
    ),
    `TLSCertificateFile ${certificateFile}`,
    `TLSCertificateKeyFile ${keyFile}`,
    'database ldif',
    `suffix "${BASE}"`,
    `rootdn "${directory.bindDn}"`,
    `rootpw "${directory.bindPassword}"`,
    `directory ${data}`,
  ];
  writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  for (const file of [data, settings, certificateFile, keyFile]) giveTo(account, file);
  const server = spawn(path, ['-d', '0', '-f', settings, '-h', `${url} ${secureUrl}`], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
    env: { LD_LIBRARY_PATH: libraries.join(':') },
  });
  const client = new Client({ url });
  onTestFinished(async () => {
    await client.unbind();
    const ended = once(server, 'exit');
    server.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  });
  const isUp = () =>
    client.bind(directory.bindDn, directory.bindPassword).then(
      () => true,
      () => false,
    );
  if (!(await waitUntil(isUp, { seconds: 20 }))) throw new Error('slapd does not start.');
  const person = (uid: string, more: Record<string, string> = {}) =>
    client.add(`uid=${uid},${directory.people}`, {
      objectClass: ['inetOrgPerson'],
      uid,
      cn: uid,
      sn: uid,
      mail: `${uid}@acme.test`,
      userPassword: `password of ${uid}`,
      ...more,
    });
  await client.add(BASE, { objectClass: ['domain'], dc: 'acme' });
  for (const ou of ['people', 'groups']) {
    await client.add(`ou=${ou},${BASE}`, { objectClass: ['organizationalUnit'], ou });
  }
  await person('ada', { displayName: 'Ada Lovelace' });
  await person('grace');
  await client.add(`cn=editors,${directory.groups}`, {
    objectClass: ['groupOfNames'],
    cn: 'editors',
    member: `uid=ada,${directory.people}`,
  });
  const setPassword = (uid: string, password: string) =>
    client.modify(
      `uid=${uid},${directory.people}`,
      new Change({
        operation: 'replace',
        modification: new Attribute({ type: 'userPassword', values: [password] }),
      }),
    );
  return { url, secureUrl, add: client.add.bind(client), setPassword };
}
