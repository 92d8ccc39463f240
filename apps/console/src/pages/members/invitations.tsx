import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/text.tsx';
import { useSession } from '../../session/session.ts';
import { rolesOf } from './rights.ts';

const say = sayer('members');

type Invitation = Schemas['Invitation'];

const columns: readonly Column<Invitation>[] = [
  { id: 'email', header: say('email'), isFixed: true, cell: ({ email }) => <bdi>{email}</bdi> },
  { id: 'role', header: say('role'), cell: ({ role }) => say(role) },
  { id: 'expires', header: say('expires'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { id: 'end', header: say('actions'), isFixed: true, cell: (invited) => <Actions invited={invited} /> },
];

/** Who was invited and has not come yet. */
export default function Invitations() {
  const { data, error, refetch } = query.useQuery('get', '/v1/members/invitations');
  return (
    <Panel title={say('invitations')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="invitations"
          label={say('invitations')}
          rows={data.invitations}
          columns={columns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('noInvitation')}</p>}
        />
      )}
    </Panel>
  );
}

const InviteDialog = lazy(() => import('./invite-dialog.tsx'));

function Actions({ invited }: { readonly invited: Invitation }) {
  const [isOpen, open] = useState(false);
  const { id, email, role } = invited;
  if (!rolesOf(useSession()).includes(role)) return null;
  return (
    <span className="actions">
      <Button className="button small" aria-label={say('resendOne', { email })} onPress={() => open(true)}>
        {say('resend')}
      </Button>
      {isOpen && (
        <Suspense>
          <InviteDialog again={invited} close={() => open(false)} />
        </Suspense>
      )}
      <Act
        text={say('withdraw')}
        label={say('withdrawOne', { email })}
        title={say('withdrawOne', { email })}
        run={() => api.DELETE('/v1/members/invitations/{id}', { params: { path: { id } } })}
      >
        <p>{say('withdrawText')}</p>
      </Act>
    </span>
  );
}
