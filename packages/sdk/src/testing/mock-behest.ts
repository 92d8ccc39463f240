import { Behest } from '../behest.ts';
import type { BehestOptions } from '../client/options.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { type MockCall, type MockState, mockRoutes } from './mock-routes.ts';
import { createTestIssuer, type TestIssuer } from './test-issuer.ts';

export interface MockOptions extends Omit<BehestOptions, 'fetch' | 'baseUrl' | 'apiKey'> {
  /** The issuer whose keys sign the tokens. Default: a new one. */
  readonly testIssuer?: TestIssuer;
}

/** A client of a service that is in this process. */
export interface MockBehest {
  readonly behest: Behest;
  readonly issuer: TestIssuer;
  /** The service as a function, for clients that a test makes itself. */
  readonly fetch: Fetch;
  /** The calls that it has answered, the first one first. */
  readonly calls: readonly MockCall[];
}

/**
 * Makes a service in memory, and its client. It has agents, requests that are approved at once, tokens and grants; other calls are answered with 501. It checks no input and no plan: tests of those need the service itself.
 *
 * @example
 * ```ts
 * const { behest, calls } = await mockBehest();
 * await bookTravel(behest);
 * expect(calls.map(({ route }) => route)).toContain('POST /v1/authorize');
 * ```
 */
export async function mockBehest({ testIssuer, ...options }: MockOptions = {}): Promise<MockBehest> {
  const issuer = testIssuer ?? (await createTestIssuer());
  const state: MockState = { issuer, agents: new Map(), codes: new Map(), grants: new Map() };
  const calls: MockCall[] = [];
  const routes = mockRoutes(state);

  const fetch: Fetch = async (address, { method = 'GET', body }) => {
    const { pathname } = new URL(address);
    if (address === issuer.jwksUri) return issuer.fetch(address, {});
    for (const [route, answer] of routes) {
      const [verb, template = ''] = route.split(' ');
      const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
      const found = verb === method ? pattern.exec(pathname) : null;
      if (!found) continue;
      const sent: object = body == null ? {} : Object(JSON.parse(String(body)));
      calls.push({ route, body: sent });
      const { status, value } = await answer({ id: decodeURIComponent(found[1] ?? ''), body: sent });
      return value === undefined ? new Response(null, { status }) : Response.json(value, { status });
    }
    const message = `mockBehest() has no ${method} ${pathname}.`;
    return Response.json({ code: 'NOT_SUPPORTED', message, requestId: 'req_test' }, { status: 501 });
  };
  const { cache: _, ...known } = issuer.options;
  const behest = new Behest({ ...known, ...options, apiKey: 'bh_test_mock', baseUrl: issuer.issuer, fetch });
  return { behest, issuer, fetch, calls };
}
