import { Behest } from '@behest/sdk';
import { createVerifier } from '@behest/sdk/verify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { grantTo, partsOf, registerAgent } from '../../apps/server/test/app/flow.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import type { Instant } from '../../packages/sdk/src/client/event-stream.ts';
import { revocationFeed } from '../../packages/sdk/src/client/revocation-feed.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(async () => {
  await service?.stop();
});

const manifests = [{ connector: 'crm', tools: { lookup: 'read' } }];
const scopes = ['tool:crm:read'];

/** The way to the service: it counts questions, breaks streams, and fails on demand. */
function wayTo() {
  const way = { asked: 0, streams: 0, frames: '', isRead: false, isCut: false, isAway: false, hasList: true };
  const cuts: AbortController[] = [];
  let held: Promise<unknown> | undefined;
  /** Notes what passes, and that a reader who asks for more has dealt with what came before. */
  function noting(body: ReadableStream<Uint8Array>) {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    const source = {
      async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        way.isRead = true;
        const { done, value } = await reader.read();
        if (done) return controller.close();
        way.isRead = false;
        way.frames += decoder.decode(value, { stream: true });
        controller.enqueue(value);
      },
      cancel: (reason: unknown) => reader.cancel(reason),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }
  async function send(url: string, init: RequestInit): Promise<Response> {
    const isStream = url.includes('/v1/events/stream');
    if (way.isAway || (way.isCut && isStream)) throw new TypeError('fetch failed');
    if (!way.hasList && url.includes('/v1/events?')) return new Response('{}', { status: 503 });
    if (!isStream) {
      const answer = await fetch(url, init);
      if (url.endsWith('/v1/tokens/verify')) way.asked += 1;
      if (url.endsWith('/v1/tokens/verify')) await held;
      return answer;
    }
    way.streams += 1;
    const cut = new AbortController();
    cuts.push(cut);
    const signal = AbortSignal.any([cut.signal, ...(init.signal ? [init.signal] : [])]);
    const answer = await fetch(url, { ...init, signal });
    return new Response(answer.body && noting(answer.body), answer);
  }
  return {
    way,
    fetch: send,
    cut() {
      way.isCut = true;
      for (const each of cuts.splice(0)) each.abort();
    },
    mend() {
      way.isCut = false;
    },
    /** Keeps the answers of the service on their way. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
  };
}

/** A clock of a machine that tests set. */
function movableClock() {
  const started: Instant = { wall: Date.now(), steady: performance.now() };
  const moved = { wall: 0, steady: 0 };
  const now = () => ({ wall: started.wall + moved.wall, steady: started.steady + moved.steady });
  return { moved, now };
}

async function start(mode: 'feed' | 'confirmed' = 'feed', now?: () => Instant) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { way, fetch, ...control } = wayTo();
  const account = { baseUrl: service.url, developerId: acme.developerId, allowSandbox: true };
  const confirmsAs = mode === 'confirmed' ? { confirmsAs: 'gateway' } : {};
  const feed =
    now && revocationFeed({ ...account, apiKey: () => acme.apiKey, fetch }, { now, ...confirmsAs });
  const behest = new Behest({
    ...{ ...account, manifests, fetch, verifierName: 'gateway' },
    ...(feed ? { apiKey: null, revocation: feed } : { apiKey: acme.apiKey, revocation: mode }),
  });
  onTestFinished(() => behest.close());
  onTestFinished(() => feed?.close());
  const enforce = (grantToken: string) => behest.enforce({ grantToken, connector: 'crm', tool: 'lookup' });
  const outcome = async (grantToken: string) => {
    const { allowed, reason_code, sub_reason } = await enforce(grantToken);
    return allowed ? 'allowed' : `${reason_code}/${sub_reason}`;
  };
  /** Calls until a call asks nothing: the events are complete, and the token is known. */
  const settle = (grantToken: string) =>
    vi.waitUntil(
      async () => {
        const before = way.asked;
        await outcome(grantToken);
        return way.asked === before;
      },
      { timeout: 20_000, interval: 20 },
    );
  const becomes = (grantToken: string, wanted: string) =>
    vi.waitFor(async () => expect(await outcome(grantToken)).toBe(wanted), { timeout: 20_000, interval: 20 });
  const granted = () => grantTo(acme, { scopes });
  const revoke = (grantId: string) => acme('DELETE', `/v1/grants/${grantId}`);
  const stop = async (grantId: string) =>
    (await acme('DELETE', `/v1/grants/${grantId}?wait=confirmed`)).json();
  return { acme, behest, way, ...control, outcome, settle, becomes, granted, revoke, stop };
}

describe('a client that follows revocations', () => {
  test('asks once for a token, and hears when its grant is revoked', async () => {
    const { way, outcome, settle, becomes, granted, revoke } = await start();
    const [one, other] = [await granted(), await granted()];
    await settle(one.grantToken);
    await settle(other.grantToken);
    const before = way.asked;

    for (let call = 0; call < 20; call += 1) expect(await outcome(one.grantToken)).toBe('allowed');
    expect(way.asked).toBe(before);
    await revoke(one.grantId);
    await becomes(one.grantToken, 'grant_revoked/revoked');

    expect(await outcome(other.grantToken)).toBe('allowed');
    expect(way.asked).toBe(before + 1); // about the token whose grant was revoked
    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
    expect(way.asked).toBe(before + 1); // which it remembers too
  });

  test('hears when the token alone, the grant above it or its agent ends, and when the agent resumes', async () => {
    const { acme, outcome, settle, becomes, granted, revoke } = await start();
    const [parent, alone] = [await granted(), await granted()];
    const { agentId } = await registerAgent(acme, 'Helper');
    const delegation = { parentGrantToken: parent.grantToken, subAgentId: agentId, scopes };
    const child = (await acme('POST', '/v1/grants/delegate', delegation)).json();
    for (const { grantToken } of [parent, alone, child]) await settle(grantToken);

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    await becomes(child.grantToken, 'grant_revoked/suspended');
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });
    await becomes(child.grantToken, 'allowed');
    await settle(child.grantToken);
    await revoke(parent.grantId);
    await becomes(child.grantToken, 'grant_revoked/revoked');
    expect(await outcome(alone.grantToken)).toBe('allowed');
    await acme('POST', '/v1/tokens/revoke', { jti: partsOf(alone.grantToken).payload.jti });
    await becomes(alone.grantToken, 'grant_revoked/revoked');
  });

  test('hears with the key of one agent that the account was stopped and resumed', async () => {
    const { acme, granted, settle, becomes } = await start();
    const { agentId, grantToken } = await granted();
    const bound = await acme.asRuntime(agentId);
    const narrow = new Behest({
      ...{ apiKey: bound.apiKey, baseUrl: service.url, developerId: acme.developerId, allowSandbox: true },
      ...{ revocation: 'feed', manifests, fetch: wayTo().fetch },
    });
    onTestFinished(() => narrow.close());
    const outcome = async () => {
      const { allowed, sub_reason } = await narrow.enforce({ grantToken, connector: 'crm', tool: 'lookup' });
      return allowed ? 'allowed' : sub_reason;
    };
    await settle(grantToken);
    expect(await outcome()).toBe('allowed');

    await acme('POST', '/v1/me/stop', {});
    await becomes(grantToken, 'grant_revoked/suspended');
    await vi.waitFor(async () => expect(await outcome()).toBe('suspended'), {
      timeout: 10_000,
      interval: 20,
    });
    await acme('POST', '/v1/me/resume', {});
    await becomes(grantToken, 'allowed');
    await vi.waitFor(async () => expect(await outcome()).toBe('allowed'), { timeout: 10_000, interval: 20 });
  });

  test('refuses a token that was revoked before the stream began', async () => {
    const { outcome, granted, revoke } = await start();
    const { grantToken, grantId } = await granted();
    await revoke(grantId);

    expect(await outcome(grantToken)).toBe('grant_revoked/revoked');
  });

  test('does not remember an answer that an event has overtaken', async () => {
    const { way, outcome, settle, granted, revoke, hold } = await start();
    const [one, other] = [await granted(), await granted()];
    await settle(other.grantToken);
    const release = hold();
    const first = way.asked;

    const early = outcome(one.grantToken);
    await vi.waitUntil(() => way.asked === first + 1, { timeout: 20_000 });
    await revoke(one.grantId);
    await vi.waitUntil(() => way.frames.includes(one.grantId), { timeout: 20_000 });
    release();

    expect(await early).toBe('allowed'); // the call was before the revocation
    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
  });
});

describe('after a break', () => {
  test('it hears what it missed, and asks no more about the other tokens', async () => {
    const { way, outcome, settle, granted, revoke, cut, mend } = await start();
    const [one, other] = [await granted(), await granted()];
    await settle(one.grantToken);
    await settle(other.grantToken);
    const before = way.asked;

    cut();
    await revoke(one.grantId);
    expect(await outcome(other.grantToken)).toBe('allowed');
    expect(way.asked).toBe(before + 1); // while the stream is broken, each call asks
    mend();
    await settle(other.grantToken);

    const later = way.asked;
    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
    expect(way.asked).toBe(later + 1);
    expect(way.streams).toBe(2);
  });

  test('it asks about every token once more when it cannot know what it missed', async () => {
    const { way, outcome, settle, granted, revoke, cut, mend } = await start();
    const [one, other, last] = [await granted(), await granted(), await granted()];
    for (const { grantToken } of [one, other, last]) await settle(grantToken);

    cut();
    way.hasList = false;
    await revoke(one.grantId);
    mend();
    await settle(last.grantToken);
    const before = way.asked;

    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
    expect(await outcome(other.grantToken)).toBe('allowed');
    expect(way.asked).toBe(before + 2);
  });

  test('it allows nothing while the service cannot be asked', async () => {
    const { way, outcome, settle, granted, cut, mend, becomes } = await start();
    const { grantToken } = await granted();
    await settle(grantToken);

    way.isAway = true;
    cut();
    await becomes(grantToken, 'grant_revoked/status_unavailable');
    expect(await outcome(grantToken)).toBe('grant_revoked/status_unavailable');

    way.isAway = false;
    mend();
    await becomes(grantToken, 'allowed');
  });
});

describe('a client that confirms revocations', () => {
  test('has forgotten the grant when the answer comes, and remembers the others', async () => {
    const { way, outcome, settle, granted, stop } = await start('confirmed');
    const [one, other] = [await granted(), await granted()];
    for (const { grantToken } of [one, other]) await settle(grantToken);
    const before = way.asked;

    const { complete, verifiers } = await stop(one.grantId);

    expect(complete).toBe(true);
    expect(verifiers).toMatchObject([{ name: 'gateway', state: 'confirmed' }]);
    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
    expect(await outcome(other.grantToken)).toBe('allowed');
    expect(way.asked).toBe(before + 1);
  });

  test('asks again where the revocation has overtaken the answer', async () => {
    const { way, outcome, settle, granted, stop, hold } = await start('confirmed');
    const [one, other] = [await granted(), await granted()];
    await settle(other.grantToken);
    const release = hold();
    const first = way.asked;

    const early = outcome(one.grantToken);
    await vi.waitUntil(() => way.asked === first + 1, { timeout: 20_000 });
    expect((await stop(one.grantId)).verifiers).toMatchObject([{ state: 'confirmed' }]);
    release();

    expect(await early).toBe('grant_revoked/revoked');
  });

  test.each(['wall', 'steady'] as const)(
    'asks again where its lease ended before the answer (%s)',
    async (clock) => {
      const { moved, now } = movableClock();
      const { way, outcome, settle, granted, revoke, cut, hold } = await start('confirmed', now);
      const [one, other] = [await granted(), await granted()];
      await settle(other.grantToken);
      const release = hold();
      const first = way.asked;

      const early = outcome(one.grantToken);
      await vi.waitUntil(() => way.asked === first + 1, { timeout: 20_000 });
      cut();
      moved[clock] += 30_000;
      await revoke(one.grantId);
      release();

      expect(await early).toBe('grant_revoked/revoked');
    },
  );

  test('confirms without its stream, and then remembers nothing', async () => {
    const { way, outcome, settle, granted, stop, cut, mend } = await start('confirmed');
    const [one, other] = [await granted(), await granted()];
    for (const { grantToken } of [one, other]) await settle(grantToken);

    cut();
    const answer = stop(one.grantId);
    await vi.waitUntil(() => way.streams > 0 && way.isCut, { timeout: 20_000 });
    mend();

    expect((await answer).complete).toBe(true);
    await settle(other.grantToken);
    expect(await outcome(one.grantToken)).toBe('grant_revoked/revoked');
  });
});

test('with too many streams at the service, each call asks', async () => {
  const { acme, way, outcome, granted } = await start();
  const { grantToken } = await granted();
  const others = Array.from({ length: 5 }, () => new AbortController());
  const headers = { authorization: `Bearer ${acme.apiKey}` };
  for (const { signal } of others) await fetch(`${service.url}/v1/events/stream`, { headers, signal });
  onTestFinished(() => {
    for (const each of others) each.abort();
  });

  for (let call = 0; call < 3; call += 1) expect(await outcome(grantToken)).toBe('allowed');

  expect(way.asked).toBe(3);
});

test('a verifier and a middleware see revocations through the client', async () => {
  const { acme, behest, way, granted, revoke, cut } = await start();
  const { grantToken, grantId } = await granted();
  const jwksUri = `${service.url}/.well-known/jwks.json`;
  const revocation = behest.revocations();
  const options = { jwksUri, developerId: acme.developerId, allowSandbox: true };
  const verifier = createVerifier({ ...options, revocation });

  expect((await verifier.verify(grantToken)).grantId).toBe(grantId);
  await revoke(grantId);
  await vi.waitFor(() => expect(verifier.verify(grantToken)).rejects.toMatchObject({ reason: 'revoked' }));
  expect(await verifier.detailed(grantToken)).toEqual({ ok: false, reason: 'revoked' });
  expect((await createVerifier(options).verify(grantToken)).grantId).toBe(grantId);
  way.isAway = true;
  cut();
  behest.close();
  await expect(verifier.verify(grantToken)).rejects.toMatchObject({ name: 'BehestNetworkError' });
});

test('an answer holds for 45 seconds without a sign of the stream, and for five minutes with one', async () => {
  const { moved, now } = movableClock();
  const { acme, way, outcome, granted } = await start('feed', now);
  const { grantToken } = await granted();
  const asks = async () => {
    const before = way.asked;
    expect(await outcome(grantToken)).toBe('allowed');
    return way.asked - before;
  };
  const hears = async () => {
    const { length } = way.frames;
    await acme('PATCH', `/v1/agents/${(await registerAgent(acme)).agentId}`, { status: 'suspended' });
    const isWhole = () => way.frames.endsWith('\n\n') && way.frames.includes('agent.suspended', length);
    await vi.waitUntil(() => way.isRead && isWhole(), { timeout: 20_000 });
  };
  await vi.waitUntil(async () => (await asks()) === 0, { timeout: 20_000, interval: 20 });
  await hears(); // and so the stream's first comment, which is a sign too

  for (const clock of ['wall', 'steady'] as const) {
    for (let isSilent = false; !isSilent; ) {
      await new Promise(setImmediate); // by now the feed has taken what has come
      const { isRead, frames } = way;
      moved[clock] += 44_999;
      const early = await asks();
      moved[clock] += 1;
      const late = await asks();
      isSilent = isRead && way.frames === frames; // the stream comments in real time
      if (isSilent) expect([early, late]).toEqual([0, 1]);
      await hears();
      expect(await asks()).toBe(0);
    }
  }
  for (const next of [44_999, 44_999, 44_999, 44_999, 44_999, 30_004]) {
    moved.steady += next;
    await hears();
    expect(await asks()).toBe(0);
  }
  moved.steady += 1;
  expect(await asks()).toBe(1);
  expect(await asks()).toBe(0);
});
