import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import {
  ATTEMPTS,
  BeforeTransaction,
  type Executor,
  isLostRace,
  type OpenTransaction,
  openTransaction,
} from '../../db/db.ts';
import { AppError } from '../../errors.ts';
import { type SealingKeys, seal, unseal } from '../../seal.ts';
import { bodyOf, bytesOf } from '../bodies/bodies.ts';
import { callerOf, timesSent } from '../callers/credentials.ts';
import { mustBeAllowed } from '../callers/member.ts';
import { isRepeatable } from '../routes/declarations.ts';
import { claimAnswer, keepAnswer } from './answers.ts';

/** The label of the key that makes fingerprints. */
export const FINGERPRINT_KEY_USE = 'behest/idempotency-fingerprint/v1';

const FORM = Buffer.from([1]); // says of a stored fingerprint how it was made

/** The hash of a request's query and body. It stays in the process: a body may be a password, which a dump lets guess. */
const requestHash = (query: string, body: Buffer): Buffer =>
  createHash('sha256').update(`${query}\n`).update(body).digest();

/** The form in which a hash is stored. */
const fingerprintOf = ({ current }: SealingKeys, hash: Buffer): Buffer => keyed(current, hash);

const keyed = (key: KeyObject, hash: Buffer): Buffer =>
  Buffer.concat([FORM, createHmac('sha256', key).update(hash).digest()]);

/** Whether a stored fingerprint is that of a request, under the current key or a former one. */
function isFingerprintOf({ current, previous }: SealingKeys, stored: Buffer, hash: Buffer): boolean {
  return [current, ...previous].some((key) => {
    const expected = keyed(key, hash);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  });
}

/** The label of the key that seals stored answers. */
export const IDEMPOTENCY_KEY_USE = 'behest/idempotency-seal/v1';

export interface IdempotencyDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly sealing: SealingKeys;
  readonly fingerprinting: SealingKeys;
}

/** The state of a request with an `Idempotency-Key` while it runs. */
interface Repeatable {
  /** The key of its stored answer: a hash of caller, method, path and key. */
  readonly answerKey: Buffer;
  readonly requestHash: Buffer;
  /** The transaction of the whole request; undefined once it has ended. */
  open: OpenTransaction | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on a request without an `Idempotency-Key`. */
    repeatable: Repeatable | null;
  }
}

/**
 * The dependencies of a repeatable handler: in place of the pool, they hold the transaction that will store
 * its answer.
 */
export function depsFor<Deps extends { readonly db: Executor }>(request: FastifyRequest, deps: Deps): Deps {
  const open = request.repeatable?.open;
  return open ? { ...deps, db: open.tx } : deps;
}

/**
 * A name that a request shares with its repeats, for work outside of its transaction, which a repeat has to find again.
 * @returns undefined for a request without an `Idempotency-Key`
 */
export function repeatIdOf({ repeatable }: FastifyRequest): string | undefined {
  return repeatable
    ? createHash('sha256').update('repeat').update(repeatable.answerKey).digest('base64url')
    : undefined;
}

/**
 * A request with an `Idempotency-Key` runs in one transaction, from before its shape is checked until its
 * answer is stored, just before the answer is sent. So a crash leaves effect and answer, or neither. Add it
 * before bodies are parsed and before the routes.
 * @see docs/design/requests.md
 */
export function addIdempotency(app: FastifyInstance, deps: IdempotencyDeps): void {
  app.decorateRequest('repeatable', null);

  app.addHook('preValidation', (request, reply, done) => {
    const { method, declared: config } = request;
    const key = isRepeatable({ method, config }) ? keyOf(request) : undefined;
    if (key === undefined) return done();
    const [path = '', query = ''] = request.url.split(/\?(.*)/s);
    const { tenant, actor } = callerOf(request);
    request.repeatable = {
      // The actor is the API key, so that no other key of the developer finds what this one was answered.
      answerKey: createHash('sha256')
        .update(JSON.stringify([tenant.developerId, actor, request.method, path, key]))
        .digest(),
      requestHash: requestHash(query, bytesOf(request)),
      open: undefined,
    };
    return begin(deps, request, reply, request.repeatable);
  });

  app.addHook('onRoute', (route) => {
    if (!isRepeatable(route)) return;
    const { handler } = route;
    route.handler = function repeatableHandler(request, reply) {
      const { repeatable } = request;
      if (!repeatable) return handler.call(this, request, reply);
      return untilKept(deps, request, reply, {
        repeatable,
        handle: async () => handler.call(this, request, reply),
      });
    };
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const { repeatable } = request;
    if (!repeatable?.open) return done();
    return keep(deps, request, reply, { repeatable, open: repeatable.open, payload });
  });
}

interface Repeated {
  readonly repeatable: Repeatable;
  readonly handle: () => Promise<unknown>;
}

/** A request that asks for more than this before its transaction fails. */
const MAX_BEFORE = 5;

/** Handles a request again whose transaction lost a race, or needs work done before it. */
async function untilKept(
  deps: IdempotencyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { repeatable, handle }: Repeated,
): Promise<unknown> {
  for (let [attempt, before] = [1, 0]; ; ) {
    try {
      return await handle();
    } catch (error) {
      const work = error instanceof BeforeTransaction && before < MAX_BEFORE ? error.work : undefined;
      if (!work && (!isLostRace(error) || attempt === ATTEMPTS)) return refuse(repeatable, error);
      await rollBack(repeatable);
      if (work) before += 1;
      else attempt += 1;
      await work?.();
    }
    const replayed = await begin(deps, request, reply, repeatable);
    if (replayed) return replayed;
  }
}

interface Answered {
  readonly repeatable: Repeatable;
  readonly open: OpenTransaction;
  readonly payload: unknown;
}

/** Stores a success in the request's transaction, and ends the transaction. */
async function keep(
  { clock, sealing, fingerprinting }: IdempotencyDeps,
  request: FastifyRequest,
  { statusCode: status }: FastifyReply,
  { repeatable, open, payload }: Answered,
): Promise<void> {
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess) return rollBack(repeatable);
  const { answerKey } = repeatable;
  const fingerprint = fingerprintOf(fingerprinting, repeatable.requestHash);
  const { tenant } = callerOf(request);
  const body = seal(sealing, textOf(payload), answerKey);
  await keepAnswer(open.tx, tenant, answerKey, clock(), { fingerprint, status, body });
  await commit(repeatable);
}

/** Opens the request's transaction. @returns the reply when it repeats a stored answer */
async function begin(
  { db, clock, sealing, fingerprinting }: IdempotencyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  repeatable: Repeatable,
): Promise<FastifyReply | undefined> {
  const { tenant } = callerOf(request);
  const open = await openTransaction(db);
  repeatable.open = open;
  const known = await claimAnswer(open.tx, tenant, repeatable.answerKey, clock());
  if (known === undefined) return undefined;

  await rollBack(repeatable);
  if (known === 'taken') {
    const message = 'The first request with this `Idempotency-Key` still runs. Send it again after a second.';
    throw new AppError('IDEMPOTENCY_IN_PROGRESS', message);
  }
  const text = unseal(sealing, known.body, repeatable.answerKey);
  const isSame = isFingerprintOf(fingerprinting, known.fingerprint, repeatable.requestHash);
  if (!isSame || text === undefined) {
    const message = 'This `Idempotency-Key` was used for another request. Send a new key.';
    throw new AppError('IDEMPOTENCY_CONFLICT', message);
  }
  mustBeAllowed(request, bodyOf(request)); // the member may have lost the role since the first request
  reply.code(known.status).header('idempotency-replayed', 'true');
  return text === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(text);
}

/**
 * Commits the writes that a refusal keeps, as without the header: a counted guess, a revoked family of
 * tokens. All other writes were undone at the refusal. A failure leaves nothing.
 */
async function refuse(repeatable: Repeatable, error: unknown): Promise<never> {
  const isRefusal = error instanceof AppError && error.status < 500;
  if (isRefusal) await commit(repeatable);
  throw error;
}

async function commit(repeatable: Repeatable): Promise<void> {
  const { open } = repeatable;
  repeatable.open = undefined;
  await open?.commit();
}

async function rollBack(repeatable: Repeatable): Promise<void> {
  const { open } = repeatable;
  repeatable.open = undefined;
  // A lost connection has undone everything already, and the caller gets the first failure.
  await open?.rollback().catch(() => {});
}

/** @throws BAD_REQUEST */
function keyOf({ raw, headers }: FastifyRequest): string | undefined {
  const times = timesSent(raw, 'idempotency-key');
  if (times === 0) return undefined;
  const key = String(headers['idempotency-key']);
  if (times === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new AppError('BAD_REQUEST', 'Send one `Idempotency-Key` of 1 to 255 printable ASCII characters.');
}

function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string') return payload;
  throw new Error('A repeatable answer has to be text.');
}
