import { test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../app/accounts-server.ts';
import { authorize, grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { RISC, transmitterAt } from '../app/transmitter.ts';

const { race } = interleaving(besideProvider());

/** A transmitter for all runs of a race, so that they end alike. */
function disablingAt(provider: AccountsServer) {
  let made: ReturnType<typeof transmitterAt> | undefined;
  return async (acme: Developer, service: Service) => {
    made ??= transmitterAt(service, provider);
    return disabling(acme, service, provider, await made);
  };
}

/** A person with a grant and a code, and a signal that disables them, which nobody has sent yet. */
async function disabling(
  acme: Developer,
  service: Service,
  provider: AccountsServer,
  transmitter: Awaited<ReturnType<typeof transmitterAt>>,
) {
  const { id: connectionId } = (
    await acme('POST', '/v1/sso/connections', {
      ...{ name: 'Customer', protocol: 'oidc', issuerUrl: provider.issuer },
      ...{ clientId: 'client', clientSecret: 'secret' },
    })
  ).json();
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
  const { id: userId } = (
    await service.calling(token)('POST', '/scim/v2/Users', { userName: 'user_42' })
  ).json();
  const identity = { connectionId, subject: `${provider.issuer}|ada`, userId };
  await service.db
    .insertInto('ssoIdentities')
    .values({ ...identity, developerId: acme.developerId, createdAt: service.clock() })
    .execute();
  const held = await grantTo(acme, { scopes: ['calendar:read'] });
  const { code } = await authorize(acme, held.agentId);
  const source = await transmitter.listen(acme, connectionId);
  const set = await transmitter.newSet(source, `${RISC}/account-disabled`, { claims: { jti: 'signal' } });
  return { ...held, code: String(code), source, set, token: String(token), userId: String(userId) };
}
type Held = Awaited<ReturnType<typeof disabling>>;

const signal = ({ service }: Side, { source, set }: Held) =>
  service.app.inject({
    method: 'POST',
    url: new URL(source.endpointUrl).pathname,
    headers: { 'content-type': 'application/secevent+jwt', authorization: source.authorizationHeader },
    payload: set,
  });

test('a signal that is sent twice at once', async () =>
  race({ prepare: disablingAt(await startAccountsServer()), one: signal, answers: ['202, 202'] }));

test('a signal that disables a person, and the exchange of a code', async () =>
  race({
    prepare: disablingAt(await startAccountsServer()),
    one: signal,
    other: ({ acme }, { code, agentId }) => acme('POST', '/v1/token', { code, agentId }),
    answers: ['202, 201', '202, 409 PRINCIPAL_INACTIVE'],
  }));

test('a signal that disables a person, and the same by SCIM', async () =>
  race({
    prepare: disablingAt(await startAccountsServer()),
    one: signal,
    other: ({ service }, { token, userId }) =>
      service.calling(token)('PATCH', `/scim/v2/Users/${userId}`, {
        Operations: [{ op: 'replace', path: 'active', value: false }],
      }),
    answers: ['202, 200'],
  }));
