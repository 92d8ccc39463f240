import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { api } from '../api/client.ts';
import { sayer } from '../messages/language.ts';
import { Problem } from '../parts/states.tsx';
import { Codes } from './codes.tsx';
import { invitation } from './link.ts';
import { join } from './passkey.ts';
import { SESSION } from './session.ts';

const say = sayer('join');

/** Where the link of an invitation leads: a name and a passkey make the person a member. */
export function Join() {
  const queries = useQueryClient();
  const router = useRouter();
  const [error, fail] = useState<unknown>();
  const [made, show] = useState<Awaited<ReturnType<typeof join>>>();
  const link = invitation();
  const { data: invited, error: refusal } = useQuery({
    queryKey: ['invitation'],
    queryFn: async () =>
      (await api.POST('/v1/console/join/options', { body: { invite: link ?? '' } })).data ?? null,
    enabled: link !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const displayName = String(new FormData(event.currentTarget).get('displayName')).trim();
    if (!invited || link === undefined) return;
    try {
      show(await join(link, invited, displayName));
    } catch (failure) {
      fail(failure);
    }
  };
  const enter = async () => {
    queries.setQueryData(SESSION, made?.session);
    await router.navigate({ to: '/' });
  };
  if (made)
    return (
      <main className="alone">
        <p className="brand">Behest</p>
        <h1>{say('codes')}</h1>
        <Codes codes={made.codes} close={() => void enter()} />
      </main>
    );
  return (
    <main className="alone">
      <p className="brand">Behest</p>
      <h1>{say('title')}</h1>
      {link === undefined && <p className="lead">{say('noLink')}</p>}
      {invited && (
        <p className="lead">
          {say('text', { account: invited.developerName, role: invited.role, email: invited.email })}
        </p>
      )}
      {(error ?? refusal) != null && <Problem error={error ?? refusal} title={say('failed')} />}
      {invited && (
        <Form className="panel form" onSubmit={(event) => void submit(event)}>
          <TextField name="displayName" isRequired maxLength={100} autoComplete="name">
            <Label>{say('name')}</Label>
            <Input />
          </TextField>
          <Button type="submit" className="button strong">
            {say('join')}
          </Button>
        </Form>
      )}
    </main>
  );
}
