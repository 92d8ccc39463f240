import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReceiptTrust, ReceiptVerdict } from '@behest/sdk/receipts';
import { readText } from '../config/settings.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import {
  type CommandSpec,
  type Given,
  isSet,
  listOf,
  type OptionSpec,
  textOf,
  textsOf,
} from '../program/spec.ts';

const FILE = [{ name: 'file', about: 'the receipt, as JSON or HTML; - for standard input' }];
const OUT: OptionSpec = { flags: '--out <file>', about: 'write to a file instead of standard output' };

const KEYS: readonly OptionSpec[] = [
  { flags: '--did <file|url>', about: 'the DID document of the service; default: that of its issuer' },
  { flags: '--jwks <file|url>', about: 'the JWK Set of the service; default: that of its issuer' },
  { flags: '--vkey <vkey>', about: 'a key of the log', isMany: true },
  { flags: '--witness <vkey>', about: 'a key of a witness', isMany: true },
  { flags: '--quorum <n>', about: 'how many of these witnesses have to have signed' },
  { flags: '--origin <origin>', about: 'the log that the receipt has to be of' },
  { flags: '--offline', about: 'fetch nothing: trust only the keys that are given' },
];

export const RECEIPT: readonly CommandSpec[] = [
  {
    name: 'receipt verify',
    summary: 'Check a receipt on this machine',
    notes:
      'Ends with 0 when the receipt holds and its keys were fetched from its issuer or given, 1 for any other, 2 for a file that is none, and 8 where the keys cannot be had.',
    args: FILE,
    examples: [
      'behest receipt verify receipt.json',
      'behest receipt verify receipt.json --offline --did did.json --jwks jwks.json',
      'behest receipt verify receipt.json --against export.json',
    ],
    options: [
      ...KEYS,
      { flags: '--allow-unanchored', about: 'end with 0 also where the receipt only agrees with itself' },
      {
        flags: '--against <file>',
        about: 'an export of all audit entries: name those that the receipt leaves out',
      },
    ],
    run: verify,
  },
  {
    name: 'receipt show',
    summary: 'Print what a receipt says, line by line',
    args: FILE,
    examples: ['behest receipt show receipt.json'],
    options: KEYS,
    run: show,
  },
  {
    name: 'receipt redact',
    summary: 'Take parts out of a receipt: what is left still verifies',
    args: FILE,
    examples: [
      'behest receipt redact receipt.json --hide metadata.ip --drop 42 --hide-consent proof --out shared.json',
    ],
    options: [
      { flags: '--hide <a,b>', about: 'parts of entries, such as principalId or metadata.amount' },
      { flags: '--drop <a,b>', about: 'entries, by their index in the log' },
      {
        flags: '--hide-consent <a,b>',
        about: 'parts of the consent: consent/1, principalId, decision, proof; or all',
      },
      OUT,
    ],
    run: redact,
  },
  {
    name: 'receipt page',
    summary: 'Write the page that checks receipts: one HTML file, which works from a disk',
    examples: ['behest receipt page --out verify.html'],
    options: [OUT],
    run: async (context, given) => {
      const { url } = await context.settings();
      save(context, given, await fetchText(context, `${url.replace(/\/$/, '')}/verify`, 'page'));
    },
  },
];

async function verify(context: Context, given: Given): Promise<number> {
  const { verdict } = await read(context, given);
  const left = await leftOut(context, given, verdict);
  const { receipt, entries, consent, ...said } = verdict;
  const proof = consent && { mode: consent.mode, proof: consent.proof, unverified: consent.unverified };
  await context.one({
    ...{ status: statusOf(verdict), issuer: receipt?.issuer ?? null, origin: receipt?.log.origin ?? null },
    ...said,
    ...{
      grants: verdict.grants.map(({ grantId, status }) => ({ grantId, status })),
      entries: entries.length,
    },
    ...{ consent: proof, ...(left && { leftOut: left }) },
  });
  if (!verdict.ok) context.note(`The check "${verdict.failed}" failed: ${faultOf(verdict)}.`);
  else if (!verdict.anchored)
    context.note(
      'The receipt agrees with itself, but no key comes from elsewhere: anybody may have made it.',
    );
  for (const { seq, action } of left ?? []) context.note(`The receipt leaves out entry ${seq}: ${action}.`);
  const holds = verdict.ok && (verdict.anchored || isSet(given, 'allowUnanchored'));
  return holds && !left?.length ? EXIT.done : EXIT.no;
}

async function show(context: Context, given: Given): Promise<number> {
  const { verdict } = await read(context, given);
  const { grants, entries, consent, checkpoint, checks, warnings } = verdict;
  if (context.globals.output !== 'table') {
    await context.one({ status: statusOf(verdict), grants, entries, consent, checkpoint, checks, warnings });
    return verdict.ok ? EXIT.done : EXIT.no;
  }
  context.line(`${statusOf(verdict)}  ${verdict.receipt?.issuer ?? ''}`);
  if (consent) context.line(`consent  ${consent.mode ?? 'unknown'}  ${consent.proof}`);
  for (const { grantId, agentId, status, scopes, parentGrantId } of grants) {
    const from = parentGrantId ? `  from ${parentGrantId}` : '';
    context.line(`grant  ${grantId}  ${agentId}  ${status}  ${scopes?.join(' ') ?? '(hidden)'}${from}`);
  }
  await context.rows(
    entries.map(({ seq, timestamp, action, grantId, status }) => ({
      seq,
      timestamp,
      action,
      grantId,
      status,
    })),
  );
  for (const { id, ok, detail } of checks) context.line(`${ok ? 'ok  ' : 'FAIL'}  ${id}  ${detail}`);
  return verdict.ok ? EXIT.done : EXIT.no;
}

async function redact(context: Context, given: Given): Promise<void> {
  const { redactReceipt } = await import('@behest/sdk/receipts');
  const lists = (name: string) => listOf(textOf(given, name) ?? '');
  const drop = lists('drop').map(Number);
  if (!drop.every((index) => Number.isSafeInteger(index))) {
    throw wrongUsage('--drop takes indices of entries, such as 41,42.', context.help);
  }
  const redaction = { hide: lists('hide'), drop, hideConsent: lists('hideConsent') };
  const text = await fileOf(context, given.args[0] ?? '-');
  save(context, given, `${JSON.stringify(redactReceipt(text, redaction))}\n`);
}

const statusOf = ({ ok, anchored }: ReceiptVerdict) =>
  !ok ? 'failed' : anchored ? 'verified' : 'unanchored';

const faultOf = ({ checks }: ReceiptVerdict) => checks.find(({ ok }) => !ok)?.detail;

async function read(context: Context, given: Given): Promise<{ verdict: ReceiptVerdict }> {
  const { verifyReceipt } = await import('@behest/sdk/receipts');
  const text = await fileOf(context, given.args[0] ?? '-');
  const { receipt } = await verifyReceipt(text);
  if (!receipt) throw wrongUsage(`${given.args[0] ?? '-'} is no receipt.`, context.help);
  const issuer = receipt.issuer.replace(/\/$/, '');
  const keysOf = async (name: 'did' | 'jwks', path: string) => {
    const told = textOf(given, name);
    if (told === undefined) {
      if (isSet(given, 'offline')) return undefined;
      return json(context, await fetchText(context, `${issuer}${path}`), `${issuer}${path}`);
    }
    const isAddress = /^https?:\/\//.test(told);
    return json(context, isAddress ? await fetchText(context, told) : await fileOf(context, told), told);
  };
  const did = await keysOf('did', '/.well-known/did.json');
  const jwks = await keysOf('jwks', '/.well-known/jwks.json');
  const [quorum, origin] = [textOf(given, 'quorum'), textOf(given, 'origin')];
  if (quorum !== undefined && !/^\d{1,3}$/.test(quorum))
    throw wrongUsage('--quorum takes a number.', context.help);
  const trust: ReceiptTrust = {
    ...{ did, jwks, vkeys: textsOf(given, 'vkey'), witnesses: textsOf(given, 'witness'), now: new Date() },
    ...(quorum !== undefined && { quorum: Number(quorum) }),
    ...(origin !== undefined && { origin }),
  };
  return { verdict: await verifyReceipt(text, trust) };
}

interface LeftOut {
  readonly seq: unknown;
  readonly id: unknown;
  readonly action: unknown;
}

/** The entries of an export that belong to the tree, and stand in the receipt in no form. */
async function leftOut(
  context: Context,
  given: Given,
  verdict: ReceiptVerdict,
): Promise<LeftOut[] | undefined> {
  const file = textOf(given, 'against');
  if (file === undefined) return undefined;
  const exported = json(context, await fileOf(context, file), file);
  const listed = Array.isArray(exported)
    ? exported
    : isRecord(exported) && Object.values(exported).find(Array.isArray);
  if (!Array.isArray(listed)) throw wrongUsage(`${file} has to hold audit entries.`, context.help);
  const grants = new Set(verdict.grants.map(({ grantId }) => grantId));
  const held = new Set(verdict.receipt?.entries.map(({ index }) => index));
  const size = verdict.checkpoint.size;
  // A grant that was delegated from one of the tree is of the tree, also where the receipt does not show it.
  for (const { action, grantId, metadata } of listed.filter(isRecord)) {
    const parent = isRecord(metadata) ? metadata.parentGrantId : undefined;
    if (action === 'grant.created' && grants.has(String(parent))) grants.add(String(grantId));
  }
  return listed
    .filter(isRecord)
    .filter(
      ({ grantId, seq }) => grants.has(String(grantId)) && Number(seq) <= size && !held.has(Number(seq) - 1),
    )
    .map(({ seq, id, action }) => ({ seq, id, action }));
}

async function fileOf(context: Context, file: string): Promise<string> {
  return file === '-' ? context.io.input() : readText(resolve(context.io.folder, file));
}

function json(context: Context, text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongUsage(`${place} is no JSON.`, context.help);
  }
}

/** The address may be one that the receipt names, so nothing but public documents is asked for, and nothing is sent. */
async function fetchText(context: Context, address: string, what = 'keys'): Promise<string> {
  const isLocal = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\//.test(address);
  if (!address.startsWith('https://') && !isLocal)
    throw wrongUsage(`Only https:// is fetched from, and not ${address}.`, context.help);
  const answer = await context.exchange
    .fetchWith(undefined)(address, {
      signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
      redirect: 'error',
    })
    .catch(() => undefined);
  if (answer?.ok) return answer.text();
  const why = answer ? `answered ${answer.status}` : 'cannot be reached';
  throw new CliError(`${what.toUpperCase()}_UNAVAILABLE`, `Fetching the ${what} failed: ${address} ${why}.`, {
    exitCode: EXIT.unavailable,
    ...(what === 'keys' && { next: 'behest receipt verify <file> --offline --did <file> --jwks <file>' }),
  });
}

function save(context: Context, given: Given, content: string): void {
  const file = textOf(given, 'out');
  if (file === undefined) context.io.out(content);
  else writeFileSync(resolve(context.io.folder, file), content);
}
