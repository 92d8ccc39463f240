import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';
import { Field, Tick } from './fields.tsx';
import type { ByLinkProps } from './links.tsx';
import { entered } from './providers.ts';

const say = sayer('identity');

const DAY = 86_400;

/** The questions of `ByLink`, and the link, which is shown once. */
export default function LinkDialog({
  connectionId,
  name,
  close,
}: ByLinkProps & { readonly close: () => void }) {
  const once = useOnce<string>();
  const url = once.made;
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    await once.run(async () => {
      const { data } = await api.POST('/v1/sso/setup-links', {
        body: {
          name: entered(form, 'name') ?? '',
          purposes: form.has('scim') ? ['sso', 'scim'] : ['sso'],
          ...(form.has('scim') && { acknowledge: 'all people of the account' }),
          ...(connectionId && { connectionId }),
          expiresIn: Number(form.get('days')) * DAY,
        },
      });
      void queries.invalidateQueries({ queryKey: ['get', '/v1/sso/setup-links'] });
      return data?.url;
    });
  };
  return (
    <OnceDialog title={url === undefined ? say('byLink') : say('linkMade')} once={once} close={close}>
      {url === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <p>{say('linkText')}</p>
          <Field
            name="name"
            label={say('organisation')}
            note={say('organisationText')}
            value={name ?? ''}
            isRequired
          />
          <label className="field">
            <span>{say('expires')}</span>
            <select name="days" defaultValue="7">
              {[1, 7, 30].map((days) => (
                <option key={days} value={days}>
                  {say('days', { count: days })}
                </option>
              ))}
            </select>
          </label>
          <Tick name="scim" label={say('alsoScim')} isOn={false} />
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" type="submit">
              {say('makeLink')}
            </Button>
          </div>
        </Form>
      ) : (
        <SecretOnce secret={url} of={say('setupLink')} text={say('linkOnce')} close={close} />
      )}
    </OnceDialog>
  );
}
