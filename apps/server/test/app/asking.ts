import { authorize } from './flow.ts';
import { hintClaims, newVoucher, personOn } from './person.ts';
import { type Service, startApp } from './start-app.ts';

/** A live account whose app vouches for its people, and an agent of it. @param agent members of its record */
export async function startAsking(on?: Service, agent: object = {}) {
  const service = on ?? (await startApp());
  const acme = await service.asDeveloper({ mode: 'live' });
  const voucher = await newVoucher();
  const vouch = () => acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  await vouch();
  const made = (await acme('POST', '/v1/agents', { name: 'Travel booker', ...agent })).json();
  const agentId = String(made.agentId);
  const person = personOn(service);

  /** Opens the page of a new request, proved by a hint. */
  async function open(request: object = {}) {
    const asked = await authorize(acme, agentId, request);
    const hint = await voucher.hint(hintClaims(service, acme.developerId, asked));
    const { request: shown } = (await person.open(asked.consentUrl, hint)).json();
    return { id: String(asked.id), shown, link: String(asked.consentUrl) };
  }

  /** Consents on the page, and exchanges the code. @param how the part that the person approves, and the exchange */
  async function consent(request: object = {}, { approved = {}, exchanged = {} }: Consenting = {}) {
    const { id } = await open(request);
    const { code } = (await person.approve(id, approved)).json();
    service.advance(1);
    const { agentId: asker = agentId } = Object(request);
    return (await acme('POST', '/v1/token', { code, agentId: asker, ...exchanged })).json();
  }

  return { service, acme, agentId, person, vouch, open, consent };
}

interface Consenting {
  readonly approved?: object;
  readonly exchanged?: object;
}

interface Shown {
  readonly diff: {
    readonly items: readonly { readonly dimension: string; readonly change: string; readonly key?: string }[];
  };
}

/** The differences that a person is shown, in words: `scope new mail:read`. */
export const changesIn = ({ diff }: Shown) =>
  diff.items
    .filter(({ change }) => change !== 'same')
    .map(({ dimension, change, key }) => [dimension, change, key].filter(Boolean).join(' '));
