import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { followSocket } from '../../../../test/app/sockets.ts';
import type { Call } from '../../../../test/app/start-app.ts';
import { type Event, follow, listedTo } from '../../../../test/app/streams.ts';
import { announceExpiredGrants } from '../../grants/grants/expire.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

/** A developer with two agents, and a key that is bound to the first. */
async function twoAgents() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [own, other] = [await grantTo(acme), await grantTo(acme)];
  const bound = await acme.asRuntime(own.agentId);
  const isOwn = ({ data }: Event) => data.agentId === own.agentId;
  /** Acts about both agents and about none, the last of them about the agent of the key. */
  const act = async () => {
    await acme('PATCH', '/v1/me', { name: 'Acme Ltd' });
    await authorize(acme, other.agentId);
    await acme('DELETE', `/v1/grants/${other.grantId}`);
    await registerAgent(acme, 'Third');
    await acme('DELETE', `/v1/grants/${own.grantId}`);
  };
  return { acme, own, other, bound, isOwn, act };
}

describe('T11: a key that is bound to an agent', () => {
  type Open = (apiKey: string) => Promise<{ events(): Event[]; first(count: number): Promise<unknown> }>;
  const following: Record<string, Open> = {
    'server-sent events': (apiKey) => follow({ url: service.url, apiKey }),
    'a WebSocket': (apiKey) => followSocket({ url: service.url, apiKey }),
  };

  test.each(Object.entries(following))(
    'gets by %s the events of its agent as they happen',
    async (_, open) => {
      const { acme, bound, isOwn, act } = await twoAgents();
      const before = (await listedTo(acme)).length;
      const [narrow, wide] = [await open(bound.apiKey), await open(acme.apiKey)];

      await act();
      await acme('POST', '/v1/agents', { name: 'Last' });
      await Promise.all([narrow.first(1), wide.first(7)]);

      const all = (await listedTo(acme)).slice(before);
      expect(wide.events()).toEqual(all);
      expect(narrow.events()).toEqual(all.filter(isOwn));
      expect(all.filter(isOwn).map(({ type }) => type)).toEqual(['grant.revoked']);
    },
  );

  test('gets what it missed of its agent when it resumes, and lists the same', async () => {
    const { acme, bound, isOwn, act } = await twoAgents();
    const [first] = (await listedTo(acme)).filter(isOwn);
    await act();

    const stream = await follow({ url: service.url, apiKey: bound.apiKey, lastEventId: String(first?.id) });
    const missed = (await listedTo(acme)).filter(isOwn).slice(1);
    await stream.first(missed.length);

    expect(stream.events()).toEqual(missed);
    expect(stream.frames.some(({ event }) => event === 'gap')).toBe(false);
    expect(await listedTo(service.calling(bound.apiKey), 'limit=1')).toEqual([first, ...missed]);
  });

  test('resumes after an event of another agent as after an unknown one', async () => {
    const { acme, bound, isOwn } = await twoAgents();
    const all = await listedTo(acme);
    const own = all.filter(isOwn);
    const foreign = all.findLast(({ data }) => data.agentId !== undefined)?.id;

    for (const lastEventId of [String(foreign), 'evt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C']) {
      const stream = await follow({ url: service.url, apiKey: bound.apiKey, lastEventId });
      await stream.first(own.length);
      expect(stream.frames.filter(({ event }) => event === 'gap')).toHaveLength(1);
      expect(stream.events()).toEqual(own);
    }
    const known = await follow({ url: service.url, apiKey: acme.apiKey, lastEventId: String(foreign) });
    expect(known.frames.some(({ event }) => event === 'gap')).toBe(false);
  });

  test('gets what concerns all agents: that the account was stopped and resumed', async () => {
    const { acme, bound, isOwn } = await twoAgents();
    const live = await follow({ url: service.url, apiKey: bound.apiKey });
    await acme('POST', '/v1/me/stop', {});
    await acme('POST', '/v1/me/resume', {});
    await live.first(2);

    const told = ['account.stopped', 'account.resumed'];
    expect(live.events().map(({ type }) => type)).toEqual(told);
    const call = service.calling(bound.apiKey);
    const listed = await listedTo(call);
    expect(listed.filter((event) => !isOwn(event)).map(({ type }) => type)).toEqual(told);
    const [stopped, resumed] = listed.slice(-2);
    const later = await follow({ url: service.url, apiKey: bound.apiKey, lastEventId: String(stopped?.id) });
    await later.first(1);
    expect(later.events()).toEqual([resumed]);
  });

  test('gets an event without an entry when its data names the agent', async () => {
    const { asDeveloper, advance, db, clock } = await startListening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const grants = [await grantTo(acme, { expiresIn: '1h' }), await grantTo(acme, { expiresIn: '1h' })];
    const bound = await acme.asRuntime(String(grants[0]?.agentId));

    advance(3600);
    await announceExpiredGrants({ db, clock });

    const expired = async (call: Call) =>
      (await listedTo(call, 'types=grant.expired')).map(({ data }) => data.grantId);
    expect(await expired(bound)).toEqual([grants[0]?.grantId]);
    expect((await expired(acme)).sort()).toEqual(grants.map(({ grantId }) => grantId).sort());
  });
});
