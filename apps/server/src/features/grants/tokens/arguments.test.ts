import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';

const joinSandbox = sharedSandbox();
const type = 'urn:service:tools:v1';
const rules = { '/amount': { max: '500' }, '/to/iban': { prefix: ['DE', 'FR'] } };
const entry = { type, connector: 'pay', tools: ['transfer', 'get_*'], arguments: { transfer: rules } };
const request = { scopes: ['tool:pay:write', 'calendar:read'], authorizationDetails: [entry] };

const detailsOf = (token: string) => partsOf(token).payload.authorization_details;

async function granted() {
  const { acme } = await joinSandbox();
  const grant = await grantTo(acme, request);
  const { agentId } = await registerAgent(acme);
  const delegate = (change: object) =>
    acme('POST', '/v1/grants/delegate', {
      parentGrantToken: grant.grantToken,
      subAgentId: agentId,
      scopes: ['tool:pay:write'],
      ...change,
    });
  return { acme, grant, delegate };
}

describe('rules of arguments', () => {
  test('are in the token of an exchange, and in that of a refresh', async () => {
    const { acme, grant } = await granted();
    const { agentId, refreshToken } = grant;

    const refreshed = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });

    expect(detailsOf(grant.grantToken)).toEqual([entry]);
    expect(detailsOf(refreshed.json().grantToken)).toEqual([entry]);
    expect((await acme('GET', `/v1/grants/${grant.grantId}`)).json().authorizationDetails).toEqual([entry]);
  });

  test('are in the entry and the event of the grant as one text', async () => {
    const { acme, grant } = await granted();

    const [created] = await entriesOf(acme, 'grant.created');
    const { events } = (await acme('GET', '/v1/events?types=grant.created')).json();

    const text = '{"transfer":{"/amount":{"max":"500"},"/to/iban":{"prefix":["DE","FR"]}}}';
    const { arguments: _, ...others } = entry;
    const authorizationDetails = [{ ...others, arguments: text }];
    expect(created).toMatchObject({ grantId: grant.grantId, metadata: { authorizationDetails } });
    expect(events.at(-1).data).toMatchObject({ grantId: grant.grantId, authorizationDetails });
  });

  test('go down to a delegated grant as they are, or narrower', async () => {
    const { delegate } = await granted();
    const narrower = { transfer: { ...rules, '/amount': { max: '20' } } };
    const authorizationDetails = [{ type, connector: 'pay', arguments: narrower }];

    const [same, less] = [await delegate({}), await delegate({ authorizationDetails })];

    expect(detailsOf(same.json().grantToken)).toEqual([entry]);
    expect(detailsOf(less.json().grantToken)).toEqual([{ ...entry, arguments: narrower }]);
  });

  test.each([
    ['a higher bound', { ...rules, '/amount': { max: '501' } }],
    ['one more argument', { ...rules, '/bcc': {} }],
    ['open arguments', { '': { open: true }, ...rules }],
  ])('R7 never widen: %s makes no delegated grant', async (_, wider) => {
    const { delegate } = await granted();

    const answer = await delegate({
      authorizationDetails: [{ type, connector: 'pay', arguments: { transfer: wider } }],
    });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toEqual([
      { path: 'authorizationDetails.0.arguments.transfer', problem: 'not_allowed' },
    ]);
  });

  test('leave no scope of their connector satisfied by itself', async () => {
    const { acme, grant } = await granted();
    const verdictOf = async (requiredScopes: string[]) =>
      (await acme('POST', '/v1/tokens/verify', { token: grant.grantToken, requiredScopes })).json();

    expect(await verdictOf(['tool:pay:read'])).toEqual({ valid: false, reason: 'scope' });
    expect(await verdictOf(['calendar:read'])).toMatchObject({ valid: true });
  });
});
