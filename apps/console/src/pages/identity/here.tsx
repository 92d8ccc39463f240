import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Problem } from '../../parts/states.tsx';
import { Field, Tick } from './fields.tsx';
import { acsUrl, type Connection, entered, entityId, type Protocol, present, words } from './providers.ts';

const say = sayer('identity');

interface HereProps {
  readonly protocol: Protocol;
  /** The provider in the reader's words, which names the connection until they write another name. */
  readonly label: string;
  /** What was entered before and is mended. Its secret is not shown, and stays where none is entered. */
  readonly held?: Connection;
  readonly made: (connectionId: string) => void;
}

/** What the provider gave is entered here. The connection is on trial until it is activated. */
export function Here({ protocol, label, held, made }: HereProps) {
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    set({ isBusy: true });
    try {
      const data = held ? await changed(held, form) : await added(protocol, form);
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
      if (data) made(data.id);
    } catch (error) {
      set({ error });
    }
  };
  return (
    <Form className="form" onSubmit={(event) => void submit(event)}>
      <Field name="name" label={say('name')} value={held?.name ?? label} isRequired />
      <OfProtocol protocol={protocol} {...(held && { held })} />
      <Field
        name="domains"
        label={say('domains')}
        note={say('domainsText')}
        value={held?.domains.join(', ') ?? ''}
        placeholder="acme.example"
      />
      <Field
        name="groupAttribute"
        label={say('groupAttribute')}
        note={say('groupAttributeText')}
        value={held ? (held.groupAttribute ?? '') : protocol === 'ldap' ? '' : 'groups'}
      />
      <Tick name="jitProvisioning" label={say('jit')} isOn={held?.jitProvisioning ?? true} />
      {state.error !== undefined && <Problem error={state.error} />}
      <Button className="button strong" type="submit" isPending={state.isBusy === true}>
        {say('saveAndTest')}
      </Button>
    </Form>
  );
}

interface OfProtocolProps {
  readonly protocol: Protocol;
  readonly held?: Connection;
}

function OfProtocol({ protocol, held }: OfProtocolProps) {
  const secret = {
    type: 'password',
    ...(held ? { note: say('staysEmpty') } : { isRequired: true }),
  } as const;
  if (protocol === 'oidc')
    return (
      <>
        <Field
          name="issuerUrl"
          label={say('issuerUrl')}
          value={held?.issuerUrl ?? ''}
          type="url"
          isRequired
        />
        <Field name="clientId" label={say('clientId')} value={held?.clientId ?? ''} isRequired />
        <Field name="clientSecret" label={say('clientSecret')} {...secret} />
      </>
    );
  if (protocol === 'saml')
    return (
      <>
        <Field name="metadataUrl" label={say('metadataUrl')} type="url" />
        <Field
          name="metadata"
          label={say('metadata')}
          note={held ? say('staysEmpty') : say('metadataText')}
          isLong
        />
      </>
    );
  return (
    <>
      {LDAP.map((name) => (
        <Field
          key={name}
          name={name}
          label={say(name)}
          value={held?.[name] ?? ACTIVE_DIRECTORY[name] ?? ''}
          placeholder={EXAMPLES[name] ?? ''}
          isRequired={name !== 'ldapGroupSearchBase'}
          {...(name === 'ldapSearchFilter' && { note: say('ldapSearchFilterText') })}
        />
      ))}
      <Field name="ldapBindPassword" label={say('ldapBindPassword')} {...secret} />
    </>
  );
}

type New = Schemas['NewSsoConnection'];

const OIDC = ['issuerUrl', 'clientId', 'clientSecret'] as const;
const LDAP = [
  'ldapUrl',
  'ldapBindDn',
  'ldapSearchBase',
  'ldapSearchFilter',
  'ldapGroupSearchBase',
  'ldapGroupSearchFilter',
] as const;

type OfLdap = Readonly<Partial<Record<(typeof LDAP)[number], string>>>;

/** Accounts that are disabled do not sign in, and groups in groups count. */
const ACTIVE_DIRECTORY: OfLdap = {
  ldapSearchFilter:
    '(&(objectClass=user)(sAMAccountName={{username}})(!(userAccountControl:1.2.840.113556.1.4.803:=2)))',
  ldapGroupSearchFilter: '(member:1.2.840.113556.1.4.1941:={{dn}})',
};

const EXAMPLES: OfLdap = {
  ldapUrl: 'ldaps://dc1.acme.example',
  ldapBindDn: 'CN=behest,OU=Services,DC=acme,DC=example',
  ldapSearchBase: 'OU=People,DC=acme,DC=example',
  ldapGroupSearchBase: 'OU=Groups,DC=acme,DC=example',
};

const NAMES: Readonly<Record<Protocol, readonly string[]>> = {
  oidc: OIDC,
  saml: [],
  ldap: [...LDAP, 'ldapBindPassword'],
};

async function added(protocol: Protocol, form: FormData) {
  const body: New = {
    ...membersIn(protocol, form),
    name: entered(form, 'name') ?? '',
    protocol,
    status: 'testing',
    ...(protocol === 'saml' && { ...(await samlOf(form)), spEntityId: entityId(), spAcsUrl: acsUrl() }),
  };
  return (await api.POST('/v1/sso/connections', { body })).data;
}

async function changed({ id, protocol }: Connection, form: FormData) {
  const isRead = entered(form, 'metadata') ?? entered(form, 'metadataUrl');
  const saml = protocol === 'saml' && isRead !== undefined ? await samlOf(form) : {};
  const body = { ...membersIn(protocol, form), name: entered(form, 'name') ?? '', ...saml };
  return (await api.PATCH('/v1/sso/connections/{id}', { params: { path: { id } }, body })).data;
}

const membersIn = (protocol: Protocol, form: FormData) => ({
  domains: words(entered(form, 'domains')),
  jitProvisioning: form.has('jitProvisioning'),
  groupAttribute: entered(form, 'groupAttribute') ?? null,
  ...present(Object.fromEntries(NAMES[protocol].map((name) => [name, entered(form, name)]))),
});

async function samlOf(form: FormData) {
  const body = present({ metadata: entered(form, 'metadata'), metadataUrl: entered(form, 'metadataUrl') });
  const { data } = await api.POST('/v1/sso/metadata', { body });
  return { ...data };
}
