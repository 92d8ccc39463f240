import type { RefObject } from 'react';
import { Checkbox, CheckboxGroup, Dialog, Label, Popover } from 'react-aria-components';
import { sayer } from '../messages/language.ts';

const say = sayer('table');

interface ChooserProps {
  readonly triggerRef: RefObject<HTMLButtonElement | null>;
  readonly columns: readonly { readonly id: string; readonly header: string }[];
  readonly chosen: string[];
  readonly choose: (ids: readonly string[]) => void;
  readonly close: () => void;
}

/** Which columns of a table are shown. */
export default function ColumnsChooser({ triggerRef, columns, chosen, choose, close }: ChooserProps) {
  return (
    <Popover className="popover" placement="bottom end" triggerRef={triggerRef} isOpen onOpenChange={close}>
      <Dialog aria-label={say('columns')}>
        <CheckboxGroup value={chosen} onChange={choose}>
          <Label>{say('columns')}</Label>
          {columns.map(({ id, header }) => (
            <Checkbox key={id} value={id} className="check">
              <span className="box" aria-hidden="true" />
              {header}
            </Checkbox>
          ))}
        </CheckboxGroup>
      </Dialog>
    </Popover>
  );
}
