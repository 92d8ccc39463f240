import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Problem } from '../../parts/states.tsx';
import { Codes } from '../../session/codes.tsx';

const say = sayer('members');

/** The codes, or the question that comes before others are made. */
export type Shown = readonly string[] | 'asking';

interface RecoveryCodesProps {
  readonly codes: Shown;
  readonly show: (codes: Shown | undefined) => void;
}

/** Makes other recovery codes, and shows them once. */
export default function RecoveryCodes({ codes, show }: RecoveryCodesProps) {
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => api.POST('/v1/console/recovery-codes', { body: {} }),
    onSuccess: async ({ data }) => {
      show(data?.recoveryCodes);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/console/passkeys'] });
    },
  });
  const isAsking = codes === 'asking';
  const close = () => show(undefined);
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isKeyboardDismissDisabled={!isAsking || make.isPending} // codes are shown once
      onOpenChange={close}
    >
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{isAsking ? say('makeCodes') : say('codes')}</Heading>
          {isAsking ? (
            <>
              <p>{say('makeCodesText')}</p>
              {make.error && <Problem error={make.error} />}
              <div className="buttons">
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" isDisabled={make.isPending} onPress={() => make.mutate()}>
                  {say('makeCodes')}
                </Button>
              </div>
            </>
          ) : (
            <Codes codes={codes} close={close} />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
