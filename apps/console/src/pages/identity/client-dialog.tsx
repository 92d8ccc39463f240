import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { useAgentNames } from '../../parts/agents.tsx';
import { Problem } from '../../parts/states.tsx';
import { Field } from './fields.tsx';
import { entered, words } from './providers.ts';

const say = sayer('assertions');

interface AddClientProps {
  readonly connectionId: string;
  readonly close: () => void;
}

/** Lists a client for which the provider may speak. */
export default function AddClient({ connectionId, close }: AddClientProps) {
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const agents = useAgentNames();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      await api.POST('/v1/sso/connections/{id}/clients', {
        params: { path: { id: connectionId } },
        body: {
          clientId: entered(form, 'clientId') ?? '',
          scopes: words(entered(form, 'scopes')),
          defaultScopes: words(entered(form, 'defaultScopes')),
          tokenTtlSeconds: Number(form.get('tokenTtlSeconds')),
        } as Schemas['NewIdJagClientRule'], // the service has defaults for the others
      });
      await queries.invalidateQueries({ queryKey: ['get', '/v1/sso/connections/{id}/clients'] });
      close();
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{say('add')}</Heading>
          {error !== undefined && <Problem error={error} />}
          <Form className="form" onSubmit={(event) => void submit(event)}>
            <label className="field">
              <span>{say('client')}</span>
              <select name="clientId" required>
                {[...agents].map(([id, name]) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <Field name="scopes" label={say('scopes')} note={say('scopesText')} isRequired />
            <Field name="defaultScopes" label={say('defaultScopes')} note={say('defaultScopesText')} />
            <label className="field">
              <span>{say('tokenLasts')}</span>
              <select name="tokenTtlSeconds" defaultValue="900">
                {[300, 900, 3600].map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {say('seconds', { count: seconds })}
                  </option>
                ))}
              </select>
            </label>
            <div className="buttons">
              <Button className="button" onPress={close}>
                {say('cancel')}
              </Button>
              <Button className="button strong" type="submit">
                {say('add')}
              </Button>
            </div>
          </Form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
