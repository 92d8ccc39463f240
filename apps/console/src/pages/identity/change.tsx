import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { useRoleNeeded } from '../../session/roles.ts';
import { Field, Tick } from './fields.tsx';
import { type Connection, entered, words } from './providers.ts';

const say = sayer('identity');

/** Who may sign in, and what they may give away by their groups. What is left as it was is not sent. */
export function Change({ connection }: { readonly connection: Connection }) {
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const queries = useQueryClient();
  const role = useRoleNeeded('configure');
  const { id, protocol } = connection;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = changeIn(connection, new FormData(event.currentTarget));
    if (Object.keys(body).length === 0) return announce(say('nothingChanged'));
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
    <Panel title={say('groupsTitle')}>
      <Form className="form" onSubmit={(event) => void submit(event)}>
        <Field name="name" label={say('name')} value={connection.name} isRequired />
        <Field
          name="domains"
          label={say('domains')}
          note={say('domainsText')}
          value={connection.domains.join(', ')}
        />
        <Field
          name="groupAttribute"
          label={say('groupAttribute')}
          note={say('groupAttributeText')}
          value={connection.groupAttribute ?? ''}
        />
        <Field
          name="groupMappings"
          label={say('groupMappings')}
          note={say('groupMappingsText')}
          value={textOf(connection.groupMappings)}
          placeholder="Finance = payments:read, payments:write"
          isLong
        />
        <Field
          name="defaultScopes"
          label={say('defaultScopes')}
          note={say('defaultScopesText')}
          value={connection.defaultScopes.join(', ')}
        />
        {protocol === 'oidc' && (
          <Field
            name="clientSecret"
            label={say('newClientSecret')}
            note={say('staysEmpty')}
            type="password"
          />
        )}
        {protocol === 'ldap' && (
          <Field
            name="ldapBindPassword"
            label={say('newPassword')}
            note={say('staysEmpty')}
            type="password"
          />
        )}
        <Tick name="jitProvisioning" label={say('jit')} isOn={connection.jitProvisioning} />
        <Tick name="scimManaged" label={say('scimManaged')} isOn={connection.scimManaged} />
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

const textOf = (mappings: Connection['groupMappings']) =>
  Object.entries(mappings)
    .map(([group, scopes]) => `${group} = ${scopes.join(', ')}`)
    .join('\n');

/** One group a line. A name may hold `=`, as those of a directory do, so the last one counts. */
const mappingsIn = (text: string): Record<string, string[]> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.lastIndexOf('=');
        return at < 0 ? [line.trim(), []] : [line.slice(0, at).trim(), words(line.slice(at + 1))];
      }),
  );

function changeIn(held: Connection, form: FormData): Schemas['SsoConnectionChange'] {
  const said: Schemas['SsoConnectionChange'] = {
    name: entered(form, 'name') ?? '',
    domains: words(entered(form, 'domains')),
    groupAttribute: entered(form, 'groupAttribute') ?? null,
    groupMappings: mappingsIn(entered(form, 'groupMappings') ?? ''),
    defaultScopes: words(entered(form, 'defaultScopes')),
    jitProvisioning: form.has('jitProvisioning'),
    scimManaged: form.has('scimManaged'),
  };
  const before = new Map(Object.entries(held));
  const changed = Object.entries(said).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name)),
  );
  const secrets = ['clientSecret', 'ldapBindPassword'].flatMap((name) => {
    const value = entered(form, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...changed, ...secrets]);
}
