import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { archiveMembers, MANIFEST_TYPE } from '@behest/protocol/evidence-archive';
import { beginZip } from '@behest/protocol/stored-zip';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, openSnapshot } from '../../../platform/db/db.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { listPolicies, PolicyRecord } from '../../grants/policies/index.ts';
import { findSeqRange, type SeqRange } from '../../record/audit/audit.queries.ts';
import { AuditChainVerification, beginCheck } from '../../record/audit/index.ts';
import { type KeyRing, signDetached } from '../../service/keys/index.ts';
import { type GrantFilter, listGrantIdsOfCase } from './compliance.repo.ts';
import { mediaTypes, mustBeDays } from './compliance.rules.ts';
import type { Counts, PackQuery, PackSubject } from './compliance.schema.ts';
import {
  type AuditEntry,
  countAbout,
  countAll,
  type Export,
  type ExportDeps,
  entryPortions,
  exportedGrants,
  mustFit,
  recordExport,
} from './export.ts';
import {
  beginSection,
  controlsOf,
  countDay,
  type DayCounts,
  digestOf,
  type PackFacts,
  reportOf,
  type Section,
} from './pack.rules.ts';

export { AuditChainVerification, PolicyRecord };

export interface PackDeps extends ExportDeps {
  readonly keyRing: KeyRing;
  readonly metrics: Metrics;
}

/** The log in which the operator reads that a chain is broken. */
export interface BrokenChainLog {
  error(facts: object, message: string): void;
}

/**
 * Everything that an auditor needs of a period, signed, so that it can be checked without the service. The lists are
 * hashed while they are sent, and the audit entries are verified on their way out.
 * @throws BAD_REQUEST, EXPORT_TOO_LARGE
 */
export async function makePack(
  deps: PackDeps,
  caller: Caller,
  query: PackQuery,
  log: BrokenChainLog,
): Promise<Export> {
  mustBeDays(query);
  const now = deps.clock();
  const snapshot = await openSnapshot(deps.db);
  try {
    const { since, until, framework } = query;
    const range = await findSeqRange(snapshot.db, caller.tenant, query);
    const subject = subjectOf(query);
    const grants = await grantsOf(snapshot.db, caller, { subject, query, range });
    const summary = subject
      ? await countAbout(snapshot.db, caller.tenant, { subject, grants, range, span: query }, now)
      : await countAll(snapshot.db, caller.tenant, query, now);
    const counts = [summary.grants.total, summary.auditEntries.total, summary.policies.total];
    for (const count of counts) mustFit(count, deps.maxRows, []);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const { format: form } = query;
    const about = { kind: 'evidence-pack', span: query, total, form, ...(subject && { subject }) } as const;
    await recordExport(deps, caller, about, now);
    const bounds = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
    const meta = { schemaVersion: '1.0', generatedAt: now.toISOString(), ...bounds, framework };
    const parts = { meta: { ...meta, ...(subject && { subject }) }, summary, query, range, grants, now, log };
    const texts = packTexts({ ...deps, db: snapshot.db }, caller, parts);
    const { end: close } = snapshot;
    if (form === 'json') return { type: mediaTypes.json, texts, close };
    return { type: mediaTypes.zip, texts: archiveOf(deps.keyRing, texts), close };
  } catch (error) {
    await snapshot.end();
    throw error;
  }
}

/** Whom or what a pack is about; undefined for the whole account. */
function subjectOf({ agentId, principalId, caseId }: PackQuery): PackSubject | undefined {
  const given = Object.entries({ agentId, principalId, caseId }).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

interface Wanted {
  readonly subject: PackSubject | undefined;
  readonly query: PackQuery;
  readonly range: SeqRange;
}

/** The grants of a pack. Those of a case are the ones that its entries name, whenever they were issued. */
async function grantsOf(
  db: Executor,
  { tenant }: Caller,
  { subject, query, range }: Wanted,
): Promise<GrantFilter> {
  const { since, until } = query;
  const { agentId, principalId, caseId } = subject ?? {};
  const of = { agentId, principalId };
  if (caseId !== undefined) return { ...of, ids: await listGrantIdsOfCase(db, tenant, caseId, range) };
  return { ...of, ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
}

const isAbout = ({ agentId, principalId, caseId }: PackSubject, entry: AuditEntry): boolean =>
  (agentId === undefined || entry.agentId === agentId) &&
  (principalId === undefined || entry.principalId === principalId) &&
  (caseId === undefined || Object(entry.metadata).caseId === caseId);

interface PackParts {
  readonly meta: PackFacts['meta'];
  readonly summary: Counts;
  readonly query: PackQuery;
  readonly range: SeqRange;
  readonly grants: GrantFilter;
  readonly now: Date;
  readonly log: BrokenChainLog;
}

async function* packTexts(
  deps: PackDeps,
  caller: Caller,
  { meta, summary, query, range, grants: wanted, now, log }: PackParts,
): AsyncGenerator<string, PackFacts> {
  const { tenant } = caller;
  const [grants, auditEntries, policies] = [beginSection(), beginSection(), beginSection()];
  yield `{"meta":${canonicalJson(meta)},"summary":${canonicalJson(summary)},"grants":[`;
  yield* written(grants, exportedGrants(deps.db, caller, wanted, now));

  yield '],"auditEntries":[';
  const { subject = {} } = meta;
  const check = await beginCheck(deps, tenant, range, query.until !== undefined);
  let erasures = 0;
  const days: Map<string, DayCounts> = new Map();
  // Also of a pack about somebody, every entry is verified: what is left out cannot hide that the chain is broken.
  for await (const all of entryPortions(deps, deps.db, tenant, {}, range)) {
    check.take(all);
    const entries = all.filter((entry) => isAbout(subject, entry));
    for (const entry of entries) countDay(days, entry);
    erasures += entries.filter(({ action }) => action === 'audit.erased').length;
    yield auditEntries.write(entries);
  }

  yield '],"policies":[';
  yield* written(policies, policiesOf(deps.db, caller));

  const chainIntegrity = { ...(await check.conclude()), checkedEntries: check.goodEntries() };
  const { valid, firstBrokenAt, problem } = chainIntegrity;
  if (!valid) {
    log.error({ ...tenant, firstBrokenAt, problem }, 'an audit chain is broken');
    deps.metrics.gauge('audit_chain_broken').inc();
  }
  const controls = controlsOf(query.framework, {
    ...summary,
    goodEntries: chainIntegrity.checkedEntries,
    erasures,
  });
  const sections = {
    grants: grants.hash(),
    auditEntries: auditEntries.hash(),
    policies: policies.hash(),
  };
  const digest = digestOf({ meta, summary, chainIntegrity, controls, sections });
  const attestation = {
    sections,
    digest,
    ...(await signDetached(deps.keyRing, 'evidence-pack+jws', digest)),
  };
  yield `],"chainIntegrity":${canonicalJson(chainIntegrity)},"controls":${canonicalJson(controls)}`;
  yield `,"attestation":${canonicalJson(attestation)}}`;
  return { meta, summary, chainIntegrity, controls, days };
}

async function* written(section: Section, portions: AsyncIterable<readonly object[]>) {
  for await (const elements of portions) yield section.write(elements);
}

/** In the order of evaluation. */
async function* policiesOf(db: Executor, caller: Caller) {
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof listPolicies>> = await listPolicies({ db }, caller, {
      limit: 500,
      ...(cursor && { cursor }),
    });
    yield page.policies;
    cursor = page.nextCursor;
  }
}

/**
 * The archive of a pack: the pack, the result of the check of its chain with the signed checkpoint, a report, the public
 * keys, and last a signed manifest of all of them. It is made while it is sent, so its length costs no memory.
 * @param pack the texts of the pack, and in the end its facts
 */
async function* archiveOf(
  keyRing: KeyRing,
  pack: AsyncGenerator<string, PackFacts>,
): AsyncGenerator<Uint8Array> {
  const zip = beginZip();
  const members: { readonly name: string; readonly sha256: string; readonly size: number }[] = [];
  const [packName, chainName, reportName, keysName, manifestName] = archiveMembers;
  try {
    yield zip.open(packName);
    const hash = createHash('sha256');
    let size = 0;
    let step = await pack.next();
    for (; !step.done; step = await pack.next()) {
      const bytes = Buffer.from(step.value);
      hash.update(bytes);
      size += bytes.length;
      zip.take(bytes);
      yield bytes;
    }
    yield zip.close();
    members.push({ name: packName, sha256: hash.digest('hex'), size });

    const whole = (name: string, text: string) => {
      const bytes = Buffer.from(text);
      members.push({ name, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length });
      const before = zip.open(name);
      zip.take(bytes);
      return Buffer.concat([before, bytes, zip.close()]);
    };
    const facts = step.value;
    yield whole(chainName, canonicalJson(facts.chainIntegrity));
    yield whole(reportName, reportOf(facts));
    yield whole(keysName, keyRing.jwks().body.toString());
    const told = { schemaVersion: '1.0', generatedAt: facts.meta.generatedAt, members: [...members] };
    const digest = digestOf(told);
    const attestation = { digest, ...(await signDetached(keyRing, MANIFEST_TYPE, digest)) };
    yield whole(manifestName, canonicalJson({ ...told, attestation }));
    yield zip.end();
  } finally {
    await pack.return({} as never);
  }
}
