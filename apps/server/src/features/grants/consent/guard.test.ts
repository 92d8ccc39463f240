import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A live request whose page the person has open. */
async function opened() {
  const developer = await service.asDeveloper();
  const { agentId } = await registerAgent(developer);
  const { id, consentUrl } = await authorize(developer, agentId);
  const person = personOn(service);
  const { csrfToken } = (await person.open(consentUrl)).json();
  const statusNow = async () => (await developer('GET', `/v1/authorize/${id}`)).json().status;
  return {
    developer,
    agentId,
    id: String(id),
    consentUrl: String(consentUrl),
    person,
    csrfToken: String(csrfToken),
    statusNow,
  };
}

type Opened = Awaited<ReturnType<typeof opened>>;
type Call = NonNullable<Parameters<Opened['person']['call']>[2]>;

const ATTACKS: Record<string, [refusal: string, call: (about: Opened, other: Opened) => Call]> = {
  'without the cookie': ['401 UNAUTHORIZED', () => ({ headers: { cookie: '' } })],
  'with the cookie of another request': [
    '401 UNAUTHORIZED',
    (_, other) => ({ headers: { cookie: [...other.person.cookies].map((pair) => pair.join('=')).join() } }),
  ],
  'with the cookie of another request under this request’s name': [
    '401 UNAUTHORIZED',
    ({ id }, other) => ({
      headers: { cookie: `__Host-bh_consent_${id}=${[...other.person.cookies.values()][0]}` },
    }),
  ],
  'with an empty cookie': [
    '401 UNAUTHORIZED',
    ({ id }) => ({ headers: { cookie: `__Host-bh_consent_${id}=` } }),
  ],
  'with a cookie that a neighbour host could set': [
    '401 UNAUTHORIZED',
    ({ id, person }) => ({ headers: { cookie: `bh_consent_${id}=${[...person.cookies.values()][0]}` } }),
  ],
  'without the token against forgery': ['403 FORBIDDEN', () => ({ headers: { 'x-csrf-token': '' } })],
  'with the token of another request': [
    '403 FORBIDDEN',
    (_, { csrfToken }) => ({ headers: { 'x-csrf-token': csrfToken } }),
  ],
  'with a changed token': [
    '403 FORBIDDEN',
    ({ csrfToken }) => ({ headers: { 'x-csrf-token': `${csrfToken.slice(0, -2)}__` } }),
  ],
  'with a longer token': [
    '403 FORBIDDEN',
    ({ csrfToken }) => ({ headers: { 'x-csrf-token': `${csrfToken}x` } }),
  ],
  'with a token beyond ASCII': ['403 FORBIDDEN', () => ({ headers: { 'x-csrf-token': 'é'.repeat(43) } })],
  'from a page of another site': ['403 FORBIDDEN', () => ({ headers: { origin: 'https://evil.example' } })],
  'from a page of another port': ['403 FORBIDDEN', () => ({ headers: { origin: 'https://auth.test:8443' } })],
  'from a page of a sub-domain': ['403 FORBIDDEN', () => ({ headers: { origin: 'https://x.auth.test' } })],
  'from a page without TLS': ['403 FORBIDDEN', () => ({ headers: { origin: 'http://auth.test' } })],
  'from a page of no origin': ['403 FORBIDDEN', () => ({ headers: { origin: 'null' } })],
  'from another site, as the browser says': [
    '403 FORBIDDEN',
    () => ({ headers: { origin: '', 'sec-fetch-site': 'cross-site' } }),
  ],
  'from a neighbour, as the browser says': [
    '403 FORBIDDEN',
    () => ({ headers: { origin: '', 'sec-fetch-site': 'same-site' } }),
  ],
  'from no page, as the browser says': [
    '403 FORBIDDEN',
    () => ({ headers: { origin: '', 'sec-fetch-site': 'none' } }),
  ],
  'as a form': [
    '415 UNSUPPORTED_MEDIA_TYPE',
    () => ({ body: 'scopes=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  ],
  'as a form with files': [
    '415 UNSUPPORTED_MEDIA_TYPE',
    () => ({ body: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } }),
  ],
  'as text': [
    '415 UNSUPPORTED_MEDIA_TYPE',
    () => ({ body: '{}', headers: { 'content-type': 'text/plain' } }),
  ],
  'as text without a type': [
    '415 UNSUPPORTED_MEDIA_TYPE',
    () => ({ body: '{"scopes":["email:send"]}', headers: { 'content-type': '' } }),
  ],
  'with an API key in place of both': [
    '403 CONSENT_REQUIRED',
    ({ developer }) => ({
      headers: { cookie: '', 'x-csrf-token': '', authorization: `Bearer ${developer.apiKey}` },
    }),
  ],
  'with an API key beside both': [
    '403 CONSENT_REQUIRED',
    ({ developer }) => ({ headers: { authorization: `Bearer ${developer.apiKey}` } }),
  ],
};

describe('O10 a decision', () => {
  test.each(Object.entries(ATTACKS))(
    '%s is refused, and the request still waits',
    async (_what, [refusal, attack]) => {
      const [about, other] = [await opened(), await opened()];

      for (const decision of ['approve', 'deny']) {
        const answer = await about.person.call(
          'POST',
          `/v1/consent/${about.id}/${decision}`,
          attack(about, other),
        );
        expect(refusalOf(answer)).toBe(refusal);
      }

      expect(await about.statusNow()).toBe('pending');
      expect((await about.person.approve(about.id)).statusCode).toBe(200);
    },
  );

  test.each(['POST', 'GET'] as const)(
    'is not made by a %s without a browser’s own headers, unless it has the cookie',
    async (method) => {
      const { person, id } = await opened();

      const path = method === 'POST' ? `/v1/consent/${id}/approve` : `/v1/consent/${id}`;
      const answer = await person.call(method, path, { headers: { origin: '', 'sec-fetch-site': '' } });

      expect(answer.statusCode).toBe(200); // older browsers send neither header; cookie and token suffice
    },
  );

  test('is not made by a GET', async () => {
    const { person, id, statusNow } = await opened();

    for (const path of [`/v1/consent/${id}/approve`, `/v1/consent/${id}/deny`, `/v1/consent/${id}/session`]) {
      expect(refusalOf(await person.call('GET', path))).toBe('405 METHOD_NOT_ALLOWED');
    }
    expect(await statusNow()).toBe('pending');
  });
});

describe('without a session', () => {
  test('every request is answered 401, known or not', async () => {
    const { id } = await opened();
    const stranger = personOn(service);

    const known = [await stranger.see(id), await stranger.approve(id), await stranger.deny(id)];
    const unknown = [
      await stranger.see('areq_x'),
      await stranger.approve('areq_x'),
      await stranger.deny('areq_x'),
    ];

    for (const [at, answer] of [...known, ...unknown].entries()) {
      expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.json().message).toBe(known[at % 3]?.json().message);
    }
  });

  test('O13 an API key opens nothing, not even with the ticket', async () => {
    const { developer, consentUrl, id, statusNow } = await opened();
    const program = personOn(service);
    const headers = { authorization: `Bearer ${developer.apiKey}` };

    const answers = [
      await program.open(consentUrl, undefined, headers),
      await program.call('GET', `/v1/consent/${id}`, { headers }),
    ];

    expect(answers.map(refusalOf)).toEqual(['403 CONSENT_REQUIRED', '403 CONSENT_REQUIRED']);
    expect(program.cookies.size).toBe(0);
    expect(await statusNow()).toBe('pending');
  });

  test.each(['https://evil.example', 'null'])('O10 a page of the origin %s opens none', async (origin) => {
    const { consentUrl } = await opened();
    const elsewhere = personOn(service);

    expect(refusalOf(await elsewhere.open(consentUrl, undefined, { origin }))).toBe('403 FORBIDDEN');
    expect(elsewhere.cookies.size).toBe(0);
  });
});

describe('H2 no other origin', () => {
  test('reads an answer of the consent API, or is allowed to by CORS', async () => {
    const { person, id, consentUrl } = await opened();
    const origin = 'http://localhost:5173'; // this origin may call the rest of the API

    const answers = [
      await person.see(id),
      await person.open(consentUrl, undefined, { origin }),
      await person.call('GET', `/v1/consent/${id}`, { headers: { origin } }),
      await person.call('POST', `/v1/consent/${id}/approve`, { headers: { origin } }),
      await service.app.inject({
        method: 'OPTIONS',
        url: `/v1/consent/${id}/approve`,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-csrf-token',
        },
      }),
    ];

    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});
