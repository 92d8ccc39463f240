import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { resolve } from 'node:path';
import type { AuditEntry, ChainStart } from '@behest/protocol/audit-chain';
import type { VerificationJwk } from '@behest/protocol/key-set';
import type { SignatureToCheck } from '@behest/protocol/token-checks';
import { readText } from '../config/settings.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, listOf, textOf } from '../program/spec.ts';

export const EVENTS: readonly CommandSpec[] = [
  {
    name: 'events stream',
    summary: 'Print events as they happen, and go on after a break',
    operation: 'events.stream',
    examples: ['behest events stream', 'behest events stream --types grant.*,token.* --json'],
    options: [
      { flags: '--types <a,b>', about: 'names of types, or areas such as grant.*' },
      { flags: '--last-event-id <id>', about: 'the last event that was dealt with' },
      { flags: '--count <n>', about: 'end after so many events' },
    ],
    async run(context, given) {
      const client = await context.client();
      const types = textOf(given, 'types');
      const most = Number(textOf(given, 'count') ?? Number.POSITIVE_INFINITY);
      const { io, globals } = context;
      const isTable = globals.output === 'table' && io.isTerminal.output;
      let printed = 0;
      const options = {
        types: types === undefined ? undefined : listOf(types),
        lastEventId: textOf(given, 'lastEventId'),
        signal: io.signal,
      };
      for await (const event of client.events.stream(options)) {
        const data: unknown = event.data;
        context.line(
          isTable && 'id' in event
            ? `${event.createdAt}  ${event.type}  ${JSON.stringify(data)}`
            : JSON.stringify(event),
        );
        printed += 1;
        if (printed >= most) return;
      }
      io.signal.throwIfAborted();
    },
  },
];

export const AUDIT: readonly CommandSpec[] = [
  {
    name: 'audit verify',
    summary: 'Recompute the chain of the audit entries, here and not at the service',
    notes: 'Ends with 1 at a broken chain, and names its first broken entry.',
    operation: 'audit.list',
    examples: ['behest audit verify', 'behest audit verify --file audit.json'],
    options: [
      {
        flags: '--file <file>',
        about: 'entries in a file: a list, an export, or one a line; nothing is asked',
      },
      { flags: '--prev-hash <hash>', about: 'the hash of the entry before the first one' },
    ],
    run: verifyChain,
  },
  {
    name: 'audit offboarding',
    summary: 'Check the statement of an offboarding against the audit entries, here and not at the service',
    notes:
      'Ends with 1 where something of the principal or the agent was left, and names the entry that shows it.',
    operation: 'audit.list',
    args: [
      { name: 'statement', about: 'a file with the statement; default: standard input', isOptional: true },
    ],
    examples: [
      'behest principals offboarding ada@example.com --json | behest audit offboarding',
      'behest audit offboarding statement.json --file audit.json --jwks-file jwks.json',
    ],
    options: [
      {
        flags: '--file <file>',
        about: 'all entries of the account in a file: a list, an export, or one a line; nothing is asked',
      },
      { flags: '--jwks-file <file>', about: 'read the keys from a file, without a network' },
      {
        flags: '--issuer <url>',
        about: 'the service that has to have signed; default: the one that is asked',
      },
    ],
    run: checkOffboarding,
  },
  {
    name: 'audit check',
    summary: 'Ask the service whether the chain is whole',
    operation: 'audit.verify',
    examples: ['behest audit check'],
    async run(context) {
      const verdict = await (await context.client()).audit.verify();
      await context.one(verdict);
      return verdict.valid ? EXIT.done : EXIT.no;
    },
  },
];

async function checkOffboarding(context: Context, given: Given): Promise<number> {
  const [{ readOffboardingStatement, verifyOffboardingStatement }, { keySetOf }, { parseJsonText }] =
    await Promise.all([
      import('@behest/protocol/offboarding-statement'),
      import('@behest/protocol/key-set'),
      import('@behest/protocol/json'),
    ]);
  const file = textOf(given, 'file');
  const jwksFile = textOf(given, 'jwksFile');
  const base = (await context.settings()).url.replace(/\/$/, '');
  const keys = keySetOf(
    jwksFile === undefined
      ? await (await context.exchange.fetchWith(undefined)(`${base}/.well-known/jwks.json`, {})).json()
      : parseJsonText(readText(resolve(context.io.folder, jwksFile)), 1_000_000),
  );
  const jws = statementIn(await textIn(context, given.args[0]), (text) => parseJsonText(text, text.length));
  const statement = readOffboardingStatement(jws, {
    keys: () => keys,
    verifySignature,
    issuer: textOf(given, 'issuer') ?? base,
    now: new Date(),
  });
  if (!statement) {
    context.note(
      'None of these keys signed this statement for this issuer, or it is no statement of an offboarding.',
    );
    return EXIT.no;
  }
  const entries = file === undefined ? await entriesOfService(context) : await entriesIn(context, file);
  const verdict = verifyOffboardingStatement(statement, entries, sha256);
  const { kind, subjectId, endedAt, seq } = statement;
  await context.one({ ...verdict, kind, subjectId, endedAt, seq });
  return verdict.valid ? EXIT.done : EXIT.no;
}

const textIn = async (context: Context, file = '-'): Promise<string> =>
  file === '-' ? context.io.input() : readText(resolve(context.io.folder, file));

/** A statement by itself, or in the answer that has it. */
function statementIn(text: string, parse: (text: string) => unknown): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return trimmed;
  const answer = parse(trimmed);
  return isRecord(answer) ? String(answer.statement) : '';
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const verifySignature = ({ key, signed, signature }: SignatureToCheck<VerificationJwk>): boolean =>
  verify(
    'sha256',
    signed,
    { key: createPublicKey({ key: key as JsonWebKey, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    signature,
  );

async function verifyChain(context: Context, given: Given): Promise<number> {
  const file = textOf(given, 'file');
  const entries = file === undefined ? await entriesOfService(context) : await entriesIn(context, file);
  const prevHash = textOf(given, 'prevHash');
  const start: ChainStart = { fromSeq: entries[0]?.seq ?? 1, ...(prevHash !== undefined && { prevHash }) };
  const { Behest } = await import('@behest/sdk');
  // A client without a key or an address: this check asks nobody.
  const { audit } = new Behest({ apiKey: null, baseUrl: 'https://nobody.invalid', developerId: 'nobody' });
  const verdict = audit.verifyChain(entries, start);
  await context.one(verdict);
  if (!verdict.valid) context.note(`The chain is broken at ${verdict.firstBrokenAt}: ${verdict.problem}.`);
  return verdict.valid ? EXIT.done : EXIT.no;
}

/** The entries of the account, the oldest first. */
async function entriesOfService(context: Context): Promise<AuditEntry[]> {
  const client = await context.client();
  const entries: AuditEntry[] = [];
  // The hashes cover every member, which the types of the answer name one by one.
  for await (const entry of client.audit.list({ limit: 500 })) entries.push(entry as unknown as AuditEntry);
  return entries.toSorted((one, other) => one.seq - other.seq);
}

async function entriesIn(context: Context, file: string): Promise<AuditEntry[]> {
  const { parseJsonText } = await import('@behest/protocol/json');
  const text = file === '-' ? await context.io.input() : readText(resolve(context.io.folder, file));
  const values = listIn(text, (part) => parseJsonText(part, part.length));
  const entries = values?.filter(isEntry) ?? [];
  if (entries.length === 0 || entries.length !== values?.length)
    throw wrongUsage(`${file} has to hold audit entries, and nothing else.`, context.help);
  return entries.toSorted((one, other) => one.seq - other.seq);
}

function listIn(text: string, parse: (text: string) => unknown): readonly unknown[] | undefined {
  try {
    const value = parse(text);
    if (Array.isArray(value)) return value;
    if (isRecord(value)) return Object.values(value).find(Array.isArray) ?? [value];
    return undefined;
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    try {
      return lines.map(parse);
    } catch {
      return undefined; // the caller says that the file is no list of entries
    }
  }
}

const isEntry = (value: unknown): value is AuditEntry =>
  isRecord(value) &&
  typeof value.seq === 'number' &&
  typeof value.hash === 'string' &&
  typeof value.timestamp === 'string';
