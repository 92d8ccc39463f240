/** The pages of the site in the order of its menu, by group. Each is a file of `docs/`, without its ending. */
export const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  Start: ['index', 'guides/quickstart', 'guides/moving', 'glossary'],
  'Ask people': [
    'guides/send-a-person-to-the-consent-page',
    'guides/ask-a-person-before-the-money-leaves',
    'guides/let-people-approve-with-passkeys',
    'guides/show-a-person-what-agents-may-do',
  ],
  'Check tokens and calls': [
    'guides/verify-a-token',
    'guides/protect-an-mcp-server',
    'guides/put-an-api-gateway-in-front',
    'guides/write-a-manifest',
    'guides/understand-a-denial',
    'guides/prove-a-grant-with-a-credential',
  ],
  'Run agents': [
    'guides/run-agents-on-a-host',
    'guides/delegation',
    'guides/let-an-agent-call-an-api-without-its-key',
    'guides/set-a-budget',
    'guides/deny-in-advance-with-policies',
    'guides/notice-and-stop',
  ],
  'Sign-in and directories': [
    'guides/sign-people-in-with-openid-connect',
    'guides/sign-people-in-with-saml',
    'guides/let-a-customer-set-up-sign-in',
    'guides/let-your-identity-provider-decide',
    'guides/provision-people',
  ],
  'Follow and prove': [
    'guides/receive-events',
    'guides/tell-your-other-systems',
    'guides/check-the-audit-chain',
    'guides/show-somebody-that-you-stopped-it',
    'guides/show-an-auditor-what-happened',
    'compliance-mapping',
    'guides/console',
    'guides/plans-and-usage',
  ],
  Operate: [
    'guides/deploy',
    'configuration',
    'operations',
    'performance',
    'guides/upgrade-and-restore',
    'guides/rotate-keys',
    'guides/use-a-domain-of-your-own',
    'security',
  ],
  Protocol: [
    'protocol/tokens-and-claims',
    'protocol/scopes-and-manifests',
    'protocol/enforcement-and-arguments',
    'protocol/audit-chain',
    'protocol/receipts',
    'protocol/webhooks',
    'protocol/errors',
  ],
  Reference: ['api/index', 'sdk/index', 'cli', 'errors', 'conformance'],
  'How it is made': ['architecture', 'worked-example', 'design/README'],
};

/** Folders whose pages are found from their own list, and are not in the menu one by one. */
export const LISTED_ELSEWHERE = ['api/', 'design/', 'sdk/'];

/** A page as `llms.txt` names it. */
interface PageSummary {
  readonly place: string;
  readonly title: string;
  /** The first sentence of the page. */
  readonly about: string;
}

/** @throws Error for a page without a title */
export function summaryOf(place: string, text: string): PageSummary {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${place} has no title.`);
  const [, paragraph = ''] = /^# .+\n+((?:(?![#|`<>-]).+\n?)*)/m.exec(text) ?? [];
  const [sentence = ''] = plain(paragraph).match(/^.*?[.:](?=\s|$)/) ?? [];
  return { place, title: plain(title), about: sentence.replace(/:$/, '.') };
}

const plain = (text: string) =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** @see https://llmstxt.org */
export function llmsText(groups: Readonly<Record<string, readonly PageSummary[]>>): string {
  const sections = Object.entries(groups).map(([group, pages]) => {
    const lines = pages.map(({ place, title, about }) => `- [${title}](${place})${about && `: ${about}`}`);
    return `## ${group}\n\n${lines.join('\n')}\n`;
  });
  return `# Behest\n\n> ${SUMMARY}\n\n${NOTES}\n\n${sections.join('\n')}`;
}

const SUMMARY =
  'Behest is an authorization service for AI agents that act on behalf of people. An agent asks for scopes, the person decides, and the agent gets a signed grant token that a resource verifies offline.';
const NOTES =
  'Every page is Markdown at the address of its `.md`. The API is described in [openapi.json](openapi.json).';
