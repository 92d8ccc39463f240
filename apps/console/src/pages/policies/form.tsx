import { type ReactNode, useState } from 'react';
import { FieldError, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { newPolicy } from '../../api/policy.gen.ts';
import { sayer } from '../../messages/language.ts';
import type { Fault } from '../../parts/rules/json.ts';
import type { Draft, Field } from './draft.ts';

const say = sayer('policy');

interface FormProps {
  readonly draft: Draft;
  /** A field without a value is left out. */
  readonly change: (field: Field, value: unknown) => void;
  readonly faults: readonly Fault[];
}

interface FieldProps extends FormProps {
  readonly name: Field;
  readonly hint?: string;
}

/** Every field of a policy. What is empty limits nothing. */
export function PolicyForm(props: FormProps) {
  return (
    <div className="policy-form">
      <Group title={say('what')}>
        <Line {...props} name="name" />
        <Choice {...props} name="effect" choices={newPolicy.properties.effect.enum} />
        <Line {...props} name="priority" isNumber hint={say('priorityHint')} />
      </Group>
      <Group title={say('who')}>
        <Line {...props} name="agentId" list="policy-agents" />
        <Line {...props} name="principalId" />
        <Line {...props} name="delegationDepthMin" isNumber />
        <Line {...props} name="delegationDepthMax" isNumber />
        <Agents />
      </Group>
      <Group title={say('which')}>
        <Lines {...props} name="scopes" hint={say('scopesHint')} />
        <Lines {...props} name="purposes" hint={say('purposesHint')} />
        <Line {...props} name="connector" hint={say('connectorHint')} />
        <Lines {...props} name="tools" hint={say('toolsHint')} />
        <Rules {...props} name="arguments" hint={say('argumentsHint')} />
      </Group>
      <Group title={say('when')}>
        <Line {...props} name="timeOfDayStart" placeholder="22:00" />
        <Line {...props} name="timeOfDayEnd" placeholder="06:00" />
        <Line {...props} name="timeZone" placeholder="Europe/Berlin" hint={say('zoneHint')} />
        <Days {...props} name="daysOfWeek" />
        <Lines {...props} name="networks" hint={say('networksHint')} />
      </Group>
    </div>
  );
}

const Group = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <fieldset>
    <legend>{title}</legend>
    {children}
  </fieldset>
);

/** The faults of a field and of what is in it. */
const faultsOf = (faults: readonly Fault[], name: string) =>
  faults.filter(({ path }) => path === name || path.startsWith(`${name}.`)).map(({ text }) => text);

const shown = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

interface LineProps extends FieldProps {
  readonly isNumber?: true;
  readonly placeholder?: string;
  /** The id of a list of values that the browser offers. */
  readonly list?: string;
}

function Line({ draft, change, faults, name, hint, isNumber, placeholder, list }: LineProps) {
  const own = faultsOf(faults, name);
  const set = (typed: string) => {
    const isWhole = isNumber && typed.trim() !== '' && Number.isInteger(Number(typed));
    change(name, typed === '' ? undefined : isWhole ? Number(typed) : typed);
  };
  return (
    <TextField value={shown(draft[name])} onChange={set} isInvalid={own.length > 0} validationBehavior="aria">
      <Label>{say(name)}</Label>
      <Input
        spellCheck="false"
        autoComplete="off"
        {...(isNumber && { inputMode: 'numeric' })}
        {...(placeholder !== undefined && { placeholder })}
        {...(list !== undefined && { list })}
      />
      <Notes hint={hint} faults={own} />
    </TextField>
  );
}

const Notes = ({
  hint,
  faults,
}: {
  readonly hint: string | undefined;
  readonly faults: readonly string[];
}) => (
  <>
    {hint !== undefined && (
      <Text slot="description" className="aside">
        {hint}
      </Text>
    )}
    <FieldError className="fault">{faults.join(' ')}</FieldError>
  </>
);

/** A list, one item a line. Commas and spaces part items too. */
function Lines(props: FieldProps) {
  const value = props.draft[props.name];
  return (
    <TypedText
      {...props}
      held={Array.isArray(value) ? value.map(shown).join('\n') : shown(value)}
      read={(text) => {
        const list = text.split(/[\s,]+/).filter(Boolean);
        return { value: list.length > 0 ? list : undefined, held: list.join('\n') };
      }}
    />
  );
}

/** The rules of arguments, which are JSON. */
function Rules(props: FieldProps) {
  const value = props.draft[props.name];
  return (
    <TypedText
      {...props}
      held={typeof value === 'string' || value === undefined ? shown(value) : JSON.stringify(value, null, 2)}
      read={(text) => {
        if (text.trim() === '') return { value: undefined, held: '' };
        try {
          const parsed: unknown = JSON.parse(text);
          return { value: parsed, held: JSON.stringify(parsed, null, 2) };
        } catch {
          return { value: text, held: text }; // the check says that it is no object
        }
      }}
    />
  );
}

interface TypedTextProps extends FieldProps {
  /** The value of the draft as a text. */
  readonly held: string;
  /** @returns the value of a text, and what `held` is then */
  readonly read: (text: string) => { readonly value: unknown; readonly held: string };
}

/** Shows what is typed as it is typed, and what the draft holds when that changes elsewhere. */
function TypedText({ change, faults, name, hint, held, read }: TypedTextProps) {
  const [typed, type] = useState({ held, text: held });
  if (typed.held !== held) type({ held, text: held });
  const own = faultsOf(faults, name);
  const set = (text: string) => {
    const next = read(text);
    type({ held: next.held, text });
    change(name, next.value);
  };
  return (
    <TextField value={typed.text} onChange={set} isInvalid={own.length > 0} validationBehavior="aria">
      <Label>{say(name)}</Label>
      <TextArea rows={name === 'arguments' ? 4 : 2} spellCheck="false" autoComplete="off" />
      <Notes hint={hint} faults={own} />
    </TextField>
  );
}

interface ChoiceProps extends FieldProps {
  readonly choices: readonly string[];
}

function Choice({ draft, change, faults, name, choices }: ChoiceProps) {
  const value = shown(draft[name]);
  const own = faultsOf(faults, name);
  return (
    <div>
      <label>
        <span>{say(name)}</span>
        <select value={value} onChange={({ target }) => change(name, target.value)}>
          {!choices.includes(value) && <option value={value}>{value}</option>}
          {choices.map((each) => (
            <option key={each} value={each}>
              {sayEffect(each)}
            </option>
          ))}
        </select>
      </label>
      {own.length > 0 && <p className="fault">{own.join(' ')}</p>}
    </div>
  );
}

export function sayEffect(effect: string): string {
  switch (effect) {
    case 'deny':
    case 'require_approval':
    case 'allow':
      return say(effect);
    default:
      return effect;
  }
}

/** From Monday on. */
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

function Days({ draft, change, name }: FieldProps) {
  const held = draft[name];
  const chosen = Array.isArray(held) ? held : [];
  const toggle = (day: string, isOn: boolean) => {
    const next = DAYS.filter((each) => (each === day ? isOn : chosen.includes(each)));
    change(name, next.length > 0 ? next : undefined);
  };
  return (
    <fieldset className="days">
      <legend>{say(name)}</legend>
      {DAYS.map((day) => (
        <label key={day}>
          <input
            type="checkbox"
            checked={chosen.includes(day)}
            onChange={({ target }) => toggle(day, target.checked)}
          />
          {say(day)}
        </label>
      ))}
    </fieldset>
  );
}

/** The newest agents by name, which the browser offers in the field of the agent's id. */
function Agents() {
  const { data } = query.useQuery(
    'get',
    '/v1/agents',
    { params: { query: { limit: 500 } } },
    { staleTime: 60_000 },
  );
  return (
    <datalist id="policy-agents">
      {data?.agents.map(({ agentId, name }) => (
        <option key={agentId} value={agentId}>
          {name}
        </option>
      ))}
    </datalist>
  );
}
