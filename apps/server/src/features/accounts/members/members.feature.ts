import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { MemberRole } from '../../../platform/capabilities.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { webauthnRelyingParty } from '../../people/passkeys/index.ts';
import { eraseMembers } from './members.repo.ts';
import { memberRoutes } from './members.routes.ts';
import { MAX_MEMBERS, MAX_MEMBERS_RECOVERED, MAX_SESSIONS, RECOVERY_CODES } from './members.rules.ts';
import { consolePasskeyRoutes } from './passkeys.routes.ts';
import { consoleSessionRoutes, recoveryRates } from './session.routes.ts';
import { authenticateMember, CSRF_KEY_USE } from './session.ts';

const tables: TableUse = {
  owns: {
    members: { most: MAX_MEMBERS_RECOVERED },
    member_invitations: { most: MAX_MEMBERS },
    console_sessions: { of: 'members', each: MAX_SESSIONS },
    member_recovery_codes: { of: 'members', each: RECOVERY_CODES },
  },
  reads: ['developers', 'api_keys', 'passkeys', 'sso_sessions', 'sso_connections'],
  writes: [],
};

const settings = {
  CONSOLE_IDLE_SECONDS: defaulted(
    integer(300, 86_400),
    '3600',
    'How long a session of the console may be unused before it ends.',
  ),
  CONSOLE_SESSION_SECONDS: defaulted(
    integer(900, 86_400),
    '43200',
    'How long a session of the console lasts at most, in use or not.',
  ),
  CONSOLE_STEP_UP_SECONDS: defaulted(
    integer(60, 3600),
    '600',
    'How long after the last use of their passkey a member may still do in the console what asks for one.',
  ),
};

interface OfMember {
  readonly memberId: string;
}

interface OfInvitation {
  readonly invitationId: string;
  readonly role: MemberRole;
}

interface OfPasskey extends OfMember {
  readonly credentialId: string;
}

const acts = {
  'member.joined': act<OfMember & { readonly role: MemberRole; readonly openedBy: string }>(),
  'member.invited': act<OfInvitation>(),
  'member.uninvited': act<OfInvitation>(),
  'member.updated': act<
    OfMember & {
      readonly changed: readonly string[];
      readonly role: MemberRole;
      readonly status: 'active' | 'suspended';
    }
  >(),
  /** The operator made a link by which a person becomes an owner. */
  'member.recovery_requested': act<{ readonly expiresAt: string }>(),
  /** A member who had lost their passkeys came in by a recovery code. */
  'console.recovery_used': act<OfMember & { readonly codesLeft: number }>(),
  'member.removed': act<OfMember & { readonly role: MemberRole }>(),
};

const entries = {
  'console.signed_in': entryOnly(),
  'console.session_ended': entryOnly(),
  'console.stepped_up': entryOnly(),
  'console.sign_in_failed': entryOnly(),
  'member.passkey_added': entryOnly(),
  'member.recovery_codes_made': entryOnly(),
  'member.passkey_removed': entryOnly(),
  'member.clone_suspected': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'console.signed_in': OfMember & { readonly sessionId: string; readonly openedBy: string };
    'console.session_ended': OfMember & { readonly reason: 'signed_out' | 'revoked' };
    'console.stepped_up': OfPasskey;
    'member.passkey_added': OfPasskey;
    'member.recovery_codes_made': OfMember;
    'member.passkey_removed': OfPasskey;
    'member.clone_suspected': OfPasskey;
  }
  interface Attempts {
    'console.sign_in_failed': true;
  }
}

export const members = defineFeature({
  name: 'members',
  tags: {
    console: 'Sessions of the console, in which members act for the account without an API key.',
    members: 'The people who use the console, and their roles.',
  },
  tables,
  rates: recoveryRates,
  acts: { ...acts, ...entries },
  attempts: ['console.sign_in_failed'],
  settings,
  keyUses: [CSRF_KEY_USE],
  listens: [on(tenantErased, eraseMembers)],
  open(context, chosen) {
    const deps = {
      ...context,
      idleSeconds: chosen.CONSOLE_IDLE_SECONDS,
      sessionSeconds: chosen.CONSOLE_SESSION_SECONDS,
      stepUpSeconds: chosen.CONSOLE_STEP_UP_SECONDS,
      relyingParty: context.take(webauthnRelyingParty),
      onMailFailed: () => context.metrics.counter('mail_failed').inc(),
    };
    return {
      async routes(app) {
        await consoleSessionRoutes(app, deps);
        await consolePasskeyRoutes(app, deps);
        await memberRoutes(app, deps);
      },
      credentials: { console: authenticateMember(deps) },
    };
  },
});
