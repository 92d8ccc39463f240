import { isSameResource } from '@behest/protocol/resource-uri';
import type { Caller, Proved } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import {
  exchangeForResource,
  type LookUpDeps,
  type ProofDeps,
  provedKey,
} from '../../grants/tokens/index.ts';
import type { AuthenticationDeps, ClientRequest } from './client.ts';
import { ACCESS_TOKEN, secondsOf, subjectIn } from './exchange.ts';
import { resourceAsker } from './introspect.ts';
import { rates } from './oauth.rates.ts';
import type { TokenAnswer, TokenForm } from './oauth.schema.ts';
import { fewerScopesOf } from './request.rules.ts';

type ResourceDeps = AuthenticationDeps & LookUpDeps & ProofDeps;

/** The credential of a resource, where a request shows one in place of a client. */
export const resourceCredentialIn = ({ authorization }: ClientRequest): string | undefined =>
  /^Bearer +(bh_res_\S+)$/i.exec(authorization ?? '')?.[1];

/**
 * Exchanges a token that a resource received, which it must not pass on, for one by which it gets the credential of the
 * principal from the vault. A bound token needs no proof here: only the resource could have checked it.
 * @see RFC 8693 §2
 * @throws an OAuth error
 */
export async function issueToResource(
  deps: ResourceDeps,
  form: TokenForm,
  { request, credential, proof }: { request: ClientRequest; credential: string; proof: Proved },
): Promise<{ answer: TokenAnswer; caller: Caller }> {
  const asker = await resourceAsker(deps, credential, request);
  if (!asker) throw oauthRefusal('invalid_client', 'The resource is not known, or is not authenticated.');
  const { caller, server } = asker;
  await deps.chargeClient(rates.oauthToken, { client: server.resource });
  const subject = subjectIn(form);
  const { actor_token: actor, authorization_details: details, expires_in: seconds } = form;
  if (actor !== undefined || details !== undefined) {
    throw oauthRefusal(
      'invalid_request',
      'A resource sends neither `actor_token` nor `authorization_details`.',
    );
  }
  mustNameService(form, deps.issuer);
  const keyThumbprint = await provedKey(deps, proof);
  const issued = await exchangeForResource(deps, caller, {
    subject,
    resource: server,
    scopes: fewerScopesOf(form.scope),
    seconds: seconds === undefined ? undefined : secondsOf(seconds),
    keyThumbprint,
  });
  const answer = {
    access_token: issued.grantToken,
    issued_token_type: ACCESS_TOKEN,
    token_type: keyThumbprint === undefined ? ('Bearer' as const) : ('DPoP' as const),
    expires_in: Math.floor((Date.parse(issued.expiresAt) - deps.clock().getTime()) / 1000),
    scope: issued.scopes.join(' '),
    'urn:service:grant': { grant_id: issued.grantId },
  };
  return { answer, caller };
}

/** @throws invalid_target */
function mustNameService({ resource = [], audience }: TokenForm, issuer: string): void {
  const wanted = [...resource, ...(audience === undefined ? [] : [audience])];
  if (wanted.every((each) => isSameResource(each, issuer))) return;
  throw oauthRefusal('invalid_target', 'The token of a resource is for this service alone; leave it out.');
}
