import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest, BehestAdmin } from '@behest/sdk';
import { expect, test } from 'vitest';
import { CALLS } from '../../packages/sdk/src/api/calls.gen.ts';
import type { CallRow } from '../../packages/sdk/src/api/rows.ts';
import { VERSION } from '../../packages/sdk/src/client/version.ts';
import { EXEMPT, NAMINGS, OF_BROWSERS, OF_PROGRAMS } from '../../scripts/generate/sdk/names.ts';
import { type Description, exemptionOf } from '../../scripts/generate/sdk/operations.ts';

const ROOT = join(import.meta.dirname, '../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const description: Description = readJson('openapi.json');

const described = Object.entries(description.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, { operationId = '', security = [] }]) => ({
    id: operationId,
    sends: `${verb.toUpperCase()} ${path}`,
    credential: Object.keys(security[0] ?? {})[0],
  })),
);
const rows: Readonly<Record<string, CallRow>> = CALLS;

/** A client that notes what it would send. */
function noting() {
  const sent: { method: string; path: string; headers: Headers; body: unknown }[] = [];
  const options = {
    baseUrl: 'https://auth.example/prefix/',
    fetch: async (url: string, init: RequestInit) => {
      const { pathname } = new URL(url);
      const body = init.body === undefined ? undefined : JSON.parse(String(init.body));
      sent.push({ method: String(init.method), path: pathname, headers: new Headers(init.headers), body });
      return Response.json({});
    },
  };
  const behest = new Behest({ ...options, apiKey: 'bh_test_key' });
  return { behest, admin: new BehestAdmin({ ...options, adminKey: 'operator-key' }), sent };
}

type Clients = Omit<ReturnType<typeof noting>, 'sent'>;

/** Finds the method of a row. */
function methodOf(
  { behest, admin }: Clients,
  { method: name, as }: CallRow,
): ((...args: unknown[]) => unknown) | undefined {
  const [area, own] = name.split('.');
  const holder = area === 'principal' ? behest.principal('session') : behest;
  const client = as === 'operator' ? admin : holder;
  const found = area === 'principal' ? holder : Reflect.get(client, area ?? '');
  const method = own === undefined ? found : Reflect.get(Object(found), own);
  return typeof method === 'function' ? method : undefined;
}

test('each operation that programs may call has one method, and the others are listed with a reason', () => {
  const clients = noting();
  const faults = described.flatMap(({ id, sends, credential }) => {
    const isOfBrowser = OF_BROWSERS.has(credential ?? '');
    const row = rows[id];
    if (isOfBrowser || exemptionOf(id, credential)) return row ? [`${id} is exempt and has a method`] : [];
    if (!row) return [`${id} has no method: npm run generate`];
    if (row.sends !== sends) return [`${id} sends ${row.sends}`];
    const isThere = row.method === 'signup' ? Behest.signup : methodOf(clients, row);
    return isThere ? [] : [`${row.method} of ${id} is not there`];
  });

  expect(described.length).toBeGreaterThan(200);
  expect(faults).toEqual([]);
  const ids = new Set(described.map(({ id }) => id));
  expect(Object.keys(rows).filter((id) => !ids.has(id))).toEqual([]);
});

test('an exemption holds for no operation that takes a key, a grant token or a session, but for the socket and the sign-in of a browser', () => {
  const wrong = described.filter(
    ({ id, credential }) => OF_PROGRAMS.has(credential ?? '') && exemptionOf(id, credential),
  );

  expect(wrong.map(({ id }) => id).sort()).toEqual(['console.signInByKey', 'events.socket']);
});

test('every name and every exemption is of an operation', () => {
  const ids = described.map(({ id }) => id);

  expect(Object.keys(NAMINGS).filter((id) => !ids.includes(id))).toEqual([]);
  expect(Object.keys(EXEMPT).filter((start) => !ids.some((id) => id.startsWith(start)))).toEqual([]);
});

test('two operations share a method only where the method passes requests on', () => {
  const methods = Object.values(rows).map(({ method }) => method);

  const repeated = methods.filter((method, at) => methods.indexOf(method) !== at);
  expect([...new Set(repeated)]).toEqual(['vault.fetch']);
});

const byTable = Object.entries(rows).filter(([, { byHand }]) => !byHand);

test.each(byTable)('%s is sent as it is described', async (_, row) => {
  const { sent, ...clients } = noting();
  const ids = [...row.sends.matchAll(/\{/g)].map((_, at) => `id ${at}/ü`);
  const first = (row.first ?? []).map((name) => `the ${name}`);
  const isQuery = row.takes === 'query';
  const rest =
    row.takes === 'both' ? [{ some: 'body' }, { cursor: 'c' }] : row.takes ? [{ some: 'thing' }] : [];
  const options = { headers: { 'x-own': '1' }, ...(row.as === 'scim' && { scimToken: 'bh_scim_1' }) };

  const args = [...(row.as === 'grant' ? ['token'] : []), ...ids, ...first, ...rest, options];
  await methodOf(clients, row)?.(...args);

  expect(sent).toHaveLength(1);
  const [method, template = ''] = row.sends.split(' ');
  let at = 0;
  const path = template.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ids[at++] ?? ''));
  expect(sent[0]).toMatchObject({ method, path: `/prefix${path}` });
  const credentials: Record<string, string | null> = {
    ...{ grant: 'Bearer token', session: 'Bearer session', scim: 'Bearer bh_scim_1', nobody: null },
    operator: 'Bearer operator-key',
  };
  expect(sent[0]?.headers.get('authorization')).toBe(
    credentials[row.as ?? ''] ?? (row.as ? null : 'Bearer bh_test_key'),
  );
  expect(sent[0]?.headers.get('x-own')).toBe('1');
  expect(sent[0]?.headers.has('idempotency-key')).toBe(row.keyed === true);
  const isBodiless = method === 'GET' || method === 'DELETE';
  const single = Object.fromEntries((row.first ?? []).map((name) => [name, `the ${name}`]));
  const hasBody = !isBodiless && (row.first !== undefined || (row.takes !== undefined && !isQuery));
  expect(sent[0]?.body).toEqual(hasBody ? { ...single, ...rest[0] } : undefined);
});

test('the version that the client names is that of the package', () => {
  expect(VERSION).toBe(readJson('packages/sdk/package.json').version);
});

const SDK = join(import.meta.dirname, '../../packages/sdk');
const entries: [string, string][] = Object.entries(
  JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')).exports,
);

test('each entry exports the names that programs import, and no others', async () => {
  const lines = entries.map(async ([entry, file]) => {
    const exported: object = await import(join(SDK, file));
    return Object.keys(exported).map((name) => `${entry} ${name}\n`);
  });

  const names = (await Promise.all(lines)).flat().toSorted();
  await expect(names.join('')).toMatchFileSnapshot('exported-names.txt');
});
