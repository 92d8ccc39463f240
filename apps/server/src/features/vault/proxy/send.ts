import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { GrantHolder } from '../../../platform/caller.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { mediaTypeOf, type PassedAnswer, type PassingFailure } from '../../../platform/egress/passing.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import {
  type LendDeps,
  type Lent,
  lendRefreshed,
  mayRefresh,
  noteRefusedByUpstream,
} from '../credentials/index.ts';
import { formsOf, headersForAgent, reflects } from './answer.rules.ts';
import { AnswerCut, guarded, type Outcome, outcomeOf, untilBegun, whenOver } from './answer.ts';
import { setCallEnd } from './calls.repo.ts';
import { block, type ReadyCall } from './plan.ts';
import { injectedHeader, injectedValue, type ProxyBounds } from './profile.rules.ts';
import { badRequest, headersForUpstream } from './request.rules.ts';
import type { Streams } from './streams.ts';

export interface SendDeps {
  /** The upstreams of profiles. */
  readonly egress: Egress;
  readonly bounds: ProxyBounds;
  readonly streamSeconds: number;
  readonly streams: Streams;
  readonly logger?: Logger;
}

interface Sending extends SendDeps, LendDeps {
  /** Called once when bytes of the request may have left. */
  readonly onSent: () => void;
  /** Writes another entry, for the second request of a call. */
  readonly recordAgain: (lent: Lent) => Promise<boolean>;
}

/** The answer of an upstream, as the agent gets it. */
export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for an answer without a body. */
  readonly body: Readable | null;
  /** Calls the listener when the answer is over. */
  readonly onEnd: (listener: () => void) => void;
}

export interface LentCall extends ReadyCall {
  readonly callId: string;
  readonly lent: Lent;
}

const CONNECT_MS = 5_000;
const FIRST_BYTE_MS = 120_000;
const GAP_MS = 60_000;
const TOTAL_MS = 300_000;
const EVENTS = 'text/event-stream';

/** @throws UPSTREAM_ERROR, PAYLOAD_TOO_LARGE, BAD_REQUEST for a header that was sent twice */
export async function sendOn(deps: Sending, holder: GrantHolder, call: LentCall): Promise<ProxyAnswer> {
  const began = performance.now();
  const finish = (outcome: Outcome, status: number | null = null, responseBytes = 0) => {
    const durationMs = Math.round(performance.now() - began);
    const end = { status, outcome, responseBytes, durationMs };
    setCallEnd(deps.db, holder.tenant, call.callId, end).catch((err: unknown) => {
      deps.logger?.warn({ err }, 'what came of a call through the vault proxy was not written');
    });
  };
  const fail = async (outcome: Outcome, status: number | null = null): Promise<never> => {
    finish(outcome, status);
    const { service } = call.request;
    if (outcome === 'credential_reflected') await block(deps, holder, { service, reason: outcome });
    const message = 'The upstream of this service gave no answer that can be passed on.';
    throw new AppError('UPSTREAM_ERROR', message, { service, reason: outcome });
  };

  const first = await send(deps, call, call.lent, fail);
  const { answer, lent } = await secondTry(deps, holder, call, first, fail);
  return passBack(deps, holder, { ...call, lent }, { answer, finish, fail });
}

type Fail = (outcome: Outcome, status?: number | null) => Promise<never>;

async function send(
  deps: Sending,
  call: LentCall,
  { row, secret }: Lent,
  fail: Fail,
): Promise<IncomingMessage> {
  const { request, headers, framing, plan, body } = call;
  const { target } = plan;
  const { inject, headers: constants = {}, forwardHeaders, timeoutSeconds } = plan.profile;
  const injected = injectedHeader(inject);
  const passed = headersForUpstream(headers, { injected, forwardHeaders, mayRange: plan.mayRange });
  if (!passed) throw badRequest('A header was sent twice.');
  const value = injectedValue(inject, secret);
  if (/[^\x20-\x7e\x80-\xff]/.test(value)) return fail('protocol'); // no header takes such a credential
  const query = inject.style === 'query' ? withParameter(target.query, inject.name, value) : target.query;
  const total = Math.min(TOTAL_MS, (timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000);
  const sent: PassedAnswer = await deps.egress.pass({
    origin: plan.origin,
    target: `${target.path}${query && `?${query}`}`,
    method: request.method,
    headers: {
      ...passed,
      ...lowerCase(constants),
      'accept-encoding': 'identity',
      'user-agent': 'Behest-Proxy/0.6',
      ...lengthOf(body.content, framing.length),
      ...(injected !== undefined && { [injected]: value }),
    },
    ...(body.content !== undefined && { body: body.content }),
    holder: `${row.id} ${row.version}`, // no connection is shared between credentials
    times: {
      connect: CONNECT_MS,
      firstByte: Math.min(FIRST_BYTE_MS, total),
      gap: GAP_MS,
      total: (mediaType) => (mediaType === EVENTS ? deps.streamSeconds * 1000 : total),
    },
    signal: request.gone,
  });
  if (sent.failure === undefined || sent.mayHaveSent) deps.onSent();
  if (sent.failure === undefined) return sent.answer;
  const broken = body.content !== undefined && 'errored' in body.content ? body.content.errored : null;
  if (broken instanceof AppError) throw broken;
  return fail(request.gone.aborted ? 'client_gone' : OUTCOMES[sent.failure]);
}

const OUTCOMES: Readonly<Record<PassingFailure, Outcome>> = {
  timeout: 'timeout',
  connection_failed: 'connect',
  dns_failed: 'connect',
  tls_failed: 'tls',
  blocked_address: 'blocked_address',
  protocol: 'protocol',
};

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The frame of the body, which the service makes itself. */
function lengthOf(
  content: Readable | Buffer | undefined,
  length: number | undefined,
): Record<string, string> {
  if (content === undefined) return {};
  if (Buffer.isBuffer(content)) return { 'content-length': String(content.length) };
  return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) };
}

function withParameter(query: string, name: string, value: string): string {
  return `${query}${query && '&'}${name}=${value}`;
}

/** An upstream that refuses the access token of a read is asked once more, with a new token if there is one. */
async function secondTry(
  deps: Sending,
  holder: GrantHolder,
  call: LentCall,
  answer: IncomingMessage,
  fail: Fail,
) {
  const { lent, request } = call;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (answer.statusCode !== 401 || !isRead || !mayRefresh(deps, lent.row)) return { answer, lent };
  const again = await lendRefreshed(deps, holder, request.service, lent.row);
  if (!again || again.row.version === lent.row.version) return { answer, lent };
  answer.destroy();
  if (!(await deps.recordAgain(again))) return fail('protocol');
  const second = await send(deps, call, again, fail);
  const use = { row: again.row, service: request.service };
  if (second.statusCode === 401) await noteRefusedByUpstream(deps, holder, use);
  return { answer: second, lent: again };
}

interface Passing {
  readonly answer: IncomingMessage;
  readonly finish: (outcome: Outcome, status: number, bytes: number) => void;
  readonly fail: Fail;
}

async function passBack(
  deps: Sending,
  holder: GrantHolder,
  { request, plan, lent }: LentCall,
  { answer, finish, fail }: Passing,
): Promise<ProxyAnswer> {
  const status = answer.statusCode ?? 0;
  const refuse = (outcome: Outcome) => {
    answer.destroy();
    return fail(outcome, status);
  };
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' || status < 200) return refuse('protocol');
  const { inject, returnHeaders, maxResponseBytes = Number.POSITIVE_INFINITY } = plan.profile;
  const maxBytes = Math.min(deps.bounds.maxResponseBytes, maxResponseBytes);
  const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304;
  if (hasBody && Number(answer.headers['content-length'] ?? 0) > maxBytes) return refuse('too_large');
  const sought = {
    forms: formsOf([lent.secret, injectedValue(inject, lent.secret)]),
    secrets: formsOf([lent.secret]),
  };
  const headers = headersForAgent(answer.rawHeaders, {
    status,
    returnHeaders,
    asked: new URL(`${plan.origin}${plan.target.path}`),
    proxyPath: `/v1/vault/proxy/${request.service}/`,
    injectedParameter: inject.style === 'query' ? inject.name : undefined,
    reflects: (value) => reflects(sought, value),
  });
  if (!hasBody) {
    answer.resume();
    finish('upstream', status, 0);
    return { status, headers, body: null, onEnd: (listener) => listener() };
  }
  const { body, bytes } = guarded(answer, { sought, maxBytes });
  try {
    await untilBegun(body);
  } catch (error) {
    return refuse(outcomeOf(error, request.gone.aborted));
  }
  whenOver(body, () => {
    const { errored, readableEnded } = body;
    const isWhole = readableEnded && errored === null;
    const outcome = isWhole ? 'upstream' : outcomeOf(errored, request.gone.aborted || errored === null);
    finish(outcome, status, bytes());
    if (outcome !== 'credential_reflected') return;
    block(deps, holder, { service: request.service, reason: outcome }).catch((err: unknown) => {
      deps.logger?.warn({ err }, 'a reflected credential was not recorded');
    });
  });
  if (mediaTypeOf(answer) === EVENTS) {
    whenOver(
      body,
      deps.streams.watch(holder, () => body.destroy(new AnswerCut('grant_ended'))),
    );
  }
  return { status, headers, body, onEnd: (listener) => whenOver(body, listener) };
}
