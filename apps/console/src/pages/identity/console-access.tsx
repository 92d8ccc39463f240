import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { useRoleNeeded } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { Field, Tick } from './fields.tsx';
import { type Connection, entered } from './providers.ts';

const say = sayer('consoleAccess');

type Mappings = Connection['consoleGroupMappings'];

/** Whether this organisation's people come into the console, and as what. Only an owner says so. */
export function ConsoleAccess({ connection }: { readonly connection: Connection }) {
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const queries = useQueryClient();
  const role = useRoleNeeded('govern');
  const { developerId } = useSession().developer;
  const { id, groupAttribute, protocol } = connection;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const consoleGroupMappings = mappingsIn(entered(form, 'consoleGroupMappings') ?? '');
    const body = { consoleAccess: form.has('consoleAccess'), consoleGroupMappings };
    set({ isBusy: true });
    try {
      await api.PATCH('/v1/sso/connections/{id}', { params: { path: { id } }, body });
      announce(say('saved'));
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
      set({});
    } catch (error) {
      set({ error });
    }
  };
  return (
    <Panel title={say('title')}>
      <p>{say('text', { id: developerId })}</p>
      {groupAttribute === null && protocol !== 'ldap' && <p className="aside">{say('noGroups')}</p>}
      <Form className="form" onSubmit={(event) => void submit(event)}>
        <Tick name="consoleAccess" label={say('access')} isOn={connection.consoleAccess} />
        <Field
          name="consoleGroupMappings"
          label={say('mappings')}
          note={say('mappingsText')}
          value={textOf(connection.consoleGroupMappings)}
          placeholder="Platform = admin"
          isLong
        />
        {state.error !== undefined && <Problem error={state.error} />}
        <Button
          className="button strong"
          type="submit"
          isDisabled={role !== undefined}
          isPending={state.isBusy === true}
        >
          {say('save')} {role !== undefined && `(${role})`}
        </Button>
      </Form>
    </Panel>
  );
}

const textOf = (mappings: Mappings) =>
  Object.entries(mappings)
    .map(([group, role]) => `${group} = ${role}`)
    .join('\n');

/** One group a line. A name may hold `=`, so the last one counts. The service names a role that is none. */
function mappingsIn(text: string): NonNullable<Schemas['SsoConnectionChange']['consoleGroupMappings']> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf('=');
      const [group, role] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
      return [group.trim(), role.trim() as 'auditor'];
    }),
  );
}
