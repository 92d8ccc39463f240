import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { verificationMail } from '../../src/features/accounts/emails/mail.rules.ts';
import * as members from '../../src/features/accounts/members/mail.ts';
import { bodyOf, confirmationMail } from '../../src/features/calls/anomalies/channels.rules.ts';
import * as approvers from '../../src/features/calls/approvers/mail.ts';
import { recordLines } from '../../src/features/calls/approvers/mail.ts';
import { digestOf, messageOf, mailOf as noticeMail } from '../../src/features/calls/decisions/messages.ts';
import { codeMail } from '../../src/features/grants/consent/email.ts';
import { signInMail } from '../../src/features/people/principals/sign-in.ts';
import { connectingMail } from '../../src/features/vault/connections/proof.ts';
import { LANGUAGES } from '../../src/platform/languages.ts';
import { htmlOf, type Mail } from '../../src/platform/mail/mailer.ts';

const BASE = 'https://behest.test';
const LINK = `${BASE}/page#secret`;
const SENTENCE = 'URGENT your account is blocked and you have to sign in within a day or';
const HOSTILE = [
  `${SENTENCE} at https://evil.example/login`,
  'http://evil/a HTTP:evil evil.example www.evil //evil/x',
  '<https://evil.example|Decide> [Decide](evil) [Decide here](tel:555)',
  'ada@evil.example mailto:ada evil\u3002example evil\uff0eexample evil\u2024example',
  'evil\u200b.example ev\u00adil.example evil\u0000.example',
  `line\nhttps://evil.example\r\nBcc: ada@evil.example ${'x'.repeat(300)}`,
];
const DEVELOPER_ID = 'dev_1';

interface Text {
  readonly type: string;
  readonly text: string;
}

/** The texts that Slack reads without markup. The link of the service's own is the only other one. */
function slackTexts(message: string): string {
  const blocks: { text: Text }[] = JSON.parse(message).blocks;
  const [link, ...others] = blocks.map(({ text }) => text).filter(({ type }) => type === 'mrkdwn');
  expect([link?.text, others]).toEqual([`<${LINK}|Decide>`, []]);
  return blocks
    .filter(({ text }) => text.type === 'plain_text')
    .map(({ text }) => text.text)
    .join('\n');
}

/** The texts of a card, all of which are in elements without Markdown. */
function teamsTexts(message: string): string {
  const { body, actions } = JSON.parse(message).attachments[0].content;
  expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Decide', url: LINK }]);
  return body
    .map(({ type, inlines }: { type: string; inlines: Text[] }) => {
      expect([type, ...inlines.map((run) => run.type)]).toEqual([
        'RichTextBlock',
        ...inlines.map(() => 'TextRun'),
      ]);
      return inlines.map(({ text }) => text).join('');
    })
    .join('\n');
}

/** The mails to people who are at a page, in its language. */
function mailsIn(language: string, name: string) {
  const account = { developerName: name, developerId: DEVELOPER_ID };
  const invited = { ...account, link: LINK };
  const reader = { publicBaseUrl: BASE, language };
  return {
    verification: verificationMail(LINK, DEVELOPER_ID, language),
    code: codeMail({ ...account, agentName: name, agentId: 'agt_1' }, '12345678', reader),
    connecting: connectingMail(account, '12345678', reader),
    signIn: signInMail([invited], language),
    confirmation: approvers.confirmationMail(invited, language),
    passkey: approvers.passkeyMail(account, { name, language }),
  };
}

test.each(LANGUAGES)(
  'a mail in %s has the parts of the English one, and is in that language as a whole',
  (language) => {
    const partsOf = (mail: Omit<Mail, 'to'>) =>
      htmlOf(mail, BASE)
        .split('<main>')[1]
        ?.match(/<[^>]*>/g);
    const name = 'Acme {account} {code} {link}';
    const english = mailsIn('en', name);

    for (const [key, mail] of Object.entries(mailsIn(language, name))) {
      const original = Object.entries(english).find(([other]) => other === key)?.[1];
      expect(partsOf(mail), key).toEqual(original && partsOf(original));
      expect(htmlOf(mail, BASE)).toContain(`<html lang="${language}">`);
      const kept = mail.text.split('\n').filter((line) => original?.text.split('\n').includes(line));
      expect(
        kept.filter((line) => !/^ {4}|^$/.test(line)),
        key,
      ).toEqual([]);
      expect(mail.text.replaceAll(name, '')).not.toMatch(/[{}]/);
    }
  },
);

/** All texts that name something, each by what a stranger may have chosen. */
function textsWith(name: string): Record<string, string> {
  const account = { developerName: name, developerId: DEVELOPER_ID };
  const invited = { ...account, link: LINK };
  const told = {
    occasion: 'requested' as const,
    ...{ status: 'pending', agentName: name, agentId: 'agt_1', connector: name },
    ...{ tool: name, title: name, caseId: name, expiresAt: new Date(0), url: LINK, money: undefined },
    ...account,
  } as const;
  const paid = { ...told, money: { amount: '9,000.00', currency: 'EUR', receiver: name } };
  const alert = {
    ...{ alertId: 'alt_1', ruleId: 'custom', ruleName: name, severity: 'critical', agentId: 'agt_1' },
    ...{ principalId: name, grantId: null, description: 'A sentence.', detectedAt: '' },
  };
  const record = { groups: [name], connectors: [name], absentFrom: new Date(0), absentUntil: new Date(1) };
  const recovered = { ...invited, name, opensAt: '' };
  const mails = {
    ...mailsIn('en', name),
    recipient: confirmationMail(account, LINK),
    notice: noticeMail(told),
    ended: noticeMail({ ...told, occasion: 'ended', status: 'denied' }),
    paid: noticeMail(paid),
    digest: digestOf(
      [1, 2].map(() => ({ subject: 'A notice', body: noticeMail(told).text })),
      { waiting: 2, url: LINK },
    ),
    invitation: approvers.invitationMail(invited),
    enrolled: approvers.enrolledMail(account, name),
    changed: approvers.changedMail(account, recordLines(record, { id: 'apr_1', displayName: name })),
    firstOwner: members.firstOwnerMail({ ...account, name }),
    ownerLink: members.recoveryMail({ ...account, name }),
    ownerRecovered: members.recoveredMail({ ...account, name }),
    recovery: approvers.recoveryMail(recovered),
    recoveryNotice: approvers.recoveryNotice(recovered),
  };
  const others = LANGUAGES.flatMap((language) =>
    Object.entries(mailsIn(language, name)).map(([key, mail]) => [`${key} ${language}`, mail] as const),
  );
  const shown = [...Object.entries(mails), ...others].map(([key, { subject, text }]) => [
    key,
    `${subject}\n${text}`,
  ]);
  return {
    ...Object.fromEntries(shown),
    slack: slackTexts(messageOf('slack', told)),
    slackPaid: slackTexts(messageOf('slack', paid)),
    teams: teamsTexts(messageOf('teams', told)),
    teamsPaid: teamsTexts(messageOf('teams', paid)),
    anomalyMail: bodyOf('email', 'amsg_1', account, alert),
    anomalySlack: JSON.parse(bodyOf('slack', 'amsg_1', account, alert)).text,
  };
}

const ADDRESS = /evil|www|\]\(|mailto:|tel:|@|Bcc.*@/i;

describe('31 M6: what the service says in words that a developer chose', () => {
  test.each(HOSTILE)('names the account and leads nowhere but to the service, with the name %j', (name) => {
    for (const [key, text] of Object.entries(textsWith(name))) {
      const own = text.replaceAll(LINK, '').replaceAll(`${BASE}/permissions`, '');
      expect(own, key).not.toMatch(ADDRESS);
      expect(own, key).not.toMatch(/https?:/);
      for (const line of own.split('\n')) {
        const [, value = ''] = /^[\w ’*]+: (.*)$/.exec(line) ?? [];
        expect([...value.replaceAll(/&\w+;/g, '.')].length, `${key}: ${line}`).toBeLessThanOrEqual(
          /^Call|asks to use/.test(line) ? 2 * 60 + 20 : 60,
        );
      }
      expect(own, key).not.toContain('x'.repeat(61));
    }
  });

  test.each(Object.keys(textsWith('Acme')))('%s says whose account it is', (key) => {
    expect(textsWith('Acme')[key]).toMatch(key.startsWith('verification') ? /dev_1/ : /: Acme$/m);
    expect(textsWith('https://evil.example')[key]).toContain(DEVELOPER_ID);
  });

  test('is written in the files that this test knows', () => {
    const root = new URL('../../src/features/', import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    const writing = files.filter((file) =>
      /\bsubject: .*,\s+(?:(?:button: |account: |\.{3}).*,\s+)*text\b|mrkdwn|AdaptiveCard|escapeSlack\(/.test(
        readFileSync(new URL(file, root), 'utf8'),
      ),
    );
    expect(writing.map((file) => file.split('/').at(-1)).sort()).toEqual([
      'channels.rules.ts',
      'email.ts',
      'mail.rules.ts',
      'mail.ts',
      'mail.ts',
      'messages.ts', // a subject of its own
      'messages.ts',
      'proof.ts',
      'sign-in.ts',
    ]);
  });
});
