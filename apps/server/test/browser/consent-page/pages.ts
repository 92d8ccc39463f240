import type { Page, Request } from 'playwright-core';
import { verifyAddress } from '../../app/every-caller.ts';
import { authorize } from '../../app/flow.ts';
import { hintClaims, newVoucher } from '../../app/person.ts';
import type { TestOptions } from '../../app/start-app.ts';
import { button, heading, must, pagesOfService } from '../pages.ts';

/** The app waits for the person's return at this URL. */
export const RETURN_TO = 'https://app.acme.example/back';

interface PageOptions {
  readonly mode?: 'live' | 'sandbox';
  /** Members of the developer's record, such as `consentMode`. */
  readonly settings?: object;
  /** Gives the developer a key to sign hints with. */
  readonly hasKey?: true;
  readonly agent?: object;
  readonly request?: object;
}

/** The page takes an approval only after it has been in front for this time. */
const ARMING = 600;

/** A service and browsers, with requests that wait for their person. */
export function consentPages(options: TestOptions = {}) {
  const { service, visit } = pagesOfService(options);

  /** A request that waits for its person. */
  async function ask(wish: PageOptions = {}) {
    const { mode = 'live', settings = {}, hasKey, agent = {}, request = {} } = wish;
    const developer = await service().asDeveloper({ mode });
    if ('consentMode' in settings) await verifyAddress(service(), developer);
    const voucher = await newVoucher();
    const consentKeys = hasKey && { consentKeys: [voucher.jwk] };
    await must(developer, 'PATCH', '/v1/me', {
      ...settings,
      ...consentKeys,
      redirectUris: [RETURN_TO, `${RETURN_TO}?a=1`],
    });
    const { agentId } = await must(developer, 'POST', '/v1/agents', { name: 'Travel booker', ...agent });
    const autoApprove = mode === 'sandbox' && { autoApprove: false };
    const asked = await authorize(developer, String(agentId), { ...autoApprove, ...request });
    const link = String(asked.consentUrl);
    const id = String(asked.id);
    /** The link as the developer's app hands it on, with a hint for the person who is signed in. */
    const vouchedLink = async (claims: object = {}) => {
      const hint = await voucher.hint({ ...hintClaims(service(), developer.developerId, asked), ...claims });
      return `${link}&hint=${hint}`;
    };
    const record = () => must(developer, 'GET', `/v1/authorize/${id}`);
    /**
     * The grant that follows from the approval. @param given the code, if the person was sent back with it
     */
    async function grant(given?: string) {
      const code = given ?? (await must(developer, 'POST', `/v1/authorize/${id}/code`)).code;
      const { grantId } = await must(developer, 'POST', '/v1/token', { code, agentId });
      return must(developer, 'GET', `/v1/grants/${grantId}`);
    }
    return { developer, agentId: String(agentId), id, link, vouchedLink, record, grant };
  }

  return { ask, visit, service };
}

/**
 * Answers in place of the app, to which the page leads back. From then on the page's requests pass through
 * here.
 */
export async function answerAsApp(page: Page): Promise<void> {
  await page.route(`${RETURN_TO}?**`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Back</title>' }),
  );
}

/** Opens a link, waits for the request, and opens what is one tap away, as a careful reader does. */
export async function openRequest(page: Page, link: string) {
  await page.goto(link);
  await heading(page, /asks to act for you/).waitFor();
  await page.evaluate("for (const part of document.querySelectorAll('#details, #tools')) part.open = true");
}

/** Decides like a person who has read the page, and waits for the title of the next page. */
export async function decide(page: Page, how: 'Allow' | 'Deny', title?: string | RegExp) {
  if (how === 'Allow') await page.clock.fastForward(ARMING);
  await button(page, how).click();
  if (title) await heading(page, title).waitFor();
}

/** The bodies that the page sends to one step of the API, in order. */
export function sentTo(page: Page, step: string): unknown[] {
  const bodies: unknown[] = [];
  page.on('request', (request: Request) => {
    const isStep = request.method() === 'POST' && request.url().endsWith(`/${step}`);
    if (isStep) bodies.push(request.postDataJSON());
  });
  return bodies;
}

/** The addresses that the page tries to open from now on, even if nothing answers. */
export async function attemptsToGo(page: Page): Promise<() => string[]> {
  const urls: string[] = [];
  const session = await page.context().newCDPSession(page);
  await session.send('Page.enable');
  session.on('Page.frameRequestedNavigation', ({ url }) => urls.push(url));
  return () => urls;
}

/** The code as a person reads it in a mail. */
export const codeIn = (text = '') => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? '';

/** A request with limits on what the agent may pass to its tools. */
export const withLimits = {
  scopes: ['tool:acme_pay:write'],
  authorizationDetails: [
    {
      type: 'urn:service:tools:v1',
      connector: 'acme_pay',
      tools: ['transfer', 'notify*'],
      arguments: {
        transfer: {
          '/amount': { min: '1', max: '500' },
          '/currency': { in: ['EUR', 'USD'] },
          '/to': { each: { '/host': { host: ['a.example', 'b.example'] } } },
        },
        notify: { '': { open: true }, '/topic': { prefix: ['x', 'y'] } },
      },
    },
  ],
};
