import { resolve } from 'node:path';
import type { AuditEntry, ChainStart } from '@behest/protocol/audit-chain';
import type { StatementVerdict } from '@behest/sdk/receipts';
import { readText } from '../config/settings.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, listOf, textOf } from '../program/spec.ts';
import { keysIn } from './verify.ts';

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
    name: 'audit check',
    summary:
      'Ask the service whether the chain is whole, or check a signed statement here and not at the service',
    notes:
      'A statement is that of a revocation or an offboarding. Ends with 1 for one that is not genuine, and where the audit entries or the signatures in it say otherwise.',
    operation: 'audit.verify',
    args: [
      {
        name: 'statement',
        about: 'a file with a statement, or with the answer that has it; - for standard input',
        isOptional: true,
      },
    ],
    examples: [
      'behest audit check',
      'behest audit check statement.json --jwks-file jwks.json --issuer https://auth.example.com',
      'behest principals offboarding ada@example.com --json | behest audit check - --file audit.json',
    ],
    options: [
      {
        flags: '--file <file>',
        about:
          'of an offboarding: all entries of the account in a file, which are otherwise asked for; a list, an export, or one a line',
      },
      { flags: '--jwks-file <file>', about: 'read the keys from a file, without a network' },
      {
        flags: '--issuer <url>',
        about: 'the service that has to have signed; default: the one that is asked',
      },
    ],
    run: (context, given) =>
      given.args[0] === undefined ? askForChain(context) : checkStatement(context, given),
  },
];

async function askForChain(context: Context): Promise<number> {
  const verdict = await (await context.client()).audit.verify();
  await context.one(verdict);
  return verdict.valid ? EXIT.done : EXIT.no;
}

async function checkStatement(context: Context, given: Given): Promise<number> {
  const [name = '-'] = given.args;
  const text = name === '-' ? await context.io.input() : readText(resolve(context.io.folder, name));
  const statement = statementIn(text);
  const service = (await context.settings()).url.replace(/\/$/, '');
  const [jwksFile, issuer = service] = [textOf(given, 'jwksFile'), textOf(given, 'issuer')];
  const jwks = jwksFile === undefined ? await publishedKeys(context, service) : keysIn(context, jwksFile);
  const [{ kindOfStatement }, { verifyStatement }] = await Promise.all([
    import('@behest/protocol/kind-verifier'),
    import('@behest/sdk/receipts'),
  ]);
  const kind = kindOfStatement(statement);
  if (kind === 'receipt')
    throw wrongUsage(`${name} is a receipt: behest receipt verify checks it.`, context.help);
  const file = textOf(given, 'file');
  const isOffboarding = kind === 'offboarding-statement';
  const read = () => (file === undefined ? entriesOfService(context) : entriesIn(context, file));
  const checked = await verifyStatement(statement, {
    jwks,
    issuer,
    ...(isOffboarding && { entries: await read() }),
  });
  await context.one(shownOf(checked));
  return checked.ok ? EXIT.done : EXIT.no;
}

/** A verdict without the keys and signatures of verifiers. */
function shownOf(checked: StatementVerdict): object {
  if (!('claims' in checked)) return checked;
  if (checked.kind === 'offboarding') {
    const { claims, ...verdict } = checked;
    const { kind: of, subjectId, endedAt, seq } = claims;
    return { ...verdict, of, subjectId, endedAt, seq };
  }
  const { kind, ok, claims, issuedAt } = checked;
  const verifiers = claims.verifiers.map(({ publicKey: _, position: __, ...verifier }) => verifier);
  return { kind, ok, issuedAt: issuedAt.toISOString(), ...claims, verifiers };
}

async function publishedKeys(context: Context, service: string): Promise<unknown> {
  const answer = await context.exchange.fetchWith(undefined)(`${service}/.well-known/jwks.json`, {});
  return answer.json();
}

/** A statement by itself, or in the answer that has it. */
function statementIn(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return trimmed;
  try {
    return String(JSON.parse(trimmed).statement);
  } catch {
    return trimmed; // which is no statement, as the check then says
  }
}

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
