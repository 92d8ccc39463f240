import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest, BehestAdmin, BehestApiError, BehestAuthError, BehestError } from '@behest/sdk';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { onThisMachine } from '../../apps/server/test/app/proxy.ts';
import { readDescription } from '../../scripts/generate/description/resolve.ts';
import type { Described } from '../../scripts/generate/sdk/operations.ts';
import { compilerFaults } from '../docs/samples/compile.ts';
import { LOCAL, OWN_CASES } from './contract/by-hand.ts';
import {
  CANNOT_FAIL,
  type Call,
  callOf,
  make,
  nameOf,
  REFUSED,
  ROWS,
  WRONG_ARGUMENTS,
  withNobodysIds,
  withUnknownMember,
  writtenAs,
} from './contract/own-arguments.ts';
import { newWorld, PUBLIC_URL, type World } from './contract/world.ts';
import { movedApplication, receive } from './moved-application.ts';

/** A call as a program writes it, with the answer that it got. */
interface Made {
  readonly written: string;
  readonly answer: unknown;
}

const HEAD = `import type { Behest, BehestAdmin } from '@behest/sdk';
declare const behest: Behest;
declare const admin: BehestAdmin;
declare const rows: () => AsyncIterator<never>;
declare function answered<Answer>(call: () => Promise<Answer>, answer: NoInfer<Answer>): void;
declare function listed<Row>(call: () => Promise<readonly Row[]>, answer: NoInfer<Row>[]): void;
`;
const PATH = join(import.meta.dirname, 'contract.virtual.ts');

/**
 * Lets the compiler compare arguments and answers with the declared types. A member that a type lacks is a fault too.
 * Files are left out: the answer of their methods is a response.
 */
function declaredFaults(root: string, made: readonly Made[]): string[] {
  const calls = made.filter(({ answer }) => !(answer instanceof Response));
  const lines = calls.map(
    ({ written, answer }) =>
      `${Array.isArray(answer) ? 'listed' : 'answered'}(() => ${written}, ${literal(answer)});`,
  );
  const first = HEAD.split('\n').length - 1;
  const faults = compilerFaults(root, new Map([[PATH, `${HEAD}${lines.join('\n')}\n`]]));
  return faults.map(({ line, message }) => `${calls[line - first]?.written.split('(')[0]}: ${message}`);
}

/** A list has its rows as an iterator too, which JSON leaves out. */
function literal(answer: unknown): string {
  const text = JSON.stringify(answer) ?? 'undefined';
  const isList = typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
  return isList && !Array.isArray(answer) ? text.replace('{', '{ [Symbol.asyncIterator]: rows, ') : text;
}

/** These make the clients of one person and of one directory, whose methods are listed in their place. */
const MAKERS = ['principal', 'scim.users', 'scim.groups'];

/** The methods that the clients have when they run, as `agents.list`, `scim.users().get`, `admin.stats`. */
function methodsOfSdk(): string[] {
  const settings = { baseUrl: 'https://auth.test', fetch: async () => Response.json({}) };
  const behest = new Behest({ ...settings, apiKey: 'bh_test_1' });
  const admin = new BehestAdmin({ ...settings, adminKey: 'operator' });
  return [
    ...methodsIn(behest).filter((name) => !MAKERS.includes(name)),
    ...methodsIn(Behest.prototype),
    ...methodsIn(Object.getPrototypeOf(behest.approvals), 'approvals.'),
    ...methodsIn(Behest, 'Behest.'),
    ...methodsIn(behest.principal('session'), 'principal().'),
    ...methodsIn(behest.scim.users('token'), 'scim.users().'),
    ...methodsIn(behest.scim.groups('token'), 'scim.groups().'),
    ...methodsIn(admin, 'admin.'),
    ...methodsIn(BehestAdmin.prototype, 'admin.'),
  ].toSorted();
}

function methodsIn(holder: object, prefix = ''): string[] {
  const own = Object.entries(Object.getOwnPropertyDescriptors(holder));
  return own.flatMap(([name, { value }]) => {
    if (typeof value === 'function') return name === 'constructor' ? [] : [`${prefix}${name}`];
    const isArea = name !== 'prototype' && Object.getPrototypeOf(value ?? 0) === Object.prototype;
    return isArea ? methodsIn(value, `${prefix}${name}.`) : [];
  });
}

const ROOT = join(import.meta.dirname, '../..');
const description = readDescription(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
const described = new Map(
  Object.values(description.paths)
    .flatMap((verbs) => Object.values(verbs))
    .map((operation) => [operation.operationId, operation]),
);

/** Milliseconds for some hundred calls, on a machine that does other work too. */
const MAX_TIME = 300_000;

let service: Awaited<ReturnType<typeof startListening>>;
let world: World;
/** Every call of a method of the table, with its answer or its error. */
const answers = new Map<Call, unknown>();
beforeAll(async () => {
  const env = { PUBLIC_BASE_URL: PUBLIC_URL, ...onThisMachine };
  service = await startListening({ isShared: true, startsAt: new Date().toISOString(), env });
  const first = await newWorld(service);
  for (const row of ROWS) {
    const call = await callOf(first, row);
    answers.set(call, await make(call, first).catch((error: unknown) => error));
  }
  world = await newWorld(service);
}, MAX_TIME);
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** The difference between an answer and the shapes of the good statuses, of which one has to fit. */
function faultIn(operation: Described | undefined, answer: unknown): string | undefined {
  const all = Object.entries(operation?.responses ?? {}).filter(([status]) => status < '300');
  const good = all.length > 1 ? all.filter(([status]) => status !== '202') : all; // which throws
  const contents = good.flatMap(([, { content = {} }]) => Object.entries(content));
  const shapes = contents.flatMap(([type, { schema }]) => (type === 'application/json' ? [schema] : []));
  if (answer instanceof Response)
    return contents.length > shapes.length ? undefined : 'is a file, and none is described';
  if (shapes.length === 0) return answer === undefined ? undefined : 'is an answer, and none is described';
  const faults = shapes.map((shape) => [...Compile(shape).Errors(answer)][0]);
  return faults.every((fault) => fault) ? `${faults[0]?.instancePath} ${faults[0]?.message}` : undefined;
}

test('each method that the clients have when they run has a case here', () => {
  const cases = [...ROWS.map(([, row]) => nameOf(row)), ...Object.keys(OWN_CASES), ...LOCAL];

  expect(cases.toSorted()).toEqual(methodsOfSdk());
});

test('each method of the table gets the answer that is described', () => {
  const faults = [...answers].flatMap(([{ id, row }, answer]) => {
    if (answer instanceof Error) return REFUSED[id] === Object(answer).code ? [] : [`${id}: ${answer}`];
    const fault = REFUSED[id] ? 'is answered after all' : faultIn(described.get(id), answer);
    return fault === undefined ? [] : [`${row.method}: ${fault}`];
  });

  expect(faults).toEqual([]);
  expect(answers.size).toBeGreaterThan(250);
});

test('the arguments and the answer of each method have the declared types', { timeout: MAX_TIME }, () => {
  const made = [...answers].flatMap(([call, answer]) =>
    answer instanceof Error ? [] : [{ written: writtenAs(call), answer }],
  );

  expect(declaredFaults(ROOT, made)).toEqual([]);
  const [first] = made;
  const wrong = [
    { written: 'behest.grants.get(7, {})', answer: {} },
    { written: String(first?.written), answer: { ...Object(first?.answer), stranger: true } },
  ];
  expect(declaredFaults(ROOT, wrong).length).toBeGreaterThanOrEqual(2);
});

test('each list is a page, and all rows of all pages', { timeout: MAX_TIME }, async () => {
  const lists = ROWS.filter(([, row]) => row.rows !== undefined || row.linked);
  const faults: string[] = [];
  for (const list of lists) {
    const call = await callOf(world, list);
    const page = await make(call, world);
    const rows = await rowsOf(await make(call, world));
    const shown: unknown = call.row.linked ? page : Object(page)[call.row.rows ?? ''];
    if (JSON.stringify(rows.slice(0, Object(shown).length)) !== JSON.stringify(shown)) faults.push(call.id);
  }

  expect(faults).toEqual([]);
  expect(lists.map(([, row]) => row.method)).toEqual(
    expect.arrayContaining(['agents.list', 'passports.list']),
  );
});

async function rowsOf(list: unknown): Promise<unknown[]> {
  const rows: unknown[] = [];
  // The types of lists, which the compiler compares above, say that each is iterated.
  for await (const row of list as AsyncIterable<unknown>) rows.push(row);
  return rows;
}

test('each method of the table refuses a credential that nobody has, with the error of its kind', {
  timeout: MAX_TIME,
}, async () => {
  const faults: string[] = [];
  for (const { id, row, args } of answers.keys()) {
    if (row.as === 'nobody') continue;
    const refused = await make({ id, row, args }, world.strangers).catch((error: unknown) => error);
    if (!(refused instanceof BehestAuthError && refused.statusCode === 401)) faults.push(`${id}: ${refused}`);
  }

  expect(faults).toEqual([]);
});

test('each method refuses a member that its body lacks, or an id that nobody has', {
  timeout: MAX_TIME,
}, async () => {
  const [faults, unasked]: [string[], string[]] = [[], []];
  for (const call of answers.keys()) {
    const { id, row } = call;
    const withMember = isClosed(id) ? withUnknownMember(call) : undefined;
    const wrong = WRONG_ARGUMENTS[id] ? { id, row, args: WRONG_ARGUMENTS[id] } : undefined;
    const asked = wrong ?? withMember ?? withNobodysIds(call);
    if (!asked && row.as === 'nobody' && !REFUSED[id]) unasked.push(id);
    if (!asked) continue;
    const refused = await make(asked, world).catch((error: unknown) => error);
    const isNamed = asked !== withMember || JSON.stringify(Object(refused).details).includes('isAdmin');
    if (!(refused instanceof BehestApiError && isNamed)) faults.push(`${id}: ${refused}`);
  }

  expect(faults).toEqual([]);
  expect(unasked).toEqual(CANNOT_FAIL);
});

const isClosed = (id: string) =>
  described.get(id)?.requestBody?.content['application/json']?.schema.additionalProperties === false;

test.each(Object.entries(OWN_CASES))(
  '%s, which is written by hand, is answered and refused',
  async (_, own) => {
    const answer = await own.good(world);
    const refused = await own.refused(world).catch((error: unknown) => error);

    if (own.answers) expect(faultIn(described.get(own.answers), answer)).toBeUndefined();
    expect(refused).toBeInstanceOf(BehestError);
  },
);

test('an application in the names of older clients runs after its import, class and variable were changed', async () => {
  const service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  onTestFinished(async () => {
    service.app.server.closeAllConnections();
    await service.stop();
  });
  const { apiKey, developerId } = await Behest.signup(
    { name: 'Acme', mode: 'sandbox' },
    { baseUrl: service.url },
  );

  const seen = await movedApplication(apiKey, service.url);

  expect(seen.fetched).toEqual(seen.agent);
  expect(seen.updated.description).toBe('Reads and pays invoices');
  expect(seen.verified).toMatchObject({ valid: true, grantId: seen.grant.grantId });
  expect(seen.grant).toMatchObject({ principalId: 'user_abc123', developerId, agentDid: seen.agent.did });
  expect(seen.grants.map(({ grantId }) => grantId)).toEqual([seen.grant.grantId]);
  expect(seen.entries.map(({ action }) => action)).toContain('invoice.paid');
  expect(seen.same).toMatchObject({ hash: seen.entry.hash, metadata: { amount: 420 } });
  expect(seen.balance).toMatchObject({ remainingBudget: '75.0000' });
  expect(seen.transactions).toHaveLength(1);
  expect(seen.settings).toMatchObject({ developerId, name: 'Acme' });
  expect(seen.exported.grants.length).toBeGreaterThan(0);
});

test('the guide shows lines of that application', () => {
  const textOf = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
  const linesOf = (code: string) => code.split('\n').map((line) => line.trim());
  const application = linesOf(textOf('moved-application.ts')).join('\n');
  const blocks = [...textOf('../../docs/guides/moving.md').matchAll(/^```ts\n(.*?)\n```/gms)];

  expect(blocks.length).toBe(3);
  for (const [, code = ''] of blocks) expect(application).toContain(linesOf(code).join('\n'));
});

test('its receiver of webhooks takes what the service signs', () => {
  const secret = `whsec_${btoa('x'.repeat(32))}`;
  const payload = '{"id":"evt_1","type":"grant.revoked","data":{}}';
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signed = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  const headers = {
    'x-service-signature': signed(payload),
    'x-service-timestamp': timestamp,
    'x-service-signature-v2': signed(`${timestamp}.${payload}`),
  };

  expect(receive(payload, headers, secret)).toBe('grant.revoked');
  expect(receive(`${payload} `, headers, secret)).toBeUndefined();
});
