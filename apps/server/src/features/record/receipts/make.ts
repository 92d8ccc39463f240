import { createHash } from 'node:crypto';
import { hideParts, leafOf, partsOf } from '@behest/protocol/audit-parts';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { countLimits, type LimitsCount } from '@behest/protocol/limits';
import { type LimitEntry, textsOfLimits } from '@behest/protocol/limits-report';
import type { LeafRange } from '@behest/protocol/merkle';
import { rangesBeside } from '@behest/protocol/receipt-proof';
import type { Caller, PrincipalSession, Tenant } from '../../../platform/caller.ts';
import { inRowPortions } from '../../../platform/db/page-rows.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { sha256 } from '../../../platform/ids.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { mustBeSpan } from '../../../platform/paging.ts';
import { findConsentRecord } from '../../grants/consent/index.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import { scopesInWords } from '../../grants/resources/index.ts';
import { findScopeWords } from '../../grants/resources/resources.queries.ts';
import { sessionEnded } from '../../people/principals/index.ts';
import { type ServiceDidDeps, serviceDid, signStatement } from '../../service/keys/index.ts';
import { type EntryRow, findSeqRange } from '../audit/audit.queries.ts';
import { toLink } from '../audit/index.ts';
import type { SignedTree, TransparencyLog } from '../transparency/index.ts';
import {
  findEntriesOfGrants,
  findEntryOfRequest,
  findOwnGrant,
  findRoot,
  findTree,
  listEntries,
} from './receipts.repo.ts';
import type { Receipt, ReceiptQuery } from './receipts.schema.ts';
import { verifierPage } from './verifier.ts';

export interface ReceiptDeps extends ServiceDidDeps {
  readonly issuer: string;
  readonly longWork: LongWork;
  readonly log: TransparencyLog;
  readonly maxEntries: number;
}

/** A receipt that is made while it is sent. */
export interface MadeReceipt {
  readonly grantId: string;
  readonly format: ReceiptQuery['format'];
  readonly texts: AsyncIterable<string>;
}

type Asked = ReceiptQuery & { readonly languages: string | undefined };

/** @throws NOT_FOUND, EXPORT_TOO_LARGE, SERVICE_UNAVAILABLE while the log is halted */
export async function receiptOfGrant(
  deps: ReceiptDeps,
  caller: Caller,
  grantId: string,
  query: Asked,
): Promise<MadeReceipt> {
  const grant = await findGrant(deps.db, caller, grantId);
  if (!grant) throw notFound();
  return begin(deps, caller.tenant, grant, { ...query, audience: 'developer' });
}

/** @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a grant of another principal, and as `receiptOfGrant` */
export async function ownReceipt(
  deps: ReceiptDeps,
  session: PrincipalSession,
  grantId: string,
  query: Asked,
): Promise<MadeReceipt> {
  const grant = await findOwnGrant(deps.db, session, grantId, deps.clock());
  if (!grant) throw sessionEnded();
  const { id, rootGrantId } = grant;
  if (id === null || rootGrantId === null) throw notFound();
  return begin(deps, session.tenant, { id, rootGrantId }, { ...query, audience: 'principal' });
}

/** The most bytes of entries in a receipt: with its proof, it is a file that every client reads. */
const MOST_MEBIBYTES = 192;

type Root = NonNullable<Awaited<ReturnType<typeof findRoot>>>;
type Head = Omit<Receipt, 'consent' | 'entries' | 'limits' | 'proof' | 'statement'>;

/** A receipt, as far as it is known before its entries are read. */
interface Begun {
  readonly head: Head;
  readonly consent: Receipt['consent'];
  readonly tree: SignedTree;
  /** The numbers of its entries, ascending. */
  readonly seqs: readonly number[];
  /** Undefined where nothing is hidden. */
  readonly isHidden: ((name: string) => boolean) | undefined;
}

async function begin(
  deps: ReceiptDeps,
  tenant: Tenant,
  { id, rootGrantId }: { readonly id: string; readonly rootGrantId: string },
  { audience, format, since, until, languages }: Asked & Pick<Head, 'audience'>,
): Promise<MadeReceipt> {
  mustBeSpan({ ...(since && { since }), ...(until && { until }) });
  const { db, clock, keyRing } = deps;
  const [root, tree] = await Promise.all([findRoot(db, tenant, rootGrantId), deps.log.treeOf(tenant)]);
  if (!root) throw notFound();
  // After the tree: a grant that is made meanwhile has no entry in it.
  const { grantIds, agents } = await findTree(db, tenant, rootGrantId, deps.maxEntries + 1);
  const about = { tree, span: { ...(since && { since }), ...(until && { until }) } };
  const [{ consent, warnings, requestSeqs }, found, words, { document }] = await Promise.all([
    consentOf(deps, tenant, root, tree),
    entriesOfTree(deps, tenant, grantIds, about),
    findScopeWords(db, tenant, root),
    serviceDid(deps),
  ]);
  const said = scopesInWords(root.scopes, { own: Object(root.scopeDescriptions), words, languages });
  const head: Head = {
    format: 'behest.receipt/1',
    issuer: deps.issuer,
    issuerDid: document.id,
    generatedAt: clock().toISOString(),
    audience,
    ...(root.mode === 'sandbox' && { sandbox: true }),
    grantId: id,
    rootGrantId,
    ...about.span,
    log: { origin: tree.origin, url: tree.url, vkey: tree.vkey },
    checkpoint: { size: tree.size, root: tree.root.toString('base64'), note: tree.note },
    labels: {
      agents: Object.fromEntries(agents.map(({ agentId, agentName }) => [agentId, agentName])),
      scopes: Object.fromEntries(root.scopes.map((scope, at) => [scope, said[at]?.text ?? scope])),
    },
    warnings,
    keys: { did: document, jwks: JSON.parse(keyRing.jwks().body.toString()), witnesses: [] },
  };
  const kept = new Set(audience === 'principal' ? root.auditPrivateKeys.map((key) => `metadata.${key}`) : []);
  const isHidden = kept.size > 0 ? (name: string) => kept.has(name) : undefined;
  const seqs = [...requestSeqs, ...found].sort((one, other) => one - other);
  const texts = textsOf(deps, tenant, { head, consent, tree, seqs, isHidden });
  return { grantId: id, format, texts: format === 'html' ? inPage(verifierPage().html, texts) : texts };
}

/** The record of the approval, and the entries of its request. */
async function consentOf(
  { db }: ReceiptDeps,
  tenant: Tenant,
  { requestId, createdAt, decidedAt }: Root,
  { size }: SignedTree,
) {
  if (requestId === null || createdAt === null || decidedAt === null) {
    return { consent: null, warnings: [], requestSeqs: [] };
  }
  const [parts, requested, approved] = await Promise.all([
    findConsentRecord(db, tenant, requestId),
    findEntryOfRequest(db, tenant, { action: 'authorization.requested', requestId, at: createdAt }),
    findEntryOfRequest(db, tenant, { action: 'authorization.approved', requestId, at: decidedAt }),
  ]);
  const isMissing = !parts && approved?.hasConsent === true && approved.isErased === false;
  return {
    consent: parts ? { parts } : null,
    warnings: isMissing ? ['consent_missing'] : [],
    requestSeqs: [requested, approved].flatMap((entry) => (entry && entry.seq <= size ? [entry.seq] : [])),
  };
}

/** @throws EXPORT_TOO_LARGE */
async function entriesOfTree(
  { db, maxEntries }: ReceiptDeps,
  tenant: Tenant,
  grantIds: readonly string[],
  { tree: { size }, span }: { readonly tree: SignedTree; readonly span: { since?: string; until?: string } },
): Promise<number[]> {
  const range = await findSeqRange(db, tenant, span);
  const limits = { ...range, size, limit: maxEntries + 1 };
  const { seqs, entries, bytes } = await findEntriesOfGrants(db, tenant, grantIds, limits);
  if (entries > maxEntries || bytes > MOST_MEBIBYTES * 1_048_576) {
    const message = `A receipt has at most ${maxEntries} entries, and ${MOST_MEBIBYTES} MiB of them. Ask for a shorter period with \`since\` and \`until\`.`;
    throw new AppError('EXPORT_TOO_LARGE', message, { limit: maxEntries });
  }
  return seqs;
}

const PLACE = '<script type="application/json" id="receipt">';

/** The page that checks receipts, with one inside. */
async function* inPage(page: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const at = page.indexOf(PLACE) + PLACE.length;
  yield page.slice(0, at);
  for await (const text of texts) yield text.replaceAll('<', '\\u003c');
  yield page.slice(at);
}

async function* textsOf(deps: ReceiptDeps, tenant: Tenant, begun: Begun): AsyncGenerator<string> {
  const { head, consent, tree, seqs } = begun;
  yield `${JSON.stringify({ ...head, consent }).slice(0, -1)},"entries":[`;
  const leaves = createHash('sha256');
  const limits = countLimits();
  let separator = '';
  for await (const { texts, hashes, shown } of entryPortions(deps, tenant, begun)) {
    for (const leaf of hashes) leaves.update(leaf);
    for (const entry of shown) limits.add(entry);
    yield `${separator}${texts.join(',')}`;
    separator = ',';
  }
  yield '],"proof":[';
  separator = '';
  for await (const hashes of proofPortions(deps, tenant, begun)) {
    yield `${separator}${hashes.map((each) => `"${Buffer.from(each).toString('base64')}"`).join(',')}`;
    separator = ',';
  }
  yield ']';
  const { issuer, grantId, rootGrantId, since, until } = head;
  const digest = since || until ? undefined : createHash('sha256');
  if (digest) {
    yield ',"limits":';
    for await (const text of limitTexts(deps, limits)) {
      digest.update(text);
      yield text;
    }
  }
  const statement = await signStatement(deps.keyRing, 'receipt+jwt', {
    iss: issuer,
    iat: Math.floor(Date.parse(head.generatedAt) / 1000),
    origin: tree.origin,
    grantId,
    rootGrantId,
    size: tree.size,
    root: head.checkpoint.root,
    count: seqs.length,
    leaves: leaves.digest('base64url'),
    head: sha256(Buffer.from(canonicalJson(head))).toString('base64url'),
    ...(digest && { limits: digest.digest('base64url') }),
    ...(since && { since }),
    ...(until && { until }),
  });
  yield `,"statement":"${statement}"}`;
}

/** The text of the limits. It may take long, so each step has a turn of its own. */
async function* limitTexts({ longWork }: ReceiptDeps, limits: LimitsCount): AsyncGenerator<string> {
  const steps = limits.report();
  for (;;) {
    await longWork.nextTurn();
    const { done, value: report } = steps.next();
    if (!done) continue;
    for (const text of textsOfLimits(report)) {
      if (text.length > LONG) await longWork.nextTurn();
      yield text;
    }
    return;
  }
}

/** Characters, of which others do not feel fewer. */
const LONG = 10_000;
/** Entries in one statement. */
const PORTION = 200;

interface Portion {
  /** The entries with their parts. */
  readonly texts: readonly string[];
  /** Their leaves. */
  readonly hashes: readonly Uint8Array[];
  readonly shown: readonly LimitEntry[];
}

async function* entryPortions(
  { db, longWork }: ReceiptDeps,
  tenant: Tenant,
  { seqs, isHidden }: Begun,
): AsyncGenerator<Portion> {
  const readFrom = (at: number) => settled(listEntries(db, tenant, seqs.slice(at, at + PORTION)));
  let [at, next] = [0, readFrom(0)];
  while (at < seqs.length) {
    const rows = await next();
    const isWhole = rows.length > 0 && rows.every(({ seq }, place) => Number(seq) === seqs[at + place]);
    if (!isWhole) throw new Error('An entry of the chain is missing.');
    at += rows.length;
    if (at < seqs.length) next = readFrom(at); // while these are worked on
    for await (const portion of inRowPortions(rows, lengthToHash, longWork)) {
      const read = portion.map((row) => readEntry(row, isHidden));
      yield {
        texts: read.map(({ text }) => text),
        hashes: read.map(({ leaf }) => leaf),
        shown: read.map((entry) => entry.shown),
      };
    }
  }
}

/** What is waited for later, so that a failure is thrown then. */
function settled<Value>(promise: Promise<Value>): () => Promise<Value> {
  promise.catch(() => {});
  return () => promise;
}

/** The parts of an entry are hashed one by one. */
const lengthToHash = ({ metadata, parts }: EntryRow) => 6 * metadata.length + (parts?.join('').length ?? 0);

function readEntry(row: EntryRow, isHidden: Begun['isHidden']) {
  const entry = toLink(row);
  const parts = row.parts ?? partsOf(entry, sha256);
  const index = entry.seq - 1;
  const shownParts = isHidden ? hideParts(parts, isHidden, sha256) : parts;
  const { seq, action, status, agentId = null, grantId = null } = entry;
  const metadata = Object.entries(entry.metadata).filter(([name]) => !isHidden?.(`metadata.${name}`));
  const hidden = shownParts.filter((part, at) => at > 1 && part.startsWith('#')).length;
  return {
    leaf: leafOf(entry.hash, parts, sha256),
    text: JSON.stringify({ index, hash: entry.hash, parts: shownParts }),
    shown: { seq, action, status, agentId, grantId, metadata: Object.fromEntries(metadata), hidden },
  };
}

/** Ranges whose roots are computed at once: of entries far from one another, thirteen or so take two tiles. */
const RANGES = 512;
/** So many of their statements are under way at once. */
const AHEAD = 2;

async function* proofPortions({ log }: ReceiptDeps, tenant: Tenant, { seqs, tree }: Begun) {
  const begun: (() => Promise<readonly Uint8Array[]>)[] = [];
  const begin = (ranges: readonly LeafRange[]) => begun.push(settled(log.rootsOf(tenant, ranges, tree)));
  let portion: LeafRange[] = [];
  for (const range of rangesBeside(
    seqs.map((seq) => seq - 1),
    tree.size,
  )) {
    portion.push(range);
    if (portion.length < RANGES) continue;
    begin(portion);
    portion = [];
    if (begun.length > AHEAD) yield (await begun.shift()?.()) ?? [];
  }
  if (portion.length > 0) begin(portion);
  for (const roots of begun) yield await roots();
}
