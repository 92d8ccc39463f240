import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Code } from '../../parts/code.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, When } from '../../parts/text.tsx';
import { manifestsRoute } from '../routes.ts';

const say = sayer('manifests');

type Manifest = Schemas['ManifestPage']['manifests'][number];

const columns: readonly Column<Manifest>[] = [
  { id: 'connector', header: say('connector'), cell: ({ connector }) => connector, isFixed: true },
  { id: 'version', header: say('version'), cell: ({ version }) => version },
  { id: 'sha256', header: say('sha256'), cell: ({ sha256 }) => <Id id={sha256} of="SHA-256" /> },
  { id: 'changed', header: say('changed'), cell: ({ updatedAt }) => <When at={updatedAt} /> },
];

export function Manifests() {
  const { cursor } = manifestsRoute.useSearch();
  const list = query.useQuery('get', '/v1/manifests', {
    params: { query: { limit: 100, ...(cursor && { cursor }) } },
  });
  return (
    <Page title={say('title')} lead={say('lead')}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="manifests"
          label={say('title')}
          rows={list.data.manifests}
          columns={columns}
          rowId={({ connector }) => connector}
          link={({ connector }) => ({ to: '/manifests/$connector', params: { connector } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={<Write />}
          empty={
            <Empty title={say('none')}>
              <p>{say('noneText')}</p>
              <Code
                label={say('register')}
                text={`curl -X PUT ${location.origin}/v1/manifests/acme_pay \\\n  -H "Authorization: Bearer $BEHEST_API_KEY" \\\n  -H 'Content-Type: application/json' --data @acme_pay.json`}
              />
            </Empty>
          }
        />
      )}
    </Page>
  );
}

/** Opens the page of a connector, which has a draft where there is no manifest. */
function Write() {
  const navigate = useNavigate();
  const [name, type] = useState('');
  const connector = name.trim();
  const isName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(connector);
  return (
    <Form
      className="filter one-line"
      onSubmit={(event) => {
        event.preventDefault();
        if (isName) void navigate({ to: '/manifests/$connector', params: { connector } });
      }}
    >
      <TextField value={name} onChange={type} isInvalid={connector !== '' && !isName}>
        <Label>{connector === '' || isName ? say('name') : say('nameForm')}</Label>
        <Input placeholder="acme_pay" spellCheck="false" autoComplete="off" />
      </TextField>
      <Button className="button" type="submit" isDisabled={!isName}>
        {say('write')}
      </Button>
    </Form>
  );
}
