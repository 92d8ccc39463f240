import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { sayer } from '../messages/language.ts';

const say = sayer('table');

/** The members that have a value. */
const present = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/**
 * Changes members of the page's address. A changed filter drops the cursor, which belongs to the other list. Only another
 * page of a list begins at the top: what else changes, changes where the reader looks.
 */
export function useAddress() {
  const navigate = useNavigate();
  return (change: Readonly<Record<string, string | number | undefined>>) =>
    void navigate({
      to: '.',
      resetScroll: Object.hasOwn(change, 'cursor'),
      // The route of the page reads each member again, and drops what it does not know.
      search: (held: object) => present({ ...held, cursor: undefined, ...change }) as never,
    });
}

interface Listed {
  readonly data: unknown;
  readonly isPending: boolean;
}

/**
 * A list that shows the rows before until those of the next filter are there, also where that is refused, so that the field in
 * which somebody types stays. @param of what the rows belong to, where it is not the page
 */
export function useKept<List extends Listed>(list: List, of = ''): List {
  const [kept, keep] = useState({ of, data: list.data });
  if (list.data !== undefined && (list.data !== kept.data || of !== kept.of)) keep({ of, data: list.data });
  const data = list.data ?? (of === kept.of ? kept.data : undefined);
  return { ...list, data, isPending: list.isPending && data === undefined };
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  /** By value, with what the reader sees. */
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** The label of the option without a value, where that does not mean all. */
  readonly none?: string;
}

/** One of a few values, or all of them. */
export function Choice({ name, label, value, choices, none = say('all') }: ChoiceProps) {
  const change = useAddress();
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value ?? ''} onChange={({ target }) => change({ [name]: target.value || undefined })}>
        <option value="">{none}</option>
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

/** A list is asked again when the reader pauses, not at each letter. */
const PAUSE_MS = 400;

/** A text that goes into the address by Enter, after a pause of typing, or when the field is left. */
export function TextFilter({ name, label, value = '', placeholder }: TextFilterProps) {
  const change = useAddress();
  const [held, hold] = useState({ value, typed: value, asked: value });
  // What was asked for arrives while the reader goes on typing.
  if (held.value !== value) hold({ ...held, value, typed: value === held.asked ? held.typed : value });
  const apply = () => {
    const asked = held.typed.trim();
    if (asked === value) return;
    hold({ ...held, asked });
    change({ [name]: asked || undefined });
  };
  const applyLatest = useEffectEvent(apply);
  useEffect(() => {
    if (held.typed === held.value) return;
    const timer = setTimeout(applyLatest, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [held.typed, held.value]);
  return (
    <Form
      className="filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField value={held.typed} onChange={(typed) => hold({ ...held, typed })} onBlur={apply}>
        <Label>{label}</Label>
        <Input {...(placeholder !== undefined && { placeholder })} spellCheck="false" autoComplete="off" />
      </TextField>
    </Form>
  );
}

interface DaysFilterProps {
  /** Instants, so that a link shows the same rows in every zone: midnights of the reader, that of `until` of the day after. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** The first and the last day of a list, in the address as `since` and `until`. */
export function DaysFilter({ since, until }: DaysFilterProps) {
  const change = useAddress();
  return (
    <>
      <DayField
        label={say('since')}
        day={dayOf(since, 0)}
        apply={(day) => {
          const at = midnightOf(day, 0);
          change({ since: at, ...(at && until && at >= until && { until: undefined }) });
        }}
      />
      <DayField
        label={say('until')}
        day={dayOf(until, 1)}
        apply={(day) => {
          const at = midnightOf(day, 1);
          change({ until: at, ...(at && since && since >= at && { since: undefined }) });
        }}
      />
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  /** As a field of the browser has it. */
  readonly day: string;
  readonly apply: (day: string) => void;
}

/** A day counts as soon as it is whole: while its year is typed, it is one of long ago. */
function DayField({ label, day, apply }: DayFieldProps) {
  const [held, hold] = useState({ day, typed: day });
  if (held.day !== day) hold({ day, typed: day });
  return (
    <label className="filter">
      <span>{label}</span>
      <input
        type="date"
        value={held.typed}
        onChange={({ target: { value } }) => {
          hold({ day, typed: value });
          if (value === '' || value >= '2000') apply(value);
        }}
      />
    </label>
  );
}

function midnightOf(day: string, daysLater: number): string | undefined {
  if (day === '') return undefined;
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}

function dayOf(midnight: string | undefined, daysLater: number): string {
  if (midnight === undefined) return '';
  const at = new Date(midnight);
  at.setDate(at.getDate() - daysLater);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
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
