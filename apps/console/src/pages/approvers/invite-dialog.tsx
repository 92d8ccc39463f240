import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  Button,
  Dialog,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  Text,
  TextField,
} from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Problem } from '../../parts/states.tsx';
import { Copy } from '../../parts/text.tsx';

const say = sayer('approvers');

/** Invites somebody to approve. A link that was not mailed is shown once, in this dialog. */
export default function InviteDialog({ close }: { readonly close: () => void }) {
  const [made, show] = useState<Schemas['ApproverInvitation']>();
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name) ?? '').trim();
    const groups = given('groups')
      .split(/[\s,]+/)
      .filter(Boolean);
    try {
      const body = { email: given('email'), displayName: given('name'), groups };
      show((await api.POST('/v1/approvers', { body })).data);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/approvers'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">
            {say(made === undefined ? 'invite' : made.link === null ? 'mailed' : 'made')}
          </Heading>
          {error !== undefined && <Problem error={error} />}
          {made === undefined ? (
            <Form className="form" onSubmit={(event) => void submit(event)}>
              <TextField name="email" type="email" isRequired maxLength={254} autoFocus>
                <Label>{say('email')}</Label>
                <Input />
              </TextField>
              <TextField name="name" isRequired maxLength={100}>
                <Label>{say('name')}</Label>
                <Input />
              </TextField>
              <TextField name="groups">
                <Label>{say('groups')}</Label>
                <Input placeholder="finance" spellCheck="false" />
                <Text slot="description" className="aside">
                  {say('groupsText')}
                </Text>
              </TextField>
              <div className="buttons">
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" type="submit">
                  {say('invite')}
                </Button>
              </div>
            </Form>
          ) : (
            <>
              <p>{say(made.link === null ? 'mailedText' : 'madeText')}</p>
              {made.link !== null && (
                <p className="secret">
                  <code>{made.link}</code> <Copy text={made.link} of={say('link')} />
                </p>
              )}
              <div className="buttons">
                <Button className="button strong" onPress={close}>
                  {say(made.link === null ? 'close' : 'saved')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
