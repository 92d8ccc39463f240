import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Page } from '../../parts/page.tsx';
import { Versions } from '../../parts/rules/versions.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Id, When } from '../../parts/text.tsx';
import { policyRoute } from '../routes.ts';
import { fieldsOf, textOf } from './draft.ts';
import { PolicyEditor } from './editor.tsx';
import { Effect } from './effect.tsx';
import { SAVED, useSavedPolicy, Warnings } from './warnings.tsx';

const say = sayer('policy');

export function Policy() {
  const { policyId } = policyRoute.useParams();
  const read = query.useQuery('get', '/v1/policies/{id}', { params: { path: { id: policyId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  return <Loaded key={policyId} policy={read.data} />;
}

function Loaded({ policy }: { readonly policy: Schemas['PolicyRecord'] }) {
  const { view, version } = policyRoute.useSearch();
  const [text, write] = useState(() => textOf(fieldsOf(policy)));
  const queries = useQueryClient();
  const versions = query.useQuery('get', '/v1/policies/{id}/versions', {
    params: { path: { id: policy.id } },
  });
  return (
    <Page
      trail={<Link to="/policies">{say('all')}</Link>}
      title={policy.name}
      lead={
        <>
          <Effect effect={policy.effect} /> <Id id={policy.id} /> {say('changed')}{' '}
          <When at={policy.updatedAt} />
        </>
      }
      actions={<Remove policy={policy} />}
    >
      <Warnings policyId={policy.id} />
      <PolicyEditor
        policy={policy}
        view={view}
        text={text}
        write={write}
        saved={(changed) => queries.setQueryData([SAVED, changed.id], changed)}
        isSaved={useSavedPolicy(policy.id)?.version === policy.version}
      />
      <Versions
        versions={versions.data?.versions.map(({ version: counted, createdAt, actor, policy: held }) => ({
          number: counted,
          title: say('version', { count: counted }),
          at: createdAt,
          actor,
          text: textOf(held),
        }))}
        error={versions.error}
        chosen={version}
        draft={text}
        take={write}
      />
    </Page>
  );
}

/** Without a denial more is allowed, and without a permission less is: the question says which. */
function Remove({ policy: { id, name, effect } }: { readonly policy: Schemas['PolicyRecord'] }) {
  const [isAsking, ask] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <>
      <AllowedButton needs="configure" onPress={() => ask(true)}>
        {say('delete')}
      </AllowedButton>
      <Confirm
        isOpen={isAsking}
        close={() => ask(false)}
        title={say('deleteTitle', { name })}
        action={say('deleteAction')}
        run={async () => {
          await api.DELETE('/v1/policies/{id}', { params: { path: { id } } });
          await navigate({ to: '/policies', ignoreBlocker: true });
          await queries.invalidateQueries({ queryKey: ['get', '/v1/policies'] });
        }}
      >
        <p>{say(effect === 'allow' ? 'deleteAllow' : 'deleteDeny')}</p>
      </Confirm>
    </>
  );
}
