import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { sayer } from '../messages/language.ts';

const say = sayer('table');

/** The members that have a value. */
const present = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Changes members of the page's address. A changed filter drops the cursor, which belongs to the other list. */
export function useAddress() {
  const navigate = useNavigate();
  return (change: Readonly<Record<string, string | number | undefined>>) =>
    void navigate({
      to: '.',
      // The route of the page reads each member again, and drops what it does not know.
      search: (held: object) => present({ ...held, cursor: undefined, ...change }) as never,
    });
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  /** By value, with what the reader sees. */
  readonly choices: readonly (readonly [value: string, label: string])[];
}

/** One of a few values, or all of them. */
export function Choice({ name, label, value, choices }: ChoiceProps) {
  const change = useAddress();
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value ?? ''} onChange={({ target }) => change({ [name]: target.value || undefined })}>
        <option value="">{say('all')}</option>
        {choices.map(([each, shown]) => (
          <option key={each} value={each}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly placeholder?: string;
}

/** A text that goes into the address by Enter, or when the field is left. */
export function TextFilter({ name, label, value = '', placeholder }: TextFilterProps) {
  const change = useAddress();
  const [held, hold] = useState({ value, typed: value });
  if (held.value !== value) hold({ value, typed: value });
  const apply = () => held.typed.trim() !== value && change({ [name]: held.typed.trim() || undefined });
  return (
    <Form
      className="filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField value={held.typed} onChange={(typed) => hold({ value, typed })} onBlur={apply}>
        <Label>{label}</Label>
        <Input {...(placeholder !== undefined && { placeholder })} spellCheck="false" autoComplete="off" />
      </TextField>
    </Form>
  );
}

export function ClearFilters({ names }: { readonly names: readonly string[] }) {
  const change = useAddress();
  return (
    <Button
      className="quiet-button"
      onPress={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
    >
      {say('clear')}
    </Button>
  );
}
