import type { Tenant } from '../../../platform/caller.ts';
import { afterCommit, type Tx } from '../../../platform/db/db.ts';
import { mailQuietly, noticeQuietly } from '../../calls/approvers/index.ts';
import { findBrand } from '../developers/developers.queries.ts';
import { lockOpenAccount } from '../developers/index.ts';
import { nameInMail } from '../emails/index.ts';
import { listMemberRows } from './members.repo.ts';
import type { MemberDeps } from './session.ts';

interface Joined {
  readonly developerName: string;
  readonly developerId: string;
  /** The name that the person goes by. */
  readonly name: string;
}

interface Text {
  readonly subject: string;
  readonly account: string;
  readonly text: string;
}

const partiesOf = ({ developerName, developerId, name }: Joined) =>
  `The account: ${nameInMail(developerName, developerId)}
The person: ${nameInMail(name, 'without a name')}
`;

/** Begins with a sentence of the service, because developers choose the names. Nobody knows the language of its reader. */
export const invitedMail = ({
  role,
  link,
  ...of
}: Omit<Joined, 'name'> & Record<'role' | 'link', string>): Text => ({
  subject: 'You are invited to the console of an account of Behest',
  account: nameInMail(of.developerName, of.developerId),
  text: `Somebody invites you to the console of an account of Behest, where people look after AI agents. You join with a passkey of your own. Nothing happens by opening the link.

The account: ${nameInMail(of.developerName, of.developerId)}
Your role: ${role}

    ${link}

The link is good for seven days, and once. If you do not know the account, do nothing.
`,
});

export const firstOwnerMail = (joined: Joined): Text => ({
  subject: 'The first owner of your account has opened its console',
  account: nameInMail(joined.developerName, joined.developerId),
  text: `Somebody with an API key of an account of Behest has opened its console and is its first owner. If nobody of yours did, revoke that key, and ask the operator of the service for a link that makes you an owner.

${partiesOf(joined)}`,
});

export const recoveryMail = (joined: Joined): Text => ({
  subject: 'The operator lets a person into the console as an owner',
  account: nameInMail(joined.developerName, joined.developerId),
  text: `The operator of the service has made a link that lets a person into the console of an account of Behest, as an owner, within an hour. If nobody of yours asked for it, write to the operator, and look at the members of the account.

${partiesOf(joined)}`,
});

export const recoveredMail = (joined: Joined): Text => ({
  subject: 'A person came into the console by a link of the operator',
  account: nameInMail(joined.developerName, joined.developerId),
  text: `A person has used the link of the operator, and is an owner of an account of Behest once they have made a passkey. For an hour no other member can change or remove them, or end their sessions. If nobody of yours asked for it, write to the operator of the service.

${partiesOf(joined)}`,
});

export const codeUsedMail = (joined: Joined): Text => ({
  subject: 'A member came into the console by a recovery code',
  account: nameInMail(joined.developerName, joined.developerId),
  text: `A person has used a recovery code of a member of an account of Behest, and may register another passkey for that member. If the member did not do it, suspend them, and look at their passkeys and at the audit log.

${partiesOf(joined)}`,
});

/** Mails the address of the account, if it is verified, and all its active owners, once the transaction has committed. */
export async function tellOwners(
  deps: MemberDeps,
  tx: Tx,
  { developerId }: Tenant,
  name: string,
  write: (joined: Joined) => Text,
): Promise<void> {
  if (!deps.mailer) return;
  const tenant = { developerId };
  const { email, emailVerified } = await lockOpenAccount(tx, tenant);
  const mail = write({ ...(await findBrand(tx, tenant)), developerId, name });
  const proved = emailVerified ? email : null;
  if (proved !== null) await afterCommit(tx, () => noticeQuietly(deps, tenant, { to: proved, ...mail }));
  for (const { role, status, email: to } of await listMemberRows(tx, tenant)) {
    // Nobody has proved the address of a member, so mails to it count against every account.
    if (role === 'owner' && status === 'active' && to !== null && to !== proved)
      await afterCommit(tx, () => mailQuietly(deps, tenant, { to, ...mail }));
  }
}
