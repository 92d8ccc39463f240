import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse, RouteOptions } from 'fastify';
import { operationOf, possessionsOf, requestTo } from './every-route.ts';
import { authorize, registerAgent } from './flow.ts';
import { hintClaims, newVoucher, personOn } from './person.ts';
import { ADMIN_API_KEY, type Developer, type Service } from './start-app.ts';

/** A developer with a record of each kind, and a person at the consent page, who has to read a mail. */
export async function callersOf(service: Service) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  const { agentId } = await registerAgent(acme);
  await verifyAddress(service, acme);
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk] });
  const asked = await authorize(acme, agentId, { autoApprove: false });
  const claims = { ...hintClaims(service, acme.developerId, asked), email: 'ada@example.org' };
  const person = personOn(service);
  await person.open(asked.consentUrl, await voucher.hint(claims));
  return { service, acme, its, person, requestId: String(asked.id) };
}
type Callers = Awaited<ReturnType<typeof callersOf>>;

/** The routes in an order in which each finds its records. */
export function deletionsLast({ routes }: Pick<Service, 'routes'>): RouteOptions[] {
  const rank = ({ method, url }: RouteOptions) => (url.endsWith('/close') ? 2 : method === 'DELETE' ? 1 : 0);
  return routes.toSorted((one, other) => rank(one) - rank(other));
}

/** Calls a route as a caller who may call it. */
export function callAs(callers: Callers, route: RouteOptions): Promise<LightMyRequestResponse> {
  const { service, acme, its, person, requestId } = callers;
  const { method, url, body } = requestTo(operationOf(route), its);
  if (route.url.startsWith('/v1/consent/')) {
    const path = route.url.replace(':id', requestId);
    return method === 'POST' ? person.call(method, path, { body: {} }) : person.call('GET', path);
  }
  const access = route.config?.access;
  if (access === 'developer') return acme(method, url, body);
  if (access === 'grant') return service.calling(String(its.grantToken))(method, url, body);
  if (access === 'scim') return service.calling(String(its.scimToken))(method, url, body);
  if (access === 'ssf') return service.calling(String(its.ssfToken))(method, url, body);
  if (access === 'operator') return service.calling(ADMIN_API_KEY)(method, url, body);
  if (access === 'session') return service.calling(String(its.sessionToken))(method, url, body);
  return service.app.inject({ method, url, ...(body && { body }) });
}

/** The token of the link in the newest mail. */
export const tokenIn = (mails: Service['mails']): string =>
  /\/v1\/signup\/verify\/(\S+)/.exec(mails.sent()[0]?.text ?? '')?.[1] ?? '';

/** Verifies an address of the developer, as its mailbox would. @returns the address */
export async function verifyAddress({ app, mails }: Service, developer: Developer): Promise<string> {
  const email = `${randomUUID()}@acme.test`;
  await developer('POST', '/v1/signup/verify', { email });
  const answer = await app.inject({ method: 'POST', url: `/v1/signup/verify/${tokenIn(mails)}` });
  if (answer.statusCode !== 200) throw new Error(`verifying an address: ${answer.body}`);
  return email;
}
