import { describe, expect, test } from 'vitest';
import certificate from '../../../../test/app/certificate.json' with { type: 'json' };
import { refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import { createEgress } from '../../../platform/egress/egress.ts';
import vectors from '../../service/keys/keys.vectors.json' with { type: 'json' };
import { documentFetcher, webDidUrl } from './resolve.ts';

const joinSandbox = sharedSandbox();
const ED25519 = 'z6MkpmbjaCbDiC1H8kAarwMD15iGZEg53W2udx5n1ZFiCjir';

const resolve = ({ app }: Pick<Service, 'app'>, did: string) =>
  app.inject(`/v1/dids/${encodeURIComponent(did)}`);

describe('GET /v1/dids/:did', () => {
  test('resolves the service, with the document that its host publishes', async () => {
    const { service } = await joinSandbox();

    const answer = await resolve(service, 'did:web:auth.test');

    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
    });
    expect(answer.json()).toEqual({
      didDocument: (await service.app.inject('/.well-known/did.json')).json(),
      didResolutionMetadata: { contentType: 'application/did+json' },
      didDocumentMetadata: {
        created: '2026-01-01T00:00:00.000Z',
        updated: '2026-01-01T00:00:00.000Z',
        deactivated: false,
      },
    });
  });

  test('says since when the service has its document, and since when it has this one', async () => {
    const env = {
      RSA_PRIVATE_KEY: vectors.rsa.privateKey,
      EC_PRIVATE_KEY: vectors.ec.privateKey,
      JWT_SIGNING_ALG: 'ES256',
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '900',
    };
    const databaseUrl = await newDatabase();
    const start = async (startsAt: string, more: object = {}) => {
      const service = await startApp({ databaseUrl, startsAt, env: { ...env, ...more } });
      await service.prepare();
      const times = async () => (await resolve(service, 'did:web:auth.test')).json().didDocumentMetadata;
      return { service, times };
    };
    const [first, turned, moved] = ['00:00:00', '00:15:00', '09:00:00'].map(
      (time) => `2026-01-01T${time}.000Z`,
    );

    const { service, times } = await start('2026-01-01T00:00:00Z');
    service.advance(899);
    expect(await times()).toEqual({ created: first, updated: first, deactivated: false });
    service.advance(1); // the EC key begins to sign
    expect(await times()).toEqual({ created: first, updated: turned, deactivated: false });

    const again = await start('2026-01-01T08:00:00Z', { SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0' });
    expect(await again.times()).toEqual({ created: first, updated: turned, deactivated: false });
    const other = await start('2026-01-01T09:00:00Z', { ED25519_PRIVATE_KEY: vectors.ed25519.privateKey });
    other.service.advance(60);
    expect(await other.times()).toEqual({ created: first, updated: moved, deactivated: false });
  });

  test('resolves an agent under the host of its registration, with the document that this host publishes', async () => {
    const databaseUrl = await newDatabase();
    const before = await startApp({ databaseUrl, env: { DID_WEB_DOMAIN: 'agents.acme.test' } });
    const { agentId, did } = await registerAgent(await before.asDeveloper());
    const service = await startApp({ databaseUrl });
    const url = `/agents/${agentId}/did.json`;

    const published = await service.app.inject({ url, headers: { host: 'agents.acme.test' } });
    const resolved = await resolve(service, did);

    expect(did).toBe(`did:web:agents.acme.test:agents:${agentId}`);
    expect(published.json()).toMatchObject({ id: did, controller: 'did:web:agents.acme.test' });
    expect(resolved.json()).toMatchObject({
      didDocument: published.json(),
      didDocumentMetadata: { created: '2026-01-01T00:00:00.000Z', deactivated: false },
    });
    const elsewhere = await resolve(service, `did:web:auth.test:agents:${agentId}`);
    expect(refusalOf(elsewhere)).toBe('404 NOT_FOUND');
    const other = await resolve(service, `did:web:other.test:agents:${agentId}`);
    expect(refusalOf(other)).toBe('400 UNSUPPORTED_DID');
  });

  test('tells the history of the keys that the database holds', async () => {
    const env = { SIGNING_KEY_STORE: 'postgres', SIGNING_KEY_ROTATION_SECONDS: '3600' };
    const service = await startApp({ databaseUrl: await newDatabase(), env });
    for (const seconds of [3600, 1]) {
      service.advance(seconds);
      await service.runJob('signing_keys');
    }

    const { didDocumentMetadata } = (await resolve(service, 'did:web:auth.test')).json();

    const [at, later, end] = ['00:00:00', '01:00:00', '01:00:01'].map((time) => `2026-01-01T${time}.000Z`);
    expect(didDocumentMetadata).toEqual({
      created: at,
      updated: end,
      deactivated: false,
      keyHistory: [
        { kid: expect.any(String), alg: 'RS256', publishedAt: at, activatedAt: at, retiredAt: end },
        { kid: expect.any(String), alg: 'RS256', publishedAt: later, activatedAt: end, retiredAt: null },
      ],
    });
  });

  test('resolves an agent, and says when its DID is deactivated', async () => {
    const { service, acme } = await joinSandbox();
    const { agentId, did } = await registerAgent(acme);
    const times = { created: '2026-01-01T00:00:00.000Z', updated: '2026-01-01T00:00:00.000Z' };

    expect((await resolve(service, did)).json()).toMatchObject({
      didDocument: (await service.app.inject(`/agents/${agentId}/did.json`)).json(),
      didDocumentMetadata: { ...times, deactivated: false },
    });
    expect((await acme('DELETE', `/v1/agents/${agentId}`)).statusCode).toBe(204);
    expect((await resolve(service, did)).json()).toMatchObject({
      didDocument: null,
      didDocumentMetadata: { ...times, deactivated: true },
    });
  });

  test('resolves a key without asking anybody', async () => {
    const { service } = await joinSandbox();
    const did = `did:key:${ED25519}`;

    const { didDocument } = (await resolve(service, did)).json();

    const id = `${did}#${ED25519}`;
    expect(didDocument).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
      id: did,
      verificationMethod: [{ id, type: 'Multikey', controller: did, publicKeyMultibase: ED25519 }],
      authentication: [id],
      assertionMethod: [id],
    });
  });

  test('a key for agreement proves nothing', async () => {
    const { service } = await joinSandbox();
    const did = 'did:key:z6LSeu9HkTHSfLLeUs2nnzUSNedgDUevfNQgQjQC23ZCit6F';

    const { didDocument } = (await resolve(service, did)).json();

    expect(didDocument).toMatchObject({ keyAgreement: [expect.stringContaining(did)] });
    expect(didDocument).not.toHaveProperty('assertionMethod');
  });

  test('does not know an agent of this host that is not there', async () => {
    const { service } = await joinSandbox();

    const answer = await resolve(service, 'did:web:auth.test:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C');

    expect(refusalOf(answer)).toBe('404 NOT_FOUND');
  });

  test('refuses another method, a broken key and, without permission, another host', async () => {
    const { service, acme } = await joinSandbox();
    const { agentId } = await registerAgent(acme);

    for (const did of [
      'did:example:123',
      'did:key:zInvalid0',
      `did:key:${ED25519}x`,
      'did:web:other.example',
      `did:peer:2.${'E'.repeat(1_900)}`,
      `did:key:z${'6'.repeat(1_000)}`,
      'did:example:123#key-1',
      'did:web:auth.test#key-1',
      'did:web:auth.test?versionId=1',
      `did:web:other.example:agents:${agentId}`,
    ]) {
      expect(refusalOf(await resolve(service, did)), did).toBe('400 UNSUPPORTED_DID');
    }
    for (const nothing of ['nothing', `did:peer:2.${'E'.repeat(2_048)}`]) {
      expect(refusalOf(await resolve(service, nothing))).toBe('404 NOT_FOUND');
    }
    const refused = await resolve(service, 'did:example:123');
    expect(refused.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  });

  test('with permission, does not reach this machine or a private network', async () => {
    const service = await startApp({ env: { DID_RESOLVE_WEB: 'true' } });

    for (const host of ['localhost.localdomain', 'metadata.internal', 'a.localhost']) {
      expect(refusalOf(await resolve(service, `did:web:${host}`))).toBe('502 UPSTREAM_ERROR');
    }
    for (const host of ['127.0.0.1', 'other.example%3A22', 'localhost']) {
      expect(refusalOf(await resolve(service, `did:web:${host}`))).toBe('400 UNSUPPORTED_DID');
    }
  });
});

describe('the document of another host', () => {
  const DID = 'did:web:hooks.test';

  /** A host with TLS on this machine, in place of one on the internet. */
  async function startHost() {
    const receiver = await startReceiver({ tls: certificate });
    let now = new Date('2026-01-01T00:00:00Z');
    const egress = createEgress({
      allowsHttp: false,
      allowsPrivateHosts: true,
      ca: certificate.cert,
      resolve: async () => ['127.0.0.1'],
    });
    const onPort = {
      ...egress,
      ask: (request: Parameters<typeof egress.ask>[0]) =>
        egress.ask({ ...request, url: request.url.replace('hooks.test', `hooks.test:${receiver.port}`) }),
    };
    const fetchDocument = documentFetcher({ egress: onPort, clock: () => now });
    const answerWith = (body: string, status = 200) =>
      receiver.answer((_request, response) => void response.writeHead(status).end(body));
    const advance = (seconds: number) => {
      now = new Date(now.getTime() + seconds * 1000);
    };
    return { receiver, fetchDocument, answerWith, advance };
  }

  test('is fetched once in five minutes', async () => {
    const { receiver, fetchDocument, answerWith, advance } = await startHost();
    const document = { id: DID, verificationMethod: [] };
    answerWith(JSON.stringify(document));

    expect(await fetchDocument(DID)).toEqual(document);
    advance(299);
    await fetchDocument(DID);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/.well-known/did.json']);
    advance(1);
    await fetchDocument(DID);
    expect(receiver.received).toHaveLength(2);
  });

  test.each([
    ['that names another DID', JSON.stringify({ id: 'did:web:other.test' }), 200],
    ['that is no JSON', '<html>', 200],
    ['with a member twice', `{"id":"${DID}","id":"${DID}"}`, 200],
    ['that is an array', '[]', 200],
    ['that is not there', JSON.stringify({ id: DID }), 404],
    ['behind a redirect', JSON.stringify({ id: DID }), 302],
  ])('%s is refused, and not kept', async (_what, body, status) => {
    const { fetchDocument, answerWith } = await startHost();
    answerWith(body, status);

    await expect(fetchDocument(DID)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    answerWith(JSON.stringify({ id: DID }));
    expect(await fetchDocument(DID)).toEqual({ id: DID });
  });

  test('stands at the address that its DID makes', () => {
    expect(webDidUrl('did:web:example.com')).toBe('https://example.com/.well-known/did.json');
    expect(webDidUrl('did:web:example.com:user:alice')).toBe('https://example.com/user/alice/did.json');
    for (const other of [
      '',
      'example.com%3A8443',
      'EXAMPLE.com',
      '10.0.0.1',
      'a.b:..',
      'a.b:',
      'a.b:c%2Fd',
      'user@a.b',
    ]) {
      expect(webDidUrl(`did:web:${other}`), other).toBeUndefined();
    }
  });
});
