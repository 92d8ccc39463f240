import { createHash, hash } from 'node:crypto';
import { hideParts, leafOf, partsOf } from '@behest/protocol/audit-parts';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { countLimits, digestOfLimits, type LimitEntry } from '@behest/protocol/limits';
import { rangesBeside } from '@behest/protocol/receipt-proof';
import type { Caller, PrincipalSession, Tenant } from '../../../platform/caller.ts';
import { inRowPortions } from '../../../platform/db/page-rows.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { mustBeSpan } from '../../../platform/paging.ts';
import { findConsentRecord } from '../../grants/consent/index.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import { scopesInWords } from '../../grants/resources/index.ts';
import { findScopeWords } from '../../grants/resources/resources.queries.ts';
import { sessionEnded } from '../../people/principals/index.ts';
import { type ServiceDidDeps, serviceDid, signToken } from '../../service/keys/index.ts';
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

export interface ReceiptDeps extends ServiceDidDeps {
  readonly issuer: string;
  readonly longWork: LongWork;
  readonly log: TransparencyLog;
  /** The page that checks receipts. */
  readonly verifier: string;
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

/** The most bytes of metadata in a receipt. A browser still reads such a file. */
const MOST_BYTES = 64 * 1024 * 1024;

type Root = NonNullable<Awaited<ReturnType<typeof findRoot>>>;
type Head = Omit<Receipt, 'consent' | 'entries' | 'limits' | 'proof' | 'statement'>;

/** A receipt, as far as it is known before its entries are read. */
interface Begun {
  readonly head: Head;
  readonly consent: Receipt['consent'];
  readonly tree: SignedTree;
  /** The numbers of its entries, ascending. */
  readonly seqs: readonly number[];
  readonly isHidden: (name: string) => boolean;
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
  const kept = new Set(root.auditPrivateKeys.map((name) => `metadata.${name}`));
  const isHidden = (name: string) => audience === 'principal' && kept.has(name);
  const seqs = [...requestSeqs, ...found].sort((one, other) => one - other);
  const texts = textsOf(deps, tenant, { head, consent, tree, seqs, isHidden });
  return { grantId: id, format, texts: format === 'html' ? inPage(deps.verifier, texts) : texts };
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
  if (entries > maxEntries || bytes > MOST_BYTES) {
    const message = `A receipt has at most ${maxEntries} entries and 64 MiB of metadata. Ask for a shorter period with \`since\` and \`until\`.`;
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
  const { issuer, grantId, rootGrantId, since, until } = head;
  const report = since || until ? undefined : limits.report();
  const statement = await signToken(deps.keyRing, 'receipt+jwt', {
    iss: issuer,
    iat: Math.floor(Date.parse(head.generatedAt) / 1000),
    origin: tree.origin,
    grantId,
    rootGrantId,
    size: tree.size,
    root: head.checkpoint.root,
    count: seqs.length,
    leaves: leaves.digest('base64url'),
    head: hash('sha256', canonicalJson(head), 'base64url'),
    ...(report && { limits: digestOfLimits(report, sha256) }),
    ...(since && { since }),
    ...(until && { until }),
  });
  yield `],${report ? `"limits":${JSON.stringify(report)},` : ''}"statement":"${statement}"}`;
}

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
  for (let at = 0; at < seqs.length; ) {
    const rows = await listEntries(db, tenant, seqs.slice(at, at + PORTION));
    const isWhole = rows.length > 0 && rows.every(({ seq }, place) => Number(seq) === seqs[at + place]);
    if (!isWhole) throw new Error('An entry of the chain is missing.');
    at += rows.length;
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

/** The parts of an entry are hashed one by one. */
const lengthToHash = ({ metadata, parts }: EntryRow) => 6 * metadata.length + (parts?.join('').length ?? 0);

function readEntry(row: EntryRow, isHidden: Begun['isHidden']) {
  const entry = toLink(row);
  const parts = row.parts ?? partsOf(entry, sha256);
  const index = entry.seq - 1;
  const shownParts = hideParts(parts, isHidden, sha256);
  const { seq, action, status, agentId = null, grantId = null } = entry;
  const metadata = Object.entries(entry.metadata).filter(([name]) => !isHidden(`metadata.${name}`));
  const hidden = shownParts.filter((part, at) => at > 1 && part.startsWith('#')).length;
  return {
    leaf: leafOf(entry.hash, parts, sha256),
    text: JSON.stringify({ index, hash: entry.hash, parts: shownParts }),
    shown: { seq, action, status, agentId, grantId, metadata: Object.fromEntries(metadata), hidden },
  };
}

/** Ranges whose roots are computed at once: each takes up to two tiles. */
const RANGES = 128;

async function* proofPortions({ log }: ReceiptDeps, tenant: Tenant, { seqs, tree }: Begun) {
  const indices = seqs.map((seq) => seq - 1);
  let portion = [];
  for (const range of rangesBeside(indices, tree.size)) {
    portion.push(range);
    if (portion.length < RANGES) continue;
    yield await log.rootsOf(tenant, portion, tree);
    portion = [];
  }
  if (portion.length > 0) yield await log.rootsOf(tenant, portion, tree);
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
