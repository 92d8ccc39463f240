import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sayer } from '../../messages/language.ts';
import { Page } from '../../parts/page.tsx';
import { newPolicyRoute } from '../routes.ts';
import { TEMPLATES, textOf } from './draft.ts';
import { PolicyEditor } from './editor.tsx';
import { SAVED } from './warnings.tsx';

const say = sayer('policy');

export function NewPolicy() {
  const { template, view } = newPolicyRoute.useSearch();
  const [text, write] = useState(() => textOf(TEMPLATES[template ?? 'blank']));
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Page trail={<Link to="/policies">{say('all')}</Link>} title={say('new')} lead={say('newLead')}>
      <PolicyEditor
        view={view}
        text={text}
        write={write}
        saved={(policy) => {
          queries.setQueryData([SAVED, policy.id], policy);
          void navigate({
            to: '/policies/$policyId',
            params: { policyId: policy.id },
            ignoreBlocker: true,
          });
        }}
      />
    </Page>
  );
}
