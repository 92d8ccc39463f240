import type { Answer, Ask, SentRequest } from './client.ts';
import type { Draft } from './requests.ts';
import { Known } from './values.ts';

const KEPT = 8; // the newest of each name, because other requests have revoked most older records
const DEVELOPERS = 4;

/** A person's browser with an open page. */
interface Session {
  readonly id: string;
  readonly cookie: string;
  readonly csrfToken: string;
}

/** Everything that a developer has received. */
interface Tenant {
  apiKey: string;
  runtimeKey: string;
  readonly expiredKey: string;
  readonly revokedKey: string;
  /** By the name of a member of an answer, or by the path that gave the id. */
  readonly given: Map<string, string[]>;
  /** Texts that were sent and answered together, newest first, so they belong together. */
  readonly records: Readonly<Record<string, string>>[];
  /** The tickets of links, by request. */
  readonly tickets: Map<string, string>;
  readonly sessions: Session[];
}

interface WorldOptions {
  readonly ask: Ask;
  /** Moves the service's clock. */
  readonly advance: (seconds: number) => void;
}

const NOBODYS = '01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
/** Two names or paths of the same records. */
const SAME: Readonly<Record<string, string>> = {
  token: 'grantToken',
  jti: 'tokenId',
  cursor: 'nextCursor',
  agentDid: 'did',
  parentGrantId: 'grantId',
  rootGrantId: 'grantId',
  '/v1/consent': '/v1/authorize',
  '/v1/principal/grants': 'grantId',
  '/agents': '/v1/agents',
};

/** Four developers and all answers of the service to them, from which requests take names and secrets. */
export async function createWorld({ ask, advance }: WorldOptions) {
  const call = async (apiKey: string, method: string, target: string, body?: object) => {
    const headers = [
      ...(apiKey ? ['authorization', `Bearer ${apiKey}`] : []),
      ...(body ? ['content-type', 'application/json'] : []),
    ];
    return ask({ method, target, headers, ...(body && { body: Buffer.from(JSON.stringify(body)) }) });
  };

  async function signUp(place: number): Promise<Tenant> {
    const mode = place % 2 ? 'live' : 'sandbox';
    const { apiKey } = must(await call('', 'POST', '/v1/signup', { name: 'Acme', mode }));
    const key = async (more: object) => must(await call(apiKey, 'POST', '/v1/keys', { name: 'a', ...more }));
    const runtimeKey = (await key({ role: 'runtime' })).apiKey;
    const expiredKey = (await key({ expiresIn: '60s' })).apiKey;
    const revoked = await key({});
    await call(apiKey, 'DELETE', `/v1/keys/${revoked.keyId}`);
    const tenant: Tenant = {
      apiKey,
      runtimeKey,
      expiredKey,
      revokedKey: revoked.apiKey,
      given: new Map(),
      records: [],
      tickets: new Map(),
      sessions: [],
    };
    return tenant;
  }

  const tenants: Tenant[] = [];
  for (let place = 0; place < DEVELOPERS; place += 1) tenants.push(await signUp(place));
  advance(61);

  const tenantOf = (place: number): Tenant => {
    const tenant = tenants[place % DEVELOPERS];
    if (!tenant) throw new Error('There are four developers.');
    return tenant;
  };

  function pickFrom(tenant: Tenant, { name, pick }: Known): string {
    const given = tenant.given.get(SAME[name] ?? name) ?? tenant.given.get(name);
    return given?.[pick % given.length] ?? `none_${NOBODYS}`;
  }

  function resolve(tenant: Tenant, value: unknown): unknown {
    if (value instanceof Known) return pickFrom(tenant, value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => resolve(tenant, each));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolve(tenant, each)]));
  }

  /** Sends members that belong together: a secret with its agent, an agent with its grant. */
  function bodyOf(owner: Tenant, body: unknown): unknown {
    const wanted = Object.entries(Object(body)).filter(([, value]) => value instanceof Known);
    if (wanted.length < 2) return resolve(owner, body);
    const memberOf = (record: Readonly<Record<string, string>>, name: string) =>
      record[SAME[name] ?? name] ?? record[name];
    const counted = owner.records.map((record) => wanted.filter(([name]) => memberOf(record, name)).length);
    const record = owner.records[counted.indexOf(Math.max(...counted))] ?? {};
    const together = wanted.flatMap(([name]) => {
      const value = memberOf(record, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return { ...Object(resolve(owner, body)), ...Object.fromEntries(together) };
  }

  function concrete(draft: Draft, requestId: string): SentRequest {
    const caller = tenantOf(draft.developer);
    const owner = tenantOf(draft.developer + draft.foreign);
    const { access } = Object(draft.route.config);
    const session =
      access === 'consent' ? owner.sessions[draft.developer % owner.sessions.length] : undefined;
    const ticket = draft.route.url.endsWith('/session') ? [...owner.tickets].at(-1) : undefined;
    const folder = draft.route.url.split('/:')[0] ?? '';
    const segments = Object.entries(draft.params).map(([name, value]) => {
      if (!(value instanceof Known)) return [name, resolve(owner, value)];
      return [name, ticket?.[0] ?? session?.id ?? pickFrom(owner, new Known(folder, value.pick))];
    });
    const target = Object.entries(Object.fromEntries(segments)).reduce(
      (path, [name, value]) => path.replace(`:${name}`, () => encoded(value)),
      draft.path,
    );
    const body = bodyOf(owner, draft.body);
    if (ticket && Object(draft.body).ticket instanceof Known)
      Object.assign(Object(body), { ticket: ticket[1] });
    const bytes = draft.bytes ?? (draft.body === undefined ? undefined : Buffer.from(json(body)));
    const query = draft.query.map(([name, value]) => `${encoded(name)}=${encoded(resolve(owner, value))}`);
    const credential = credentialOf(caller, draft);
    if (credential.query) query.push(credential.query);
    const own = draft.headers.some(([name]) => name === 'x-request-id') ? [] : ['x-request-id', requestId];
    const cookie =
      session && draft.credential === 'good'
        ? ['cookie', session.cookie, 'x-csrf-token', session.csrfToken]
        : [];
    const joined = target.replaceAll(/[^!-~]/g, (odd) => encodeURIComponent(odd.toWellFormed()));
    return {
      method: draft.method,
      target: query.length ? `${joined}${joined.includes('?') ? '&' : '?'}${query.join('&')}` : joined,
      headers: [
        ...own,
        ...credential.headers,
        ...cookie,
        ...(bytes && draft.contentType ? ['content-type', draft.contentType] : []),
        ...draft.headers.flat(),
      ],
      ...(bytes && { body: bytes }),
      ...(draft.raw !== undefined && { raw: Buffer.from(draft.raw.replace('{}', joined), 'latin1') }),
    };
  }

  function credentialOf(tenant: Tenant, { credential, route }: Draft): { headers: string[]; query?: string } {
    const { access } = Object(route.config);
    const bearer = (text: string) => ['authorization', `Bearer ${text}`];
    if (access === 'session' && credential === 'good') {
      return { headers: bearer(pickFrom(tenant, new Known('sessionToken', 0))) };
    }
    if (access === 'grant' && credential === 'good') {
      return { headers: bearer(pickFrom(tenant, new Known('grantToken', 0))) };
    }
    if (access === 'scim' && credential === 'good') {
      return { headers: bearer(pickFrom(tenant, new Known('scimToken', 0))) };
    }
    if (access !== 'developer' && credential === 'good') return { headers: [] };
    switch (credential) {
      case 'none':
        return { headers: [] };
      case 'inQuery':
        return { headers: [], query: `apiKey=${tenant.apiKey}&access_token=${tenant.apiKey}` };
      case 'twice':
        return { headers: [...bearer(tenant.apiKey), ...bearer(tenant.apiKey)] };
      case 'basic':
        return { headers: ['authorization', `Basic ${btoa(`${tenant.apiKey}:`)}`] };
      case 'nonsense':
        return { headers: bearer(`bh_live_${'x'.repeat(43)}`) };
      case 'expired':
        return { headers: bearer(tenant.expiredKey) };
      case 'revoked':
        return { headers: bearer(tenant.revokedKey) };
      case 'grantToken':
        return { headers: bearer(pickFrom(tenant, new Known('grantToken', 0))) };
      case 'runtime':
        return { headers: bearer(tenant.runtimeKey) };
      default:
        return { headers: bearer(tenant.apiKey) };
    }
  }

  /** Remembers ids and secrets of an answer. A developer whose key was revoked begins again. */
  async function learn(draft: Draft, asked: SentRequest, answer: Answer): Promise<void> {
    if (draft.raw !== undefined) return;
    const place = draft.developer % DEVELOPERS;
    const tenant = tenantOf(place);
    const isKeyed = draft.credential === 'good' || draft.credential === 'runtime';
    if (answer.status === 401 && isKeyed && Object(draft.route.config).access === 'developer') {
      const dead = await call(tenant.apiKey, 'GET', '/v1/me');
      if (dead.status === 401 && tenants[place] === tenant) tenants[place] = await signUp(place);
      return;
    }
    if (answer.status >= 300 || !/^application\/(scim\+)?json/.test(answer.headers['content-type'] ?? ''))
      return;
    const told = JSON.parse(answer.body || 'null');
    remember(tenant, draft.route.url, told);
    if (draft.route.url === '/v1/scim/tokens' && told?.token) keep(tenant, 'scimToken', told.token);
    if (draft.route.url === '/v1/keys/rotate' && isKeyed) {
      tenant[draft.credential === 'runtime' ? 'runtimeKey' : 'apiKey'] = told.apiKey;
    }
    if (isKeyed) {
      tenant.records.unshift(textsIn({ ...Object(bodyIn(asked)), ...Object(told) }));
      tenant.records.length = Math.min(tenant.records.length, 3 * KEPT);
    }
    const link = typeof told?.consentUrl === 'string' ? new URL(told.consentUrl) : undefined;
    if (link) {
      const id = link.searchParams.get('req') ?? '';
      tenant.tickets.set(id, new URLSearchParams(link.hash.slice(1)).get('ticket') ?? '');
      if (tenant.tickets.size > KEPT) tenant.tickets.delete([...tenant.tickets.keys()][0] ?? '');
    }
    const [cookie] = answer.headers['set-cookie'] ?? [];
    if (cookie && told?.csrfToken) {
      const owner = tenantOf(draft.developer + draft.foreign);
      owner.tickets.delete(told.id);
      owner.sessions.unshift({ id: told.id, cookie: cookie.split(';')[0] ?? '', csrfToken: told.csrfToken });
      owner.sessions.length = Math.min(owner.sessions.length, 4);
    }
  }

  function remember(tenant: Tenant, url: string, told: unknown): void {
    if (typeof told !== 'object' || told === null) return;
    for (const [name, value] of Object.entries(told)) {
      if (typeof value !== 'string') remember(tenant, url, value);
      else keep(tenant, name, value);
      if (name === 'id') for (const folder of foldersOf(url)) keep(tenant, folder, String(value));
    }
  }

  function keep({ given }: Tenant, name: string, value: string): void {
    const kept = (given.get(name) ?? []).filter((each) => each !== value);
    given.set(name, [value, ...kept].slice(0, KEPT));
  }

  return { concrete, learn, tenants };
}

/** `/v1/audit/entries` lists the records of `/v1/audit/:id`. */
function foldersOf(url: string): string[] {
  const [fixed = ''] = url.split('/:');
  const parts = fixed.split('/');
  return parts.slice(2).map((_, at) => parts.slice(0, at + 3).join('/'));
}

function must({ status, body }: Answer) {
  if (status >= 300) throw new Error(`The set-up got ${status}: ${body}`);
  return JSON.parse(body);
}

const textsIn = (members: object): Record<string, string> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'string'));

const json = (value: unknown) => JSON.stringify(value) ?? '';

function bodyIn({ body }: SentRequest): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}

const encoded = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : json(value)).toWellFormed());
