import { resourceBills } from '../limits/bills.ts';
import type { Access } from '../routes/declarations.ts';
import { approver } from './approver.ts';
import type { CallerKind } from './credentials.ts';
import { directory } from './directory.ts';
import { grant } from './grant.ts';
import { key } from './key.ts';
import { member } from './member.ts';
import { operator } from './operator.ts';
import { page } from './page.ts';
import { receiver } from './receiver.ts';
import { session } from './session.ts';

const anonymous: CallerKind = {
  async authenticate({ request, charge, limits }) {
    return {
      kind: 'none',
      async chargeResource() {
        await charge(resourceBills(request, limits));
      },
    };
  },
};

/** How the caller of a route is found, by the `access` that it declares. */
export const callerKinds: Readonly<Record<Access, CallerKind>> = {
  none: anonymous,
  developer: key,
  consent: page('consent'),
  connect: page('connect'),
  approver,
  console: member,
  session,
  grant,
  scim: directory,
  ssf: receiver,
  operator,
};
