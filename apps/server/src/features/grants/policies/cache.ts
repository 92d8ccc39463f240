import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { type CompiledPolicies, compilePolicies } from './compile.rules.ts';
import { readPolicies } from './policies.repo.ts';

/** The policies of a developer as they were at a version. */
export interface KnownPolicies extends CompiledPolicies {
  readonly version: string;
}

/** Policies, scopes, networks and tools that a process keeps in all: some tens of megabytes. */
const MOST_KEPT = 300_000;

interface Known {
  readonly sets: Map<string, KnownPolicies>;
  readonly loading: Map<string, Promise<KnownPolicies>>;
  kept: number;
}

/** By the adapter of a database, which its executors with further plugins share. */
const byDatabase = new WeakMap<object, Known>();

const weightOf = ({ policies }: CompiledPolicies) =>
  policies.reduce((sum, { scopes, networks, tools }) => sum + 1 + countOf(scopes, networks, tools), 0);

const countOf = (...lists: (readonly string[] | null)[]) =>
  lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);

/**
 * The developer's policies, at least as new as the version that the caller has read. They are read from the database
 * once for each version. Not for a transaction that has changed policies itself, which a rollback could take back.
 */
export async function policiesAt(db: Executor, tenant: Tenant, version: string): Promise<KnownPolicies> {
  const { adapter } = db.getExecutor();
  const known = byDatabase.get(adapter) ?? { sets: new Map(), loading: new Map(), kept: 0 };
  byDatabase.set(adapter, known);
  const isNewEnough = (set: KnownPolicies) => !isNewer(version, set.version);

  const kept = known.sets.get(tenant.developerId);
  if (kept && isNewEnough(kept)) {
    known.sets.delete(tenant.developerId); // and added again, so that the first is the one longest not asked for
    known.sets.set(tenant.developerId, kept);
    return kept;
  }
  // A transaction holds a connection, and the load of another request may wait for one.
  const underWay = db.isTransaction
    ? undefined
    : await known.loading.get(tenant.developerId)?.catch(() => undefined);
  if (underWay && isNewEnough(underWay)) return underWay;
  return load(db, tenant, known);
}

async function load(db: Executor, tenant: Tenant, known: Known): Promise<KnownPolicies> {
  const { developerId } = tenant;
  const loading = readPolicies(db, tenant).then(({ version, policies }) => ({
    ...compilePolicies(policies),
    version,
  }));
  known.loading.set(developerId, loading);
  try {
    const set = await loading;
    keep(known, developerId, set);
    return set;
  } finally {
    if (known.loading.get(developerId) === loading) known.loading.delete(developerId);
  }
}

const isNewer = (version: string, than: string) => version !== than && BigInt(version) > BigInt(than);

function keep(known: Known, developerId: string, set: KnownPolicies): void {
  const before = known.sets.get(developerId);
  if (before && isNewer(before.version, set.version)) return;
  forget(known, developerId);
  known.sets.set(developerId, set);
  known.kept += weightOf(set);
  for (const oldest of known.sets.keys()) {
    if (known.kept <= MOST_KEPT) return;
    forget(known, oldest);
  }
}

function forget(known: Known, developerId: string): void {
  const set = known.sets.get(developerId);
  if (!set) return;
  known.sets.delete(developerId);
  known.kept -= weightOf(set);
}
