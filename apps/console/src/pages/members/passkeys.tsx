import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/text.tsx';
import { registerPasskey } from '../../session/passkey.ts';
import { SESSION } from '../../session/session.ts';
import type { Shown } from './codes-dialog.tsx';

const say = sayer('members');
const RecoveryCodes = lazy(() => import('./codes-dialog.tsx'));

type Passkey = Schemas['MemberPasskey'];

const nameOf = ({ deviceName }: Passkey) => deviceName ?? say('aPasskey');

const columns: readonly Column<Passkey>[] = [
  { id: 'name', header: say('passkey'), isFixed: true, cell: (passkey) => <bdi>{nameOf(passkey)}</bdi> },
  { id: 'created', header: say('created'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { id: 'used', header: say('used'), cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  { id: 'remove', header: say('actions'), isFixed: true, cell: (passkey) => <Remove passkey={passkey} /> },
];

/** The reader's own passkeys. */
export function Passkeys() {
  const queries = useQueryClient();
  const { data, error, refetch } = query.useQuery('get', '/v1/console/passkeys');
  const [codes, show] = useState<Shown>();
  const add = useMutation({
    mutationFn: registerPasskey,
    onSuccess: async ({ session, codes: made }) => {
      if (made.length > 0) show(made);
      if (session) queries.setQueryData(SESSION, session);
      await refetch();
    },
  });
  return (
    <Panel
      title={say('passkeys')}
      actions={
        <Button className="button" isPending={add.isPending} onPress={() => add.mutate()}>
          {say('addPasskey')}
        </Button>
      }
    >
      {add.error && <Problem error={add.error} />}
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="passkeys"
          label={say('passkeys')}
          rows={data.passkeys}
          columns={columns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('noPasskey')}</p>}
        />
      )}
      {data && data.passkeys.length > 0 && (
        <p className="codes-left">
          {say('codesLeft', { count: data.recoveryCodesLeft })}{' '}
          <Button className="button small" onPress={() => show('asking')}>
            {say('makeCodes')}
          </Button>
        </p>
      )}
      {codes && (
        <Suspense>
          <RecoveryCodes codes={codes} show={show} />
        </Suspense>
      )}
    </Panel>
  );
}

function Remove({ passkey }: { readonly passkey: Passkey }) {
  const name = nameOf(passkey);
  return (
    <Act
      text={say('remove')}
      label={say('removeOne', { name })}
      title={say('removeOne', { name })}
      run={() => api.DELETE('/v1/console/passkeys/{id}', { params: { path: { id: passkey.id } } })}
    >
      <p>{say('removePasskeyText')}</p>
    </Act>
  );
}
