import type { ReactNode } from 'react';
import { Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { Copy } from '../../parts/text.tsx';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly type?: 'text' | 'url' | 'password';
  readonly isRequired?: boolean;
  readonly isLong?: boolean;
}

/** A field of a form, with what goes into it. */
export const Field = ({
  name,
  label,
  note,
  value,
  placeholder = '',
  type,
  isRequired,
  isLong,
}: FieldProps) => (
  <TextField
    name={name}
    defaultValue={value ?? ''}
    autoComplete="off"
    {...(type && { type })}
    {...(isRequired && { isRequired })}
  >
    <Label>{label}</Label>
    {isLong ? (
      <TextArea rows={4} spellCheck="false" placeholder={placeholder} />
    ) : (
      <Input spellCheck="false" placeholder={placeholder} />
    )}
    {note !== undefined && (
      <Text slot="description" className="aside">
        {note}
      </Text>
    )}
  </TextField>
);

interface TickProps {
  readonly name: string;
  readonly label: string;
  readonly isOn: boolean;
}

export const Tick = ({ name, label, isOn }: TickProps) => (
  <label className="tick">
    <input type="checkbox" name={name} defaultChecked={isOn} /> <span>{label}</span>
  </label>
);

/** Values that are carried over to another program, each with its button. */
export const Values = ({
  values,
}: {
  readonly values: readonly (readonly [name: string, value: string])[];
}) => (
  <dl className="facts">
    {values.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <code>{value}</code> <Copy text={value} of={name} />
        </dd>
      </div>
    ))}
  </dl>
);

export const Steps = ({ steps }: { readonly steps: readonly ReactNode[] }) => (
  <ol className="instructions">
    {steps.map((step) => (
      <li key={String(step)}>{step}</li>
    ))}
  </ol>
);
