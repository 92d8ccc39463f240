import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { useSession } from '../../session/session.ts';
import { Change } from './change.tsx';
import { Passkeys } from './passkeys.tsx';
import { type Member, rolesOf } from './rights.ts';
import { Sessions } from './sessions.tsx';

const say = sayer('members');

const columns: readonly Column<Member>[] = [
  { id: 'name', header: say('name'), isFixed: true, cell: (member) => <Name member={member} /> },
  { id: 'email', header: say('email'), cell: ({ email }) => <bdi>{email ?? say('noEmail')}</bdi> },
  { id: 'role', header: say('role'), cell: ({ role }) => say(role) },
  {
    id: 'identity',
    header: say('signsIn'),
    cell: ({ identity }) => (identity === 'passkey' ? say('by-passkey') : say('by-sso')),
  },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'seen', header: say('seen'), cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
  {
    id: 'id',
    header: say('id'),
    isExtra: true,
    cell: ({ memberId }) => <Id id={memberId} of={say('id')} />,
  },
  { id: 'change', header: say('actions'), isFixed: true, cell: (member) => <Change member={member} /> },
];

/** Who works in the console, and what the reader has in it: their passkeys and open sessions. */
export function Members() {
  const mayInvite = rolesOf(useSession()).length > 0;
  const list = query.useQuery('get', '/v1/members');
  return (
    <Page title={say('title')} lead={say('lead')} actions={mayInvite && <Invite />}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="members"
          label={say('title')}
          rows={list.data.members}
          columns={columns}
          rowId={({ memberId }) => memberId}
          empty={<Empty title={say('nobody')}>{null}</Empty>}
        />
      )}
      {!list.isPending && ( // they would move when the members come
        <>
          {mayInvite && (
            <Suspense fallback={<Loading />}>
              <Invitations />
            </Suspense>
          )}
          <Passkeys />
          <Sessions members={list.data?.members ?? []} />
        </>
      )}
    </Page>
  );
}

function Name({ member: { displayName, memberId } }: { readonly member: Member }) {
  const { member } = useSession();
  return (
    <>
      <bdi>{displayName}</bdi> {memberId === member.memberId && <span className="aside">{say('you')}</span>}
    </>
  );
}

const Invitations = lazy(() => import('./invitations.tsx'));
const InviteDialog = lazy(() => import('./invite-dialog.tsx'));

function Invite() {
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button className="button strong" onPress={() => open(true)}>
        {say('invite')}
      </Button>
      {isOpen && (
        <Suspense>
          <InviteDialog close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}
