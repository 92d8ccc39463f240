import type { Caller, Tenant } from '../../../platform/caller.ts';
import { afterCommit, type Tx } from '../../../platform/db/db.ts';
import { sayIn } from '../../../platform/languages.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail, rates } from '../../accounts/emails/index.ts';
import { type ApproverRow, findApprover } from './approvers.repo.ts';
import type { ApproverDeps } from './deps.ts';

type MailDeps = Pick<ApproverDeps, 'mailer' | 'chargeRecipient' | 'onMailFailed' | 'logger'>;

/** Mails to an address that nobody has proved yet, without making anybody wait or fail. */
export const mailQuietly = (deps: MailDeps, tenant: Tenant, mail: Mail): Promise<void> =>
  sendQuietly(deps, mail, () =>
    deps.chargeRecipient([rates.mailRecipient, rates.mailDeveloper], mail.to, tenant),
  );

/** Tells a person, whose address is proved, about an account. No other account's mails keep the notice back. */
export const noticeQuietly = (deps: MailDeps, tenant: Tenant, mail: Mail): Promise<void> =>
  sendQuietly(deps, mail, () =>
    deps.chargeRecipient(
      [rates.mailNotice, rates.mailNoticeDaily],
      `${tenant.developerId} ${mail.to}`,
      tenant,
    ),
  );

/** The log names no address. */
async function sendQuietly(deps: MailDeps, mail: Mail, charge: () => Promise<void>): Promise<void> {
  const { mailer, onMailFailed, logger } = deps;
  try {
    await charge();
    await mailer?.send(mail);
  } catch (error) {
    const { code, command, responseCode } = Object(error);
    onMailFailed();
    logger?.warn({ code, command, responseCode }, 'the mail server did not take a mail of an account');
  }
}

interface Invited {
  readonly developerName: string;
  readonly developerId: string;
  readonly link: string;
}

/** Begins with a sentence of the service, because developers choose the names. */
export const invitationMail = ({ developerName, developerId, link }: Invited) => ({
  subject: 'You are asked to approve what AI agents do',
  account: nameInMail(developerName, developerId),
  text: `Somebody asks you to decide about calls of AI agents, with a passkey of your own. Nothing is decided by opening the link.

The account: ${nameInMail(developerName, developerId)}

    ${link}

The link is good for 72 hours, and once. If you do not know the account, do nothing.
`,
});

/** The texts of the mails to a person who is at the page. The other mails stay English: the language of their reader is unknown. @public The check of the messages reads it. */
export const texts = {
  account: 'The account: {account}',
  person: 'The person: {person}',
  unnamed: 'without a name',
  confirmation: {
    subject: 'Confirm that you made a passkey to approve what AI agents do',
    lead: 'Somebody made a passkey with the link that was mailed to you. If it was you, confirm it in the browser in which you made it. If not, do nothing: it decides nothing before.',
    limits: 'The link is good for 72 hours, and once.',
  },
  passkey: {
    subject: 'A further passkey decides for you',
    lead: 'A passkey was added to those with which you approve what AI agents do. If you did not add it, sign in to the page of decisions, remove it, and tell the account that enrolled you.',
  },
};

export const confirmationMail = ({ developerName, developerId, link }: Invited, language: string) => {
  const say = sayIn(language);
  const account = nameInMail(developerName, developerId);
  const { subject, lead, limits } = texts.confirmation;
  return {
    subject: say(subject),
    account,
    text: `${say(lead)}

${say(texts.account, { account })}

    ${link}

${say(limits)}
`,
    language,
  };
};

/** @param reader the person, by their name */
export const passkeyMail = (
  { developerName, developerId }: Omit<Invited, 'link'>,
  { name, language }: { readonly name: string; readonly language: string },
) => {
  const say = sayIn(language);
  const account = nameInMail(developerName, developerId);
  const { subject, lead } = texts.passkey;
  return {
    subject: say(subject),
    account,
    text: `${say(lead)}

${say(texts.account, { account })}
${say(texts.person, { person: nameInMail(name, say(texts.unnamed)) })}
`,
    language,
  };
};

export const enrolledMail = ({ developerName, developerId }: Omit<Invited, 'link'>, name: string) => ({
  subject: 'A person was enrolled to approve what agents do',
  account: nameInMail(developerName, developerId),
  text: `A person was enrolled as an approver of an account of Behest. If nobody should have been, suspend the person now and rotate the API keys.

The account: ${nameInMail(developerName, developerId)}
The person: ${nameInMail(name, 'without a name')}
`,
});

/** @param changes lines that hold nothing but names that are safe in a mail */
export const changedMail = (
  { developerName, developerId }: Omit<Invited, 'link'>,
  changes: readonly string[],
) => ({
  subject: 'Your record as an approver has changed',
  account: nameInMail(developerName, developerId),
  text: `Somebody who manages an account has changed for which calls of AI agents you are asked, or when. If you do not know why, ask the people of the account.

The account: ${nameInMail(developerName, developerId)}

${changes.map((change) => `    ${change}`).join('\n')}
`,
});

interface Recovered extends Invited {
  readonly name: string;
  readonly opensAt: string;
}

export const recoveryMail = ({ developerName, developerId, link, opensAt }: Recovered) => ({
  subject: 'You can make a new passkey to approve what AI agents do',
  account: nameInMail(developerName, developerId),
  text: `The operator of the service lets you make a new passkey, because yours are lost. It replaces all that you have. If you did not ask for it, sign in to the page of decisions and stop it.

The account: ${nameInMail(developerName, developerId)}

    ${link}

The link opens at ${opensAt}, and is good for 72 hours from then on, once.
`,
});

export const recoveryNotice = ({ developerName, developerId, name, opensAt }: Recovered) => ({
  subject: 'An approver is about to get a new passkey',
  account: nameInMail(developerName, developerId),
  text: `The operator of the service lets an approver make a new passkey, because theirs are lost. Any approver of the account can stop it on the page of decisions until ${opensAt}. If nobody has asked for it, stop it and write to the operator.

The account: ${nameInMail(developerName, developerId)}
The person: ${nameInMail(name, 'without a name')}
`,
});

/** Mails a person what somebody else has changed in their record: an API key can reroute what they decide. */
export async function tellOfChange(
  deps: ApproverDeps,
  tx: Tx,
  { approver }: Caller,
  before: ApproverRow,
  after: ApproverRow,
): Promise<void> {
  const { email, emailVerified } = after;
  if (!deps.mailer || !emailVerified || approver?.approverId === after.id) return;
  const [was, is] = [await linesOf(tx, before), await linesOf(tx, after)];
  const changes = is.filter((line) => !was.includes(line));
  if (changes.length === 0) return;
  const mail = changedMail({ ...after, developerName: await findDeveloperName(tx, after) }, changes);
  await afterCommit(tx, () => noticeQuietly(deps, after, { to: email, ...mail }));
}

async function linesOf(tx: Tx, row: ApproverRow): Promise<string[]> {
  const { deputyId } = row;
  return recordLines(row, deputyId === null ? undefined : await findApprover(tx, row, deputyId));
}

type ApproverRecord = Pick<ApproverRow, 'groups' | 'connectors' | 'absentFrom' | 'absentUntil'>;

/** What a mail says of a record. An account chose the names in it. */
export function recordLines(
  { groups, connectors, absentFrom, absentUntil }: ApproverRecord,
  deputy: Pick<ApproverRow, 'id' | 'displayName'> | undefined,
): string[] {
  const absence =
    absentFrom && absentUntil
      ? `from ${absentFrom.toISOString()} until ${absentUntil.toISOString()}`
      : 'none';
  return [
    `Your groups: ${listed(groups) || 'none'}`,
    `Calls of: ${connectors ? listed(connectors) : 'every connector'}`,
    `Your absence: ${absence}`,
    `Your deputy: ${deputy ? nameInMail(deputy.displayName, deputy.id) : 'nobody'}`,
  ];
}

const MAX_LISTED = 20;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => nameInMail(name, '–'));
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
