import type { Mail } from '../../../platform/mail/mailer.ts';
import { nameInMail, rates } from '../../accounts/emails/index.ts';
import type { ApproverDeps } from './approvers.deps.service.ts';

type MailDeps = Pick<ApproverDeps, 'mailer' | 'chargeRecipient' | 'onMailFailed' | 'logger'>;

/** Mails without making anybody wait or fail. The log names no address. */
export async function mailQuietly(deps: MailDeps, mail: Mail): Promise<void> {
  const { mailer, chargeRecipient, onMailFailed, logger } = deps;
  try {
    await chargeRecipient(rates.mailRecipient, mail.to);
    await mailer?.send(mail);
  } catch (error) {
    const { code, command, responseCode } = Object(error);
    onMailFailed();
    logger?.warn({ code, command, responseCode }, 'the mail server did not take a mail to an approver');
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
  text: `Somebody asks you to decide about calls of AI agents, with a passkey of your own. Nothing is decided by opening the link.

The account: ${nameInMail(developerName, developerId)}

    ${link}

The link is good for 72 hours, and once. If you do not know the account, do nothing.
`,
});

export const passkeyMail = (name: string) => ({
  subject: 'A further passkey decides for you',
  text: `A passkey was added to those with which you approve what AI agents do. If you did not add it, sign in to the page of decisions, remove it, and tell the account that enrolled you.

The person: ${nameInMail(name, 'without a name')}
`,
});

export const enrolledMail = ({ developerName, developerId }: Omit<Invited, 'link'>, name: string) => ({
  subject: 'A person was enrolled to approve what agents do',
  text: `A person was enrolled as an approver of an account of Behest. If nobody should have been, suspend the person now and rotate the API keys.

The account: ${nameInMail(developerName, developerId)}
The person: ${nameInMail(name, 'without a name')}
`,
});
