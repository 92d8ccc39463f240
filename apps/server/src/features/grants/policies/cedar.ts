import { Worker } from 'node:worker_threads';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { type FairPlaces, fairPlaces } from '../../../platform/fair-places.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { type CedarCall, cedarCallOf, MAX_CEDAR_BYTES } from './cedar.rules.ts';
import type { OutsideAnswer, OutsideFacts } from './outside.rules.ts';
import { findActiveDigest, findContentOf } from './policies.repo.ts';

export type CedarWork =
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'decide'; readonly id: string; readonly text?: string; readonly call: CedarCall };

export type CedarAnswer =
  | { readonly faults: readonly string[] }
  | { readonly isMissing: true }
  | { readonly effect: 'allow' | 'deny'; readonly reason: string };

/** Together the 5 s of a decision point outside. */
const MAX_WAIT = 3000; // milliseconds until it is the developer's turn
const MAX_WORK = 2000; // milliseconds
const MAX_CHECK = 10_000; // milliseconds; a check starts a thread of its own

interface Thread {
  readonly places: FairPlaces;
  worker?: Worker | undefined;
}

/** One thread decides for a process. By the adapter of a database, as the policies that a process keeps. */
const threads = new WeakMap<object, Thread>();

interface CedarDeps {
  readonly db: Executor;
  readonly logger?: Logger | undefined;
}

/**
 * Asks the active Cedar bundle of a developer.
 * @returns undefined when Cedar gave no answer; an effect of null for a developer without a bundle
 */
export async function askCedar(
  { db, logger }: CedarDeps,
  facts: OutsideFacts,
): Promise<OutsideAnswer | undefined> {
  const tenant = { developerId: facts.developerId };
  const active = await findActiveDigest(db, tenant);
  if (!active) return { effect: null, reason: '' };
  const id = active.sha256;
  if (active.bytes > MAX_CEDAR_BYTES) return { effect: 'deny', reason: 'bundle_invalid: it is too large' };
  const thread = threads.get(db.getExecutor().adapter) ?? { places: fairPlaces(1, MAX_WAIT) };
  threads.set(db.getExecutor().adapter, thread);

  if (!(await thread.places.take(facts.developerId))) {
    logger?.warn({ developerId: facts.developerId }, 'Cedar had no time for a request');
    return undefined;
  }
  try {
    const call = cedarCallOf(facts);
    const answer = await decideOn(thread, { kind: 'decide', id, call });
    if ('effect' in answer) return answer;
    const found = await findContentOf(db, tenant, id);
    const text = found?.content.toString() ?? '';
    const second = await decideOn(thread, { kind: 'decide', id, text, call });
    return 'effect' in second ? second : undefined;
  } catch (error) {
    logger?.warn({ err: error, developerId: facts.developerId, bundle: id }, 'Cedar gave no answer');
    return undefined;
  } finally {
    thread.places.give();
  }
}

async function decideOn(thread: Thread, work: CedarWork): Promise<CedarAnswer> {
  thread.worker ??= startWorker();
  const { worker } = thread;
  try {
    return await workOf(worker, work, MAX_WORK);
  } catch (error) {
    thread.worker = undefined;
    void worker.terminate();
    throw error;
  }
}

const checks = fairPlaces(1, MAX_CHECK);

/**
 * Reads a bundle as Cedar does when it decides, on a thread of its own.
 * @returns its faults, in words for its author @throws SERVICE_UNAVAILABLE
 */
export async function faultsOfCedar(bytes: Buffer, developerId: string): Promise<readonly string[]> {
  if (bytes.length > MAX_CEDAR_BYTES) return [`the bundle has more than ${MAX_CEDAR_BYTES} bytes`];
  if (!(await checks.take(developerId))) {
    throw new AppError('SERVICE_UNAVAILABLE', 'Too many bundles are being checked; try again.');
  }
  const worker = startWorker();
  try {
    const answer = await workOf(worker, { kind: 'check', text: bytes.toString() }, MAX_CHECK);
    return 'faults' in answer ? answer.faults : [];
  } catch {
    return ['Cedar cannot read the bundle, for example because it nests too deeply'];
  } finally {
    void worker.terminate();
    checks.give();
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL('./cedar.thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  worker.unref();
  worker.on('error', () => {}); // the work under way fails with it
  return worker;
}

/** Gives a thread one work at a time. @throws when it fails, ends or takes too long */
function workOf(worker: Worker, work: CedarWork, longest: number): Promise<CedarAnswer> {
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onMessage = (answer: CedarAnswer) => end(() => resolve(answer));
    const onError = (error: unknown) => end(() => reject(error));
    const onExit = () => end(() => reject(new Error('the thread of Cedar ended')));
    const timer = setTimeout(() => end(() => reject(new Error('Cedar took too long'))), longest);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(work);
  });
}
