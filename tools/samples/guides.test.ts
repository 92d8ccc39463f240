import { expect, test } from 'vitest';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { blocksOf, listening } from '../docs-steps.ts';

const FOLDER = 'cd "$(mktemp -d)"\n'; // for the files that the commands write
const commandsOf = (guide: string) => `${FOLDER}${blocksOf(`docs/guides/${guide}.md`, 'sh').join('\n')}`;

test('the guides that set one thing of an account set it', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId, grantId } = await grantTo(acme, { principalId: 'user_42' });
  const env = { KEY: acme.apiKey, AGENT: agentId, GRANT: grantId };
  const told = (guide: string) => shell(commandsOf(guide), env);

  expect(await told('let-people-approve-with-passkeys')).toContain('"fidoRpName":"Acme Bank"');
  expect(await told('repeat-a-request-safely')).toMatch(/^HTTP\/1.1 201.*"role":"runtime"/s);
  const sent = await told('send-a-person-to-the-consent-page');
  expect(sent).toContain('"crv":"P-256"');
  expect(sent).toContain(`"replacesGrantId":"${grantId}"`);
  expect(await told('show-a-person-what-agents-may-do')).toMatch(
    /"dashboardUrl".*"auditPrivateKeys":\["margin"\]/s,
  );
});

test('the guide to GitHub registers the app, and makes a link for a person', async () => {
  const { shell, asDeveloper, baseUrl } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = (await shell(commandsOf('connect-github-for-your-users'), { KEY: acme.apiKey }))
    .trim()
    .split('\n');

  expect(told).toEqual([
    expect.stringContaining(`${baseUrl}/`),
    expect.stringContaining(`${baseUrl}/connect`),
  ]);
});
