import type { IncomingMessage } from 'node:http';
import { json, text } from 'node:stream/consumers';
import type { AccountsServer } from './accounts-server.ts';

export const BEARER = { type: 'bearer', token: 'token-at-the-transmitter' };

interface Poll {
  readonly ack?: readonly string[];
  readonly setErrs?: Readonly<Record<string, object>>;
  readonly maxEvents: number;
}

/** The streams of a transmitter: it lets its receiver make them, gives signals to polls and keeps what is said to it. */
export function streamsAt({ issuer, behaviour }: AccountsServer) {
  const streams = new Map<string, object>();
  const waiting = new Map<string, string>();
  const polls: Poll[] = [];
  const verifications: { stream_id: string; state: string }[] = [];
  const state = {
    token: BEARER.token,
    tokensGiven: 0,
    /** Answers in place of the poll endpoint; the transmitter does nothing then. */
    pollStatus: (_: Poll): number => 200,
    made: {} as object,
    verifyStatus: 204,
  };
  const before = behaviour.instead;
  type Respond = (status: number, body: object) => void;

  async function make(request: IncomingMessage, respond: Respond) {
    const asked = Object(await json(request));
    const id = `stream-${streams.size + 1}`;
    streams.set(id, asked);
    const delivery = { endpoint_url: `${issuer}/poll`, ...asked.delivery };
    respond(201, { stream_id: id, iss: issuer, aud: 'receiver-7', delivery, ...state.made });
  }

  async function poll(request: IncomingMessage, respond: Respond) {
    const asked = Object(await json(request));
    polls.push(asked);
    const status = state.pollStatus(asked);
    if (status !== 200) return respond(status, {});
    for (const jti of [...(asked.ack ?? []), ...Object.keys(asked.setErrs ?? {})]) waiting.delete(jti);
    respond(200, { sets: Object.fromEntries([...waiting].slice(0, asked.maxEvents)) });
  }

  async function giveToken(request: IncomingMessage, respond: Respond) {
    const form = new URLSearchParams(await text(request));
    const isClient = request.headers.authorization === `Basic ${btoa('receiver:s3cret')}`;
    if (!isClient || form.get('grant_type') !== 'client_credentials') return respond(401, {});
    state.tokensGiven += 1;
    respond(200, { access_token: state.token, expires_in: 3600, token_type: 'Bearer' });
  }

  async function verify(request: IncomingMessage, respond: Respond) {
    verifications.push(Object(await json(request)));
    respond(state.verifyStatus, {});
  }

  behaviour.instead = (request, respond) => {
    const { pathname, searchParams } = new URL(String(request.url), issuer);
    const at = `${request.method} ${pathname}`;
    if (at === 'POST /signal-token') void giveToken(request, respond);
    else if (!['/streams', '/poll', '/verify'].includes(pathname)) return before(request, respond);
    else if (request.headers.authorization !== `Bearer ${state.token}`) respond(401, {});
    else if (at === 'POST /streams') void make(request, respond);
    else if (at === 'POST /poll') void poll(request, respond);
    else if (at === 'POST /verify') void verify(request, respond);
    else respond(streams.delete(String(searchParams.get('stream_id'))) ? 204 : 404, {});
    return true;
  };
  return { state, streams, waiting, polls, verifications };
}
