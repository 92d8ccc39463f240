import { canonicalJson } from '@behest/protocol/canonical-json';
import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { openSnapshot } from '../../../platform/db/snapshot.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { listPolicies, PolicyRecord } from '../../grants/policies/index.ts';
import { findSeqRange } from '../../record/audit/audit.queries.ts';
import { beginCheck, ChainVerdict } from '../../record/audit/index.ts';
import { type KeyRing, signDetached } from '../../service/keys/index.ts';
import { archiveOf } from './archive.ts';
import type { Counts, PackQuery } from './compliance.schema.ts';
import { controlsOf } from './controls.rules.ts';
import { mustBeDays } from './days.rules.ts';
import {
  type Export,
  type ExportDeps,
  entryPortions,
  exportedGrants,
  mustFit,
  recordExport,
} from './export.ts';
import { mediaTypes } from './forms.rules.ts';
import { beginSection, digestOf, type Section } from './pack.rules.ts';
import { countDay, type DayCounts, type PackFacts } from './report.rules.ts';
import { countAll } from './summary.ts';

export { ChainVerdict, PolicyRecord };

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
    const summary = await countAll(snapshot.db, caller.tenant, query, now);
    const counts = [summary.grants.total, summary.auditEntries.total, summary.policies.total];
    for (const count of counts) mustFit(count, deps.maxRows, []);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const { format: form } = query;
    await recordExport(deps, caller, { kind: 'evidence-pack', span: query, total, form }, now);
    const bounds = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
    const meta = { schemaVersion: '1.0', generatedAt: now.toISOString(), ...bounds, framework };
    const parts = { meta, summary, query, now, log };
    const texts = packTexts({ ...deps, db: snapshot.db }, caller, parts);
    const { end: close } = snapshot;
    if (form === 'json') return { type: mediaTypes.json, texts, close };
    return { type: mediaTypes.zip, texts: archiveOf(deps.keyRing, texts), close };
  } catch (error) {
    await snapshot.end();
    throw error;
  }
}

interface PackParts {
  readonly meta: PackFacts['meta'];
  readonly summary: Counts;
  readonly query: PackQuery;
  readonly now: Date;
  readonly log: BrokenChainLog;
}

async function* packTexts(
  deps: PackDeps,
  caller: Caller,
  { meta, summary, query, now, log }: PackParts,
): AsyncGenerator<string, PackFacts> {
  const { tenant } = caller;
  const [grants, auditEntries, policies] = [beginSection(), beginSection(), beginSection()];
  yield `{"meta":${canonicalJson(meta)},"summary":${canonicalJson(summary)},"grants":[`;
  yield* written(grants, exportedGrants(deps.db, caller, query, now));

  yield '],"auditEntries":[';
  const range = await findSeqRange(deps.db, tenant, query);
  const check = await beginCheck(deps, tenant, range, query.until !== undefined);
  let erasures = 0;
  const days: Map<string, DayCounts> = new Map();
  for await (const entries of entryPortions(deps, deps.db, tenant, {}, range)) {
    check.take(entries);
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
