import { expect, test } from 'vitest';
import { grantTo } from '../../../apps/server/test/app/flow.ts';
import { blocksOf, listening } from '../steps.ts';

const FOLDER = 'cd "$(mktemp -d)"\n'; // for the files that the commands write
const commandsOf = (page: string) => `${FOLDER}${blocksOf(`docs/${page}.md`, 'sh').join('\n')}`;

test('the guides that set one thing of an account set it', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId, grantId } = await grantTo(acme, { principalId: 'user_42' });
  const env = { KEY: acme.apiKey, AGENT: agentId, GRANT: grantId };
  const told = (guide: string) => shell(commandsOf(`guides/${guide}`), env);

  expect(await told('let-people-approve-with-passkeys')).toContain('"fidoRpName":"Acme Bank"');
  const sent = await told('send-a-person-to-the-consent-page');
  expect(sent).toContain('"crv":"P-256"');
  expect(sent).toContain(`"replacesGrantId":"${grantId}"`);
  expect(await told('show-a-person-what-agents-may-do')).toMatch(
    /"dashboardUrl".*"auditPrivateKeys":\["margin"\]/s,
  );
});

test('a request is repeated by its key, as the page on errors says', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = await shell(commandsOf('protocol/errors'), { KEY: acme.apiKey });

  expect(told).toMatch(/^HTTP\/1.1 201.*"role":"runtime"/s);
});
