import { lazy, Suspense, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Scopes, Status, When } from '../../parts/text.tsx';
import { approversRoute } from '../routes.ts';

const say = sayer('approvers');

type Approver = Schemas['Approver'];

const columns: readonly Column<Approver>[] = [
  { id: 'name', header: say('name'), isFixed: true, cell: ({ displayName }) => <bdi>{displayName}</bdi> },
  { id: 'email', header: say('email'), cell: ({ email }) => <bdi>{email}</bdi> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'assurance', header: say('assurance'), cell: ({ assurance }) => say(assurance) },
  { id: 'groups', header: say('groups'), cell: ({ groups }) => <Scopes scopes={groups} /> },
  {
    id: 'connectors',
    header: say('connectors'),
    isExtra: true,
    cell: ({ connectors }) => (connectors === null ? say('allConnectors') : <Scopes scopes={connectors} />),
  },
  {
    id: 'absence',
    header: say('absence'),
    cell: ({ absence }) =>
      absence && (
        <span>
          {say('until')} <When at={absence.until} />
        </span>
      ),
  },
  {
    id: 'id',
    header: say('id'),
    isExtra: true,
    cell: ({ approverId }) => <Id id={approverId} of={say('id')} />,
  },
  { id: 'acts', header: say('actions'), isFixed: true, cell: (approver) => <Acts approver={approver} /> },
];

/** Who may approve the calls that a manifest leaves to people. */
export function Approvers() {
  const { cursor } = approversRoute.useSearch();
  const list = query.useQuery('get', '/v1/approvers', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  return (
    <Page title={say('title')} lead={say('lead')} actions={<Invite />}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="approvers"
          label={say('title')}
          rows={list.data.approvers}
          columns={columns}
          rowId={({ approverId }) => approverId}
          live={{ types: ['approver.*'], readAt: list.dataUpdatedAt, load: () => void list.refetch() }}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          empty={
            <Empty title={say('none')}>
              <p>{say('noneText')}</p>
            </Empty>
          }
        />
      )}
    </Page>
  );
}

function Acts({
  approver: { approverId: id, displayName: name, status, absence },
}: {
  readonly approver: Approver;
}) {
  if (status === 'removed') return null;
  const params = { path: { id } };
  const isSuspended = status === 'suspended';
  return (
    <span className="actions">
      {absence && (
        <Act
          text={say('back')}
          label={say('backOne', { name })}
          title={say('backOne', { name })}
          needs="people"
          isHarmless
          run={() => api.DELETE('/v1/approvers/{id}/absence', { params })}
        >
          <p>{say('backText')}</p>
        </Act>
      )}
      {(isSuspended || status === 'active') && (
        <Act
          text={say(isSuspended ? 'resume' : 'suspend')}
          label={say(isSuspended ? 'resumeOne' : 'suspendOne', { name })}
          title={say(isSuspended ? 'resumeOne' : 'suspendOne', { name })}
          needs="people"
          isHarmless={isSuspended}
          run={() =>
            api.PATCH('/v1/approvers/{id}', {
              params,
              body: { status: isSuspended ? 'active' : 'suspended' },
            })
          }
        >
          <p>{say(isSuspended ? 'resumeText' : 'suspendText')}</p>
        </Act>
      )}
      <Act
        text={say('remove')}
        label={say('removeOne', { name })}
        title={say('removeOne', { name })}
        needs="people"
        run={() => api.DELETE('/v1/approvers/{id}', { params })}
      >
        <p>{say('removeText')}</p>
      </Act>
    </span>
  );
}

const InviteDialog = lazy(() => import('./invite-dialog.tsx'));

function Invite() {
  const [isOpen, open] = useState(false);
  return (
    <>
      <AllowedButton needs="people" className="button strong" onPress={() => open(true)}>
        {say('invite')}
      </AllowedButton>
      {isOpen && (
        <Suspense>
          <InviteDialog close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}
