import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Problem } from '../../parts/states.tsx';
import { Copy } from '../../parts/text.tsx';
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
  const [url, show] = useState<string>();
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      const { data } = await api.POST('/v1/sso/setup-links', {
        body: {
          name: entered(form, 'name') ?? '',
          purposes: form.has('scim') ? ['sso', 'scim'] : ['sso'],
          ...(form.has('scim') && { acknowledge: 'all people of the account' }),
          ...(connectionId && { connectionId }),
          expiresIn: Number(form.get('days')) * DAY,
        },
      });
      show(data?.url);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/sso/setup-links'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{url === undefined ? say('byLink') : say('linkMade')}</Heading>
          {error !== undefined && <Problem error={error} />}
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
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" type="submit">
                  {say('makeLink')}
                </Button>
              </div>
            </Form>
          ) : (
            <>
              <p>{say('linkOnce')}</p>
              <p className="secret">
                <code>{url}</code> <Copy text={url} of={say('setupLink')} />
              </p>
              <div className="buttons">
                <Button className="button strong" onPress={close}>
                  {say('copiedIt')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
