import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';

const say = sayer('webhooks');

interface EndpointDialogProps {
  /** The webhook that is changed. Without one, a webhook is made, and its secret shown once. */
  readonly held?: Schemas['Webhook'];
  readonly close: () => void;
}

/** Where events go, which, and in what form. */
export default function EndpointDialog({ held, close }: EndpointDialogProps) {
  const once = useOnce<string>();
  const secret = once.made;
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = inForm(new FormData(event.currentTarget));
    await once.run(async () => {
      const made = held ? undefined : (await api.POST('/v1/webhooks', { body })).data;
      if (held) await change(held, body);
      void queries.invalidateQueries({ predicate: ({ queryKey: [, path] }) => isOfWebhooks(path) });
      if (held) close();
      return made?.secret;
    });
  };
  return (
    <OnceDialog
      title={secret === undefined ? say(held ? 'changeTitle' : 'add') : say('made')}
      once={once}
      close={close}
    >
      {secret === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <TextField
            name="url"
            type="url"
            isRequired
            maxLength={2048}
            autoFocus
            defaultValue={held?.url ?? ''}
          >
            <Label>{say('url')}</Label>
            <Input placeholder="https://hooks.example.com/behest" />
            <Text slot="description" className="aside">
              {say('urlText')}
            </Text>
          </TextField>
          <TextField name="events" isRequired defaultValue={held?.events.join('\n') ?? '*'}>
            <Label>{say('events')}</Label>
            <TextArea rows={3} spellCheck="false" />
            <Text slot="description" className="aside">
              {say('eventsText')}
            </Text>
          </TextField>
          <TextField name="description" maxLength={200} defaultValue={held?.description ?? ''}>
            <Label>{say('description')}</Label>
            <Input />
          </TextField>
          <label className="field">
            <span>{say('format')}</span>
            <select name="format" defaultValue={held?.format ?? 'envelope'}>
              <option value="envelope">{say('envelope')}</option>
              <option value="ocsf">{say('ocsf')}</option>
            </select>
          </label>
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" type="submit">
              {say(held ? 'save' : 'add')}
            </Button>
          </div>
        </Form>
      ) : (
        <SecretOnce secret={secret} of={say('secret')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}

const inForm = (form: FormData): Schemas['NewWebhook'] => ({
  url: String(form.get('url')).trim(),
  events: String(form.get('events'))
    .split(/[\s,]+/)
    .filter(Boolean),
  description: String(form.get('description')),
  format: form.get('format') === 'ocsf' ? 'ocsf' : 'envelope',
});

/** A new address asks for the passkey, so it is sent only when it is new. */
const change = (held: Schemas['Webhook'], { url, ...others }: Schemas['NewWebhook']) =>
  api.PATCH('/v1/webhooks/{id}', {
    params: { path: { id: held.id } },
    body: url === held.url ? others : { ...others, url },
  });

const isOfWebhooks = (path: unknown) => typeof path === 'string' && path.startsWith('/v1/webhooks');
