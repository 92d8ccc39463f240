import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { api, query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Loading, Problem } from '../../parts/states.tsx';
import { Field, Values } from '../identity/fields.tsx';
import { entered, present, words } from '../identity/providers.ts';

const say = sayer('connections');

/** Adds an upstream that many developers use. Then it has the address that is registered there. */
export default function ProviderDialog({ close }: { readonly close: () => void }) {
  const [callback, show] = useState<string>();
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const presets = query.useQuery('get', '/v1/vault/provider-presets');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const scopes = words(entered(form, 'scopes'));
    try {
      const { data } = await api.POST('/v1/vault/providers', {
        body: {
          service: entered(form, 'service') ?? '',
          ...present({
            preset: entered(form, 'preset'),
            issuer: entered(form, 'issuer'),
            clientId: entered(form, 'clientId'),
            clientSecret: entered(form, 'clientSecret'),
          }),
          ...(scopes.length > 0 && { scopes: { required: scopes } }),
        },
      });
      show(data?.redirectUri);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/vault/providers'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{callback === undefined ? say('add') : say('added')}</Heading>
          {presets.error && <Problem error={presets.error} />}
          {error !== undefined && <Problem error={error} />}
          {presets.isPending && <Loading />}
          {callback === undefined ? (
            <Form className="form" onSubmit={(event) => void submit(event)}>
              <label className="field">
                <span>{say('preset')}</span>
                <select name="preset">
                  {presets.data?.presets.map(({ preset, name }) => (
                    <option key={preset} value={preset}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
              <Field name="service" label={say('service')} note={say('serviceText')} isRequired />
              <Field name="clientId" label={say('clientId')} isRequired />
              <Field name="clientSecret" label={say('clientSecret')} type="password" />
              <Field name="issuer" label={say('issuer')} note={say('issuerText')} type="url" />
              <Field name="scopes" label={say('scopes')} note={say('scopesText')} />
              <div className="buttons">
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" type="submit">
                  {say('add')}
                </Button>
              </div>
            </Form>
          ) : (
            <>
              <p>{say('addedText')}</p>
              <Values values={[[say('callback'), callback]]} />
              <div className="buttons">
                <Button className="button strong" onPress={close}>
                  {say('done')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
