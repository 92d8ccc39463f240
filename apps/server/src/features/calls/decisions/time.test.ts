import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { enrolApprover, livePayer, payer } from '../../../../test/app/approving.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { actionsOf, entriesOf } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import type { OutgoingRequest } from '../../../platform/egress/egress.ts';
import { htmlOf } from '../../../platform/mail/mailer.ts';
import { webPush } from '../approvers/web-push.ts';
import { careForDue } from './care.ts';
import { channelSeals } from './channels.ts';
import { sendNotices } from './notices.ts';

const HOUR = 3600;
const slack = { kind: 'slack', name: 'Finance', url: 'https://hooks.slack.test/services/secret' };
const teams = { kind: 'teams', name: 'Treasury', url: 'https://teams.test/hook/secret' };

/** A live account with an approver who may decide, and channels whose receivers answer as told. */
async function started(status = 200, retryAfter?: string) {
  const service = await startApp();
  const { db, clock, keyRing, mails } = service;
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(24 * HOUR);
  await ada.signIn();
  for (const channel of [slack, teams]) await acme('POST', '/v1/decision-channels', channel);
  const agent = await livePayer(service, acme);
  const sent: OutgoingRequest[] = [];
  const failures: unknown[] = [];
  const send = async (request: OutgoingRequest) => {
    sent.push(request);
    return { status, ...(retryAfter !== undefined && { retryAfter }) };
  };
  const deps = {
    ...{ db, clock, mailer: mails, publicBaseUrl: 'https://auth.test', egress: { send } },
    ...{ seals: channelSeals(keyRing), push: webPush(keyRing), chargeRecipient: async () => {} },
    onFailure: (error: unknown) => void failures.push(error),
  };
  const told = () => mails.sent().filter(({ text }) => text.includes('Call: pay of'));
  return {
    service,
    acme,
    ada,
    agent,
    sent,
    failures,
    told,
    send: () => sendNotices(deps),
    care: () => careForDue(deps),
  };
}

test('people hear of a request by mail, Slack and Teams, with the headline, and no notice holds another argument or the summary', async () => {
  const { acme, agent, sent, failures, told, send } = await started();
  const args = { to: 'ACME Ltd', amount: '9000.50', currency: 'EUR', note: 'secret-note' };
  const asked = (await agent.ask({ arguments: args, summary: 'secret-summary', caseId: 'case-7' })).json();
  await send();
  await send();

  expect([failures, told().length, sent.map(({ url }) => url).sort()]).toEqual([
    [],
    1,
    [slack.url, teams.url],
  ]);
  const [mail] = told();
  const title = 'An agent waits for your decision: 9,000.50 EUR to ACME Ltd';
  expect(mail).toMatchObject({ to: 'ada@example.org', subject: title });
  const bodies = sent.map(({ body = '' }) => JSON.parse(String(body)));
  const text = (own: string) => ({ type: 'plain_text', text: own, emoji: false });
  expect(bodies).toContainEqual({
    ...{ text: title, mrkdwn: false },
    blocks: [
      { type: 'section', text: text(title) },
      { type: 'section', text: text(expect.stringContaining('Call: pay of acme_bank\nCase: case-7\n')) },
      { type: 'section', text: { type: 'mrkdwn', text: `<${asked.url}|Decide>` } },
    ],
  });
  expect(bodies).toContainEqual({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: expect.objectContaining({
          type: 'AdaptiveCard',
          actions: [{ type: 'Action.OpenUrl', title: 'Decide', url: asked.url }],
        }),
      },
    ],
  });
  for (const each of [mail?.text ?? '', ...sent.map(({ body }) => String(body))]) {
    expect(each).toContain(asked.url);
    expect(each).toContain('9,000.50 EUR to ACME Ltd');
    expect(each).not.toMatch(/secret-summary|secret-note/);
  }
  const { channels } = (await acme('GET', '/v1/decision-channels')).json();
  expect(channels.map(({ url }: { url: string }) => url).sort()).toEqual([
    'https://hooks.slack.test/…',
    'https://teams.test/…',
  ]);
});

test('the headline is that of the page: the money that the approval binds, or who asks for what', async () => {
  const { acme, agent, told, send } = await started();
  await agent.ask();
  await send();
  expect(told()[0]?.subject).toMatch(/^An agent waits for your decision: .+ asks to use pay$/);

  const args = { to: 'a\u202eb <&*_[x] Ltd', amount: '7', currency: 'EUR' };
  await agent.ask({ arguments: args });
  await send();
  expect(told()[0]?.subject).toMatch(/: 7 EUR to a\[U\+202E\]b <&\*_\[x\] Ltd$/);
  await agent.ask({ arguments: { ...args, to: 'pay at evil.example' } });
  await send();
  expect(told()[0]?.subject).toMatch(/: 7 EUR \(the page shows to whom\)$/);
  await agent.ask({ arguments: { ...args, lines: Array.from({ length: 198 }, () => 1) } });
  await send();
  expect(told()[0]?.subject).toMatch(/ asks to use pay$/);

  const pay = { permission: 'write', requires_decision: true, title: 'Pay a bill', binds: ['/to'] };
  await acme('PUT', '/v1/manifests/acme_bank', { $schema: 'x', connector: 'acme_bank', tools: { pay } });
  await agent.ask({ arguments: args });
  await send();
  expect(told()[0]?.subject).toMatch(/ asks to use “Pay a bill”$/);
});

test.each([
  ['Account: Other Bank', {}],
  ['Booker', { arguments: { to: 'Account: Other Bank', amount: '7', currency: 'EUR' } }],
])(
  'no name that an agent chose reads as the account of a mail: agent %j, asking %j',
  async (name, asking) => {
    const { acme, agent, told, send } = await started();
    await acme('PATCH', '/v1/me', { name: 'Acme' });
    const [{ agentId }] = (await acme('GET', '/v1/agents')).json().agents;
    expect((await acme('PATCH', `/v1/agents/${agentId}`, { name })).statusCode).toBe(200);
    await agent.ask(asking);
    await send();

    const [mail = { text: '', subject: '' }] = told();
    expect(mail.subject).toContain('Account: Other Bank'); // the control
    const html = htmlOf(mail, 'https://auth.test');
    expect(html).toContain('<h1>Acme <');
    const rows = [...html.matchAll(/<th scope="row">(.*?)<\/th><td>(.*?)<\/td>/g)].map(([, ...row]) => row);
    expect(rows.map(([term]) => term)).toEqual(['Account', 'Agent', 'Call', 'Ends']);
    expect(rows.slice(0, 2)).toEqual([
      ['Account', 'Acme'],
      ['Agent', name],
    ]);
  },
);

test('answers tell channels of one host apart by the end of the URL, and show no more of it', async () => {
  const { acme } = await started();
  const url = 'https://hooks.slack.test/services/T0000/B0000/abcdefghijklmnop';
  const made = await acme('POST', '/v1/decision-channels', { ...slack, url });
  expect(made.json().url).toBe('https://hooks.slack.test/…mnop');
  const listed = await acme('GET', '/v1/decision-channels');
  expect(listed.body).not.toContain('T0000');
});

test('agents 35: a channel whose receiver answers 410 is removed, with an event, and gets no more', async () => {
  const { service, acme, agent, sent, send } = await started(410);
  await agent.ask();
  await send();
  await agent.ask();
  service.advance(HOUR);
  await send();

  expect(sent.map(({ url }) => url).sort()).toEqual([slack.url, teams.url]);
  expect((await acme('GET', '/v1/decision-channels')).json().channels).toEqual([]);
  const { events } = (await acme('GET', '/v1/events?types=decision.channel_removed')).json();
  expect(events.map(({ data }: { data: object }) => data)).toEqual([
    expect.objectContaining({ reason: 'gone' }),
    expect.objectContaining({ reason: 'gone' }),
  ]);
});

test('K9: a channel whose receiver names a time by `Retry-After` is tried then, and not before', async () => {
  const { service, agent, sent, send } = await started(429, '600');
  await agent.ask();
  await send();
  service.advance(599);
  await send();
  expect(sent).toHaveLength(2);
  service.advance(1);
  await send();

  expect(sent).toHaveLength(4);
});

test('people are reminded at half and at nine tenths of the time, and silence is a refusal', async () => {
  const { service, acme, ada, agent, told, send, care } = await started();
  const { decisionId } = (await agent.ask({ expiresIn: '10h' })).json();
  const count = async () => {
    await care();
    await send();
    return told().length;
  };

  service.advance(5 * HOUR - 0.001);
  expect(await count()).toBe(1);
  service.advance(0.001);
  expect([await count(), await count()]).toEqual([2, 2]);
  service.advance(4 * HOUR);
  expect(await count()).toBe(3);
  await ada.signIn();
  service.advance(HOUR - 0.001);
  expect((await acme('GET', `/v1/decisions/${decisionId}`)).json().status).toBe('pending');
  service.advance(0.001);
  expect((await acme('GET', `/v1/decisions/${decisionId}`)).json().status).toBe('expired');
  await ada.signIn();
  expect((await ada.approve(decisionId)).statusCode).toBe(410);
  expect(await count()).toBe(4);
  expect(told()[0]?.text).toContain('Nobody decided in time');
  expect(await actionsOf(acme)).toContain('decision.expired');
  expect((await agent.ask()).statusCode).toBe(201);
});

test('a request that cannot be cared for holds up no other one', async () => {
  const { service, acme, agent, failures, care } = await started();
  const first = (await agent.ask({ expiresIn: '1h' })).json().decisionId;
  const second = (await agent.ask({ expiresIn: '2h', arguments: { to: 'B' } })).json().decisionId;
  await sql`create function spoil() returns trigger language plpgsql as $$ begin
    if new.id = ${sql.lit(first)} then raise exception 'spoiled'; end if; return new; end $$`.execute(
    service.db,
  );
  await sql`create trigger spoil before update on decisions for each row execute function spoil()`.execute(
    service.db,
  );
  service.advance(2 * HOUR);

  expect(await care()).toBe(2);

  expect(failures).toEqual([expect.objectContaining({ message: 'spoiled' })]);
  const expired = await entriesOf(acme, 'decision.expired');
  expect(expired.map(({ metadata }) => metadata.decisionId)).toEqual([second]);
  await sql`drop trigger spoil on decisions`.execute(service.db);
  await care();
  expect(await entriesOf(acme, 'decision.expired')).toHaveLength(2);
});

test('a notice that nobody takes comes again, and ends after five attempts', async () => {
  const { service, agent, sent, send } = await started(500);
  const { decisionId } = (await agent.ask()).json();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await send();
    service.advance(12 * HOUR);
  }

  const own = sent.filter(({ url, body }) => url === slack.url && String(body).includes(decisionId));
  expect(own).toHaveLength(5);
});

test('a decided request is told to nobody who has not heard of it', async () => {
  const { agent, ada, sent, told, send } = await started();
  const { decisionId } = (await agent.ask()).json();
  await ada.approve(decisionId);
  await send();

  expect([sent, told()]).toEqual([[], []]);
});

test('an approver whose passkey was used too long ago signs in again to decide', async () => {
  const { service, agent, ada } = await started();
  const { decisionId } = (await agent.ask()).json();
  const keepAwake = async (seconds: number) => {
    for (let done = 0; done < seconds; done += 600) {
      service.advance(Math.min(600, seconds - done));
      await ada.browser.call('GET', '/v1/approver/session');
    }
  };

  await keepAwake(HOUR);
  const old = await ada.approve(decisionId);
  expect([old.statusCode, old.json().details]).toEqual([403, { sub_reason: 'session_too_old' }]);
  await ada.signIn();
  await keepAwake(HOUR - 1);
  expect((await ada.approve(decisionId)).statusCode).toBe(200);
});

test('R10: a decision ends with its time, whichever way the clock steps, and a hold after 30 seconds', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const asked = (await agent.ask({ expiresIn: '60s' })).json();
  await ada.approve(asked.decisionId);
  const decisionGrants = await agent.grantsOf(asked.decisionId);
  const { connector, tool, arguments: args } = asked;
  const action = {
    v: 1,
    connector,
    tool,
    arguments: args,
    case_id: null,
    case_version: null,
    decision: null,
  };
  const step = async (phase: string, callId: string) => {
    const body = { decisionGrants, action, caseVersion: null, callId, grantToken: agent.grantToken, phase };
    const answer = await acme('POST', '/v1/decisions/consume', body);
    return answer.json().state ?? answer.json().details?.sub_reason;
  };

  expect(await step('hold', 'call-0001')).toBe('held');
  service.advance(29.999);
  expect(await step('hold', 'call-0002')).toBe('consumed');
  service.advance(0.001);
  expect(await step('hold', 'call-0002')).toBe('held');
  service.advance(-15); // the clock steps back, and frees nothing early
  expect(await step('send', 'call-0003')).toBe('consumed');
  expect(await step('send', 'call-0002')).toBe('sent');
  service.advance(45);
  expect(await step('send', 'call-0002')).toBe('expired');
  const late = await agent.enforce({ decisionGrants, callId: 'call-0002' });
  expect([late.allowed, late.sub_reason]).toEqual([false, 'expired']);
  const cancel = await acme('POST', `/v1/decisions/${asked.decisionId}/cancel`, {});
  expect(cancel.statusCode).toBe(409); // its call was sent, and cannot be sent again
});
